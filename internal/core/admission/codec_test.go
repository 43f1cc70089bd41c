// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// fill sets every field that v has to something that is not its zero value.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text%d", *n))
	case reflect.Int64, reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n%5 + 1))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.SetMapIndex(key, value)
	default:
		panic("no filling for " + v.Kind().String())
	}
}

func filled[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

// TestRecordRoundTrip: every field of every command and event survives the
// journal.
func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	commands := []Command{
		filled[OpenSession](), filled[Renew](), filled[CloseSession](), filled[AddIntent](), filled[Declare](),
		filled[Submit](), filled[Start](), filled[Complete](), filled[Withdraw](), filled[Observe](), filled[Expire](),
		filled[Resolve](), filled[Deceased](), filled[Settle](), filled[Pass](), filled[Measure](),
	}
	events := []Event{
		filled[SessionOpened](), filled[LeaseRenewed](), filled[SessionEnded](), filled[IntentAdded](),
		filled[NodesPlaced](), filled[Declared](), filled[TxSubmitted](), filled[TxQueued](), filled[TxAdmitted](),
		filled[TxRejected](), filled[TxStaled](), filled[TxStarted](), filled[TxEnded](), filled[TxUncertain](),
		filled[Observed](), filled[SenderDied](), filled[TxPassed](), filled[ClaimAdmitted](), filled[ClaimEnded](),
		filled[Measured](),
	}
	for i, c := range commands {
		want := Record{Index: uint64(i + 1), Now: 99, Command: c, Events: events}
		data, err := EncodeRecord(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRecord(data)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%T came back different:\n%s", c, d)
		}
		if strings.ContainsRune(string(data), '\n') {
			t.Errorf("%T takes more than one line", c)
		}
	}
}

// TestNewerIsRefused: an old program does not go on with what it does not
// understand, whatever part of it that is.
func TestNewerIsRefused(t *testing.T) {
	t.Parallel()
	record, err := EncodeRecord(Record{Index: 1, Command: Expire{}, Events: []Event{TxStarted{Tx: "t"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"format":        {`"format":1`, `"format":2`},
		"no format":     {`"format":1`, `"format":0`},
		"command":       {`"type":"expire"`, `"type":"conspire"`},
		"event":         {`"type":"tx_started"`, `"type":"tx_paused"`},
		"command field": {`"data":{"now":0}`, `"data":{"now":0,"zone":1}`},
		"event field":   {`"tx":"t"`, `"tx":"t","why":"x"`},
	} {
		changed := strings.Replace(string(record), change[0], change[1], 1)
		if changed == string(record) {
			t.Fatalf("%s: %q not found in %s", name, change[0], record)
		}
		if _, err := DecodeRecord([]byte(changed)); !errors.Is(err, ErrNewer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DecodeRecord([]byte("{")); err == nil || errors.Is(err, ErrNewer) {
		t.Errorf("damage is not a newer version: %v", err)
	}
	m := newMachine(t, "a")
	m.submit("t", write("a", Update, "r/g/v"))
	saved, err := json.Marshal(m.State)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"format": {`"format":1`, `"format":2`},
		"field":  {`"ticket":1`, `"ticket":1,"weather":[]`},
		"node":   {`"kind":"realm"`, `"kind":"realm","colour":"red"`},
	} {
		changed := strings.Replace(string(saved), change[0], change[1], 1)
		if changed == string(saved) {
			t.Fatalf("%s: %q not found", name, change[0])
		}
		before := m.Hash()
		if err := json.Unmarshal([]byte(changed), m.State); !errors.Is(err, ErrNewer) {
			t.Errorf("snapshot, %s: %v", name, err)
		}
		if m.Hash() != before {
			t.Errorf("snapshot, %s: the state changed", name)
		}
	}
}

// TestEncodeRefusesForeignTypes: nothing reaches the journal that cannot be
// read back.
func TestEncodeRefusesForeignTypes(t *testing.T) {
	t.Parallel()
	for _, r := range []Record{
		{Command: nil},
		{Command: &Expire{}},
		{Command: Expire{}, Events: []Event{&TxStarted{}}},
	} {
		if _, err := EncodeRecord(r); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	m := newMachine(t, "a")
	if _, err := m.Apply(&Expire{Stamp: m.tick()}); !errors.Is(err, ErrMalformed) {
		t.Errorf("a pointer is no command: %v", err)
	}
	if _, err := m.Apply(nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("nil is no command: %v", err)
	}
}

// TestFoldRefusesWhatDoesNotFollow: records in the wrong order, or about things
// that are not there, are damage.
func TestFoldRefusesWhatDoesNotFollow(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("held", write("a", Update, "r/g/v"))
	m.submit("waits", write("a", Update, "r/g/v"))
	for name, e := range map[string]Event{
		"open twice":       SessionOpened{Session: Session{ID: "a"}},
		"renew nobody":     LeaseRenewed{Session: "x"},
		"end nobody":       SessionEnded{Session: "x"},
		"declare nobody":   Declared{Session: "x"},
		"submit nobody":    TxSubmitted{Tx: Tx{ID: "t", Request: Request{Session: "x"}}},
		"submit twice":     TxSubmitted{Tx: Tx{ID: "held", Request: Request{Session: "a"}}},
		"admit nothing":    TxAdmitted{Tx: "x", Token: 9},
		"admit twice":      TxAdmitted{Tx: "held", Token: 9},
		"admit over locks": TxAdmitted{Tx: "waits", Token: 9},
		"start a waiter":   TxStarted{Tx: "waits"},
		"lose a waiter":    TxUncertain{Tx: "waits"},
		"stale holder":     TxStaled{Tx: "held"},
		"reject holder":    TxRejected{Tx: "held"},
		"observe nobody":   Observed{Session: "x"},
		"claim nothing":    ClaimAdmitted{Claim: Claim{ID: "held", Plan: "x"}},
		"end no claim":     ClaimEnded{Claim: "held"},
		"pass a holder":    TxPassed{Tx: "held", Token: 9},
		"bury nobody":      SenderDied{Session: "x"},
		"measure nonsense": Measured{Session: "a", Readings: []Reading{{Limit: escrow.At(1)}}},
	} {
		s := m.Clone()
		if err := s.Fold(s.Index()+1, s.Now(), []Event{e}); !errors.Is(err, ErrReplay) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, index := range []uint64{m.Index(), m.Index() + 2} {
		if err := m.Clone().Fold(index, m.Now(), nil); !errors.Is(err, ErrReplay) {
			t.Errorf("index %d after %d: %v", index, m.Index(), err)
		}
	}
	s := m.Clone()
	m.must(Withdraw{Stamp: m.tick(), Tx: "held"})
	if err := s.Fold(s.Index()+1, s.Now(), []Event{TxEnded{Tx: "held", Status: Withdrawn}, TxAdmitted{Tx: "waits", Token: 1}}); !errors.Is(err, ErrReplay) {
		t.Errorf("a token that does not grow: %v", err)
	}
}

// TestHashSeesEveryField: a difference in any field of anything that the state
// holds is a difference of the hash.
func TestHashSeesEveryField(t *testing.T) {
	t.Parallel()
	for name, probe := range map[string]struct {
		value any
		write func(*canonical, any)
	}{
		"tx":      {filled[Tx](), func(c *canonical, v any) { c.tx(&entry{Tx: v.(Tx)}) }},
		"session": {filled[Session](), func(c *canonical, v any) { c.seat(&seat{Session: v.(Session)}) }},
		"intent":  {filled[Intent](), func(c *canonical, v any) { c.intent(v.(Intent)) }},
		"node":    {filled[graph.Node](), func(c *canonical, v any) { n := v.(graph.Node); c.node(&n) }},
		"plan":    {filled[lock.Plan](), func(c *canonical, v any) { c.plan(v.(lock.Plan)) }},
	} {
		base := reflect.New(reflect.TypeOf(probe.value)).Elem()
		base.Set(reflect.ValueOf(probe.value))
		hash := func() string {
			var c canonical
			probe.write(&c, base.Interface())
			return string(c.bytes())
		}
		before := hash()
		leaves := 0
		eachLeaf(base, name, func(path string, leaf reflect.Value) {
			leaves++
			old := reflect.ValueOf(leaf.Interface())
			leaf.SetZero()
			if hash() == before && path != "tx.Passed.Stamp.Now" { // that is when it was admitted
				t.Errorf("%s makes no difference", path)
			}
			leaf.Set(old)
		})
		if leaves < 4 || hash() != before {
			t.Errorf("%s: %d leaves", name, leaves)
		}
	}
}

func eachLeaf(v reflect.Value, path string, f func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachLeaf(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		f(path, v)
		for i := range v.Len() {
			eachLeaf(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	case reflect.Pointer:
		f(path, v)
		if !v.IsNil() {
			// Who is asked for the whole copies the pointer, not what it leads to.
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			v.Set(fresh)
			eachLeaf(v.Elem(), path, f)
		}
	default:
		f(path, v)
	}
}

// TestStateIsAllOfIt: the parts of the state that the hash and the snapshot
// leave out follow from the others. Who adds a field has to decide.
func TestStateIsAllOfIt(t *testing.T) {
	t.Parallel()
	stored := []string{"index", "now", "ticket", "token", "graph", "sessions", "intents", "txs", "escrow", "read", "plans", "claims", "retired"}
	derived := []string{"owner", "locks", "claimed", "queue", "keys", "ongoing", "within", "declared", "refs", "ahead", "width", "drawn", "epoch"}
	var got []string
	for i := range reflect.TypeFor[State]().NumField() {
		got = append(got, reflect.TypeFor[State]().Field(i).Name)
	}
	if d := cmp.Diff(append(stored, derived...), got); d != "" {
		t.Error(d)
	}
	// What is derived comes out the same from a snapshot.
	m := newMachine(t, "a", "b")
	m.must(declareOf(m.tick(), "a", []string{"r/g/v"}))
	m.submit("t1", write("a", Create, "r/g/v"))
	m.finish("t1", Succeeded, true)
	q := write("b", Update, "r/g/v")
	q.Key = 3
	m.submit("t2", q)
	m.submit("t3", write("a", Update, "r/g/v"))
	m.must(Measure{Stamp: m.tick(), Session: "a", Readings: []Reading{{Bucket: "q", Limit: escrow.At(9), Use: escrow.At(1)}}})
	m.submit("p", replaceOf("b", "r/g/w", escrow.Collect(escrow.Effect{Bucket: "q", Amount: 2})))
	m.submit("d", planned(write("b", Delete, "r/g/w"), "p", "delete r/g/w"))
	m.want("d", Admitted)
	back, err := reread(m.State)
	if err != nil {
		t.Fatal(err)
	}
	opts := cmp.Exporter(func(reflect.Type) bool { return true })
	capacity := cmp.Comparer(func(a, b *escrow.Table) bool {
		return string(a.AppendCanonical(nil, nil)) == string(b.AppendCanonical(nil, nil))
	})
	equal := cmp.Comparer(func(a, b *lock.Table) bool { return printTable(a) == printTable(b) })
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{".owner", ".ahead", ".width", ".drawn", ".epoch"}, p.Last().String())
	}, cmp.Ignore())
	if d := cmp.Diff(m.State, back, opts, equal, capacity, ignore, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("restored state differs:\n%s", d)
	}
}

func printTable(t *lock.Table) string {
	var b strings.Builder
	for _, n := range t.Nodes() {
		fmt.Fprintln(&b, n, t.Holders(n), t.Owners())
	}
	return b.String()
}
