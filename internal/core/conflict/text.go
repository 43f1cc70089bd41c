// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Width is the number of columns that a line of Text keeps to.
const Width = 100

// detail is how much a sentence tells beside who and what.
type detail int

const (
	full     detail = iota
	linkless        // without the address of the run
	terse           // without what others call their sessions, and long names cut
)

// Text is the report for people: who is in the way, what for, since when, the
// place in the queue, and what to type next; for a transaction that nothing is
// in the way of, how it stands. At most three lines of at most Width columns,
// without a newline at the end. The fullest version that fits is told: only
// where even the shortest one does not fit is a line cut at its end.
func Text(r Report) string {
	lines := fit(sentences(r), 2)
	if next := nextSteps(r); len(next) > 0 {
		lines = append(lines, fit(next, 1)...)
	}
	return strings.Join(lines, "\n")
}

func sentences(r Report) []string {
	c := foremost(r)
	switch {
	case r.Decision == "":
		return standing(r)
	case c == nil:
		return []string{subject(r) + verbs[r.Decision] + "." + past(r)}
	}
	if list := dependents(r); len(list) > 0 {
		return inUse(r, list)
	}
	return []string{sentence(r, c, full), sentence(r, c, linkless), sentence(r, c, terse)}
}

func subject(r Report) string {
	if r.Address == "" && r.Action == string(admission.Reserve) {
		return "The plan"
	}
	if r.Address == "" {
		return r.ID
	}
	return r.Address
}

func sentence(r Report, c *Conflict, d detail) string {
	text := subject(r) + verbs[r.Decision] + ": " + reason(r, *c, d) + "."
	if IsState(graph.NodeID(c.Resource.CloudID)) {
		text = stateSentence(r, c, d)
	}
	if r.Wait != nil {
		text += fmt.Sprintf(" Queue place %d.", r.Wait.Position)
	}
	if names := others(r, c); len(names) > 0 {
		text += fmt.Sprintf(" %d more in the way", len(names))
		if d != terse {
			text += ": " + strings.Join(distinct(names), ", ")
		}
		text += "."
	}
	return text + past(r)
}

// past says of a refusal that is looked up later how long ago it was.
func past(r Report) string {
	const recent = 10 // seconds
	if r.Decision == Wait || r.Age < recent {
		return ""
	}
	return " That was " + duration(r.Age) + " ago."
}

var verbs = map[Decision]string{Wait: " waits", Reject: " is refused", Replan: " needs a new plan"}

// foremost is the reason that the text tells: a foreign holder if there is one.
func foremost(r Report) *Conflict {
	var best *Conflict
	for i := range r.Conflicts {
		if c := &r.Conflicts[i]; best == nil || weight(r, c) > weight(r, best) {
			best = c
		}
	}
	return best
}

func weight(r Report, c *Conflict) int {
	switch {
	case ours(r, *c):
		return 0
	case c.Holder == nil:
		return 1
	case c.Holder.State == Waiting:
		return 2
	case c.Holder.State == Declared:
		return 3
	default:
		return 4
	}
}

// others are the actors of the transactions in the way beside the one that is
// told, one for each transaction.
func others(r Report, told *Conflict) []string {
	seen := map[string]bool{"": true}
	if told.Holder != nil {
		seen[told.Holder.Tx] = true
	}
	var names []string
	for _, c := range r.Conflicts {
		h := c.Holder
		if h == nil || seen[h.Tx] {
			continue
		}
		seen[h.Tx] = true
		if h.Session == r.Requester.Session {
			names = append(names, "this run")
		} else {
			names = append(names, actor(h))
		}
	}
	return names
}

func reason(r Report, c Conflict, d detail) string {
	switch {
	case c.Failed != "":
		return "without \"" + c.Failed + "\", which has failed, it is not sent"
	case c.Exceeded:
		c.Exceeded = false
		return "it needs more than was held for its plan, and " + reason(r, c, d)
	case c.Capacity != nil:
		return shortage(r, c, d)
	}
	what := name(c.Resource, d)
	if c.Fact != nil && !(c.Holder != nil && (c.Holder.State == Declared || c.Holder.Tx != "")) {
		if appeared(r, c) {
			return what + " exists already" + lastChange(r, c.Holder, d)
		}
		return guardReason(what, c, d) + lastChange(r, c.Holder, d)
	}
	h := c.Holder
	if h == nil {
		return what + " is in use"
	}
	if h.Session == r.Requester.Session {
		return fmt.Sprintf("this run's own %s comes first on %s", h.Address, what)
	}
	if within(c) {
		return clip(h.Address, 60) + " in " + what + " " + doing(c) + " " + who(h, d)
	}
	return what + " " + doing(c) + " " + who(h, d)
}

// within says whether the holder is not at the resource itself, but at something
// in it that it names.
func within(c Conflict) bool {
	intends := c.ModeHeld == "IX" || c.ModeHeld == "IS"
	return intends && c.Capacity == nil && c.Holder.Address != "" && !strings.Contains(c.Resource.CloudID, "/~")
}

// shortage is a count that is too small, in numbers, and who has reserved of it.
func shortage(r Report, c Conflict, d detail) string {
	x := c.Capacity
	what := name(c.Resource, d)
	if what != x.Bucket && !strings.HasSuffix(what, " "+x.Bucket) {
		what = strings.TrimSpace(what + " " + x.Bucket)
	}
	what += place(c.Resource, d)
	if x.Asked > x.Limit { // nobody else has to do with it
		return fmt.Sprintf("%d asked of %s, which can never fit: the limit is %d", x.Asked, what, x.Limit)
	}
	text := fmt.Sprintf("%d asked of %s, limit %d: %d used, %d reserved", x.Asked, what, x.Limit, x.Used, x.Reserved)
	if x.Doubt > 0 {
		text = fmt.Sprintf("%d asked of %s, limit %d: %d used, which may be with %d of the %d reserved",
			x.Asked, what, x.Limit, x.Used, x.Doubt, x.Reserved)
	}
	h := c.Holder
	switch {
	case h == nil:
		return text
	case h.Session == r.Requester.Session:
		return text + ", by this run"
	case h.State == Waiting:
		return text + ", and first comes " + who(h, d)
	case h.State == Ended && x.Theirs > 0:
		return fmt.Sprintf("%s; %d of the used by %s", text, x.Theirs, who(h, d))
	case x.Theirs > 0 && x.Theirs != x.Reserved:
		return fmt.Sprintf("%s, %d of them by %s", text, x.Theirs, who(h, d))
	default:
		return text + ", by " + who(h, d)
	}
}

// place is what the owner of a count is in, where its id says so: there is a quota
// of cores in each region.
func place(r Resource, d detail) string {
	parts := strings.Split(r.CloudID, "/")
	if n := len(parts); n > 5 {
		return " in " + segment(parts[n-3], d)
	}
	return ""
}

// doing is what the holder does to the resource, up to the name of the holder.
func doing(c Conflict) string {
	act := "changed"
	switch {
	case c.Fact != nil:
		act = "created"
	case within(c):
		act = participle(c.Holder.Action)
	case c.ModeHeld == "S" || c.ModeHeld == "IS":
		act = "read"
	case c.ModeHeld == "X" && !strings.Contains(c.Resource.CloudID, "/~"):
		// The whole object is taken: it is what the holder is about.
		act = participle(c.Holder.Action)
	}
	switch c.Holder.State {
	case Waiting:
		return "is to be " + act + " first by"
	case Admitted:
		return "is about to be " + act + " by"
	case Declared:
		return "has yet to be created by"
	case Uncertain:
		return "was being " + act + ", with an outcome nobody knows, by"
	default:
		return "is being " + act + " by"
	}
}

func participle(action string) string {
	switch action {
	case "create":
		return "created"
	case "delete":
		return "deleted"
	case "read":
		return "read"
	case "replace":
		return "replaced"
	default:
		return "changed"
	}
}

// appeared says whether what is to be created has come to be there since the plan
// was made.
func appeared(r Report, c Conflict) bool {
	return r.Action == string(admission.Create) && c.Fact != nil && strings.HasPrefix(c.Fact.What, "incarnation ")
}

func guardReason(what string, c Conflict, d detail) string {
	fact, node, _ := strings.Cut(c.Fact.What, " ")
	switch {
	case fact == "contains":
		return what + " contains " + segment(node, d) + " of another state"
	case c.Class == "dependency" && fact == "absent":
		return what + " is not there"
	case c.Class == "dependency":
		return what + " is still used by " + segment(node, d)
	case fact == "absent":
		return what + " was deleted since the plan was made"
	case fact == "incarnation":
		return what + " was replaced since the plan was made"
	default:
		return what + " has changed since the plan was made"
	}
}

// lastChange names whoever changed the thing last that the guard found.
func lastChange(r Report, h *Holder, d detail) string {
	switch {
	case h == nil:
		return ""
	case h.Session == r.Requester.Session:
		return ", last changed by this run"
	case h.Result == admission.HalfReplaced:
		return ", left half replaced by " + who(h, d)
	default:
		return ", last changed by " + who(h, d)
	}
}

// who names a party, its purpose, and for how long it has been at it.
func who(h *Holder, d detail) string {
	if h.Redacted {
		return "another session"
	}
	var parts []string
	if d != terse {
		parts = append(parts, "session "+clip(h.Session, 30))
	}
	if h.Objective != "" {
		parts = append(parts, "intent '"+clip(h.Objective, 40)+"'")
	}
	if h.HeldFor > 0 {
		parts = append(parts, duration(h.HeldFor))
	}
	if h.RunURL != "" && d == full && utf8.RuneCountInString(h.RunURL) <= 60 {
		parts = append(parts, h.RunURL)
	}
	if len(parts) == 0 {
		return actor(h)
	}
	return actor(h) + " (" + strings.Join(parts, ", ") + ")"
}

func actor(h *Holder) string {
	switch {
	case h.Redacted:
		return "another session"
	case h.Actor == "":
		return "somebody"
	default:
		return clip(h.Actor, 30)
	}
}

// name is what people call a resource: its kind and the last part of its id.
func name(r Resource, d detail) string {
	id := r.CloudID
	if i := strings.Index(id, "/~"); i > 0 {
		id = id[:i]
	}
	kind := r.Type
	if i := strings.LastIndex(kind, "/"); i >= 0 {
		kind = kind[i+1:]
	} else if _, rest, ok := strings.Cut(kind, "_"); ok {
		kind = rest
	}
	kind = strings.ReplaceAll(kind, "_", " ")
	if d == terse {
		kind = clip(kind, 30)
	}
	return strings.TrimSpace(kind + " " + segment(id, d))
}

func segment(id string, d detail) string {
	id = id[strings.LastIndex(id, "/")+1:]
	if d == terse {
		return clip(id, 40)
	}
	return id
}

func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
