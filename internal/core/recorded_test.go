// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package core_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

var (
	record = flag.Bool("record", false, "take the decisions of now for the right ones")
	tell   = flag.Int("tell", 0, "print this recorded story as it is decided now")
)

const (
	stories = 64  // how many are recorded
	steps   = 320 // of each
	page    = 10  // how many steps one recorded digest stands for
)

// TestRecordedStories: the same commands get the same decisions, reasons and
// reports as when these stories were recorded. That decisions are right is what
// the explorer, the scripts and the model say; that they stay as they are,
// through every rewrite of the machine, is said here. Along the way each story
// is replayed from its records and reread from a snapshot (I14).
//
// A change that is meant is recorded by: go test ./internal/core -record.
// What a story is about, before and after a change: -run Stories -tell N -v.
func TestRecordedStories(t *testing.T) {
	t.Parallel()
	for i := range stories {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "stories", fmt.Sprintf("%02d", i+1))
			want, err := os.ReadFile(file)
			if err != nil && !*record {
				t.Fatal(err)
			}
			c := &chronicle{t: t, story: newStory(uint64(i + 1)), replica: admission.New(), want: strings.Fields(string(want))}
			c.tell()
			if *record {
				if err := os.WriteFile(file, []byte(strings.Join(c.got, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// chronicle writes down what the machine does in a story.
type chronicle struct {
	t *testing.T
	*story
	replica   *admission.State
	page      bytes.Buffer
	want, got []string // digests of pages
}

func (c *chronicle) tell() {
	for i := range steps {
		c.step(i)
		if (i+1)%page > 0 {
			continue
		}
		if (i+1)%(2*page) == 0 {
			c.whole()
		}
		if (i+1)%(8*page) == 0 {
			c.equal()
		}
		sum := sha256.Sum256(c.page.Bytes())
		c.got = append(c.got, fmt.Sprintf("%x", sum[:6]))
		if n := len(c.got); !*record && (n > len(c.want) || c.want[n-1] != c.got[n-1]) {
			c.t.Fatalf("steps %d to %d are decided otherwise than recorded; now:\n%s", i+2-page, i+1, c.page.Bytes())
		}
		if c.t.Name() == fmt.Sprintf("TestRecordedStories/%d", *tell) {
			c.t.Logf("%s", c.page.Bytes())
		}
		c.page.Reset()
	}
}

func (c *chronicle) step(i int) {
	command := c.next()
	var copied *admission.State
	if i%16 == 0 {
		copied = c.s.Clone()
	}
	events, err := c.s.Apply(command)
	if copied != nil {
		c.twice(copied, command, events)
	}
	fmt.Fprintf(&c.page, "%d %s %s\n", i+1, strings.TrimPrefix(fmt.Sprintf("%T", command), "admission."), about(command))
	if err != nil {
		var unsettled *admission.UnsettledError
		fmt.Fprintf(&c.page, "  error: %v\n", err)
		if errors.As(err, &unsettled) {
			fmt.Fprintf(&c.page, "  earliest %d\n", unsettled.Earliest)
		}
	}
	for _, e := range events {
		fmt.Fprintf(&c.page, "  %s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", e), "admission."), c.json(e))
	}
	c.follow(command, events)
	if s, ok := command.(admission.Submit); ok {
		c.report(s.ID)
		if c.chance(3) {
			c.forecast()
		}
	}
	for _, id := range c.s.Waiting() {
		position, ahead := c.s.Place(id)
		fmt.Fprintf(&c.page, "  %s at %d behind %d: %s\n", id, position, ahead, c.json(c.s.Blockers(id)))
	}
	if !c.s.Settled() {
		c.t.Fatalf("step %d: a wake-up was lost (I13)", i+1)
	}
}

// twice decides once more, on a copy from before the command: the copy was not
// changed with the state, comes to the same, and the state not to more.
func (c *chronicle) twice(copied *admission.State, command admission.Command, events []admission.Event) {
	after := c.s.Hash()
	again, _ := copied.Apply(command)
	if !bytes.Equal(c.json(again), c.json(events)) || copied.Hash() != after || c.s.Hash() != after {
		c.t.Fatalf("a copy of the state decides otherwise about %T, or both are one", command)
	}
}

// about is the short of a command; submitted requests stand in its event.
func about(c admission.Command) string {
	switch c := c.(type) {
	case admission.Submit:
		return fmt.Sprintf("%s of %s: %s %s", c.ID, c.Request.Session, c.Request.Action, c.Request.Self)
	default:
		return fmt.Sprintf("%v", c)
	}
}

func (c *chronicle) json(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

// follow folds the record into the replica.
func (c *chronicle) follow(command admission.Command, events []admission.Event) {
	if len(events) == 0 {
		return
	}
	data, err := admission.EncodeRecord(admission.Record{Index: c.s.Index(), Now: c.s.Now(), Command: command, Events: events})
	var r admission.Record
	if err == nil {
		r, err = admission.DecodeRecord(data)
	}
	if err == nil {
		err = c.replica.Fold(r.Index, r.Now, r.Events)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// report is what a session, and somebody outside, is told of a transaction.
func (c *chronicle) report(id admission.TxID) {
	tx, _ := c.s.Tx(id)
	for _, viewer := range []admission.SessionID{tx.Session, ""} {
		r := conflict.BuildAt(c.s, id, viewer, c.s.Now()+3*second)
		fmt.Fprintf(&c.page, "  report %s\n%s", c.json(r), conflict.Text(r))
	}
}

func (c *chronicle) forecast() {
	var list []admission.Request
	for range 2 {
		list = append(list, pick(c.story, c.submit, c.call)().(admission.Submit).Request)
	}
	before := c.s.Hash()
	for i, p := range c.s.Forecast(list) {
		if p.Err != nil {
			fmt.Fprintf(&c.page, "  forecast error: %v\n", p.Err)
			continue
		}
		r := conflict.BuildProspect(c.s, list[i], p)
		fmt.Fprintf(&c.page, "  forecast %s\n%s", c.json(p), conflict.Text(r))
	}
	if c.s.Hash() != before {
		c.t.Fatal("a forecast changed the state")
	}
}

// whole writes down everything that can be asked of the state.
func (c *chronicle) whole() {
	w := func(name string, v any) { fmt.Fprintf(&c.page, "%s %s\n", name, c.json(v)) }
	at, ok := c.s.NextDeadline()
	w("deadline", []any{at, ok})
	for _, x := range c.s.Sessions() {
		first, _ := c.s.FirstIntent(x.ID)
		w("session", []any{x, c.s.Intents(x.ID), first.ID, c.s.Declares(x.ID)})
	}
	for _, tx := range c.s.Transactions() {
		claim, inside := c.s.ClaimOf(tx.ID)
		w("tx", []any{tx, claim.ID, inside, c.s.Readable(tx.ID), c.s.Blockers(tx.ID)})
		c.report(tx.ID)
	}
	w("claims", c.s.Claims())
	for n := range c.s.Graph().Nodes() {
		w("node", []any{n, c.s.Graph().Out(n.ID), c.s.Graph().In(n.ID), c.s.Graph().Children(n.ID), n.Lifecycle.Live()})
	}
	for _, id := range c.s.Locks().Nodes() {
		w("held", []any{id, c.s.Locks().Holders(id), c.s.Locks().Strongest(id)})
	}
	c.capacity(w)
}

func (c *chronicle) capacity(w func(string, any)) {
	table := c.s.Capacity()
	for _, k := range table.Buckets() {
		w("bucket", []any{k, table.Level(k), table.Shares(k), c.s.BucketRead(k)})
	}
	for _, o := range table.Owners() {
		w("hold", []any{o, table.Calls(o)})
	}
	w("one more", c.oneMore())
}

// oneMore is what the table says of a demand of one more of everything.
func (c *chronicle) oneMore() []any {
	var d escrow.Demand
	for _, k := range c.s.Capacity().Buckets() {
		d = append(d, escrow.Amount{Bucket: k, Plus: 1})
	}
	t := c.s.Capacity()
	return []any{t.Admits(d), t.Hopeless(d), t.Stuck(d), t.Shortfalls(d)}
}

// equal holds the state to its journal and to its snapshot (I14).
func (c *chronicle) equal() {
	data, err := json.Marshal(c.s)
	back := admission.New()
	if err == nil {
		err = json.Unmarshal(data, back)
	}
	switch {
	case err != nil:
		c.t.Fatal(err)
	case back.Hash() != c.s.Hash():
		c.t.Fatal("the snapshot differs")
	case c.replica.Hash() != c.s.Hash():
		c.t.Fatal("the replica differs")
	case back.Fingerprint() != c.s.Fingerprint():
		c.t.Fatal("the fingerprint of the snapshot differs")
	}
	if c.chance(2) {
		c.replica = back // goes on from the snapshot
	}
}
