// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Width is the number of columns that a line of Text keeps to.
const Width = 100

// Text is the report for people: who is in the way, what for, since when, the
// place in the queue, and what to type next. At most three lines of at most
// Width columns, without a newline at the end.
func Text(r Report) string {
	lines := wrap(sentence(r), 2)
	if next := nextStep(r); next != "" {
		lines = append(lines, clip(next, Width))
	}
	return strings.Join(lines, "\n")
}

func sentence(r Report) string {
	subject := clip(r.Address, 50)
	if subject == "" {
		subject = r.ID
	}
	c := foremost(r)
	switch {
	case r.Decision == "":
		return subject + " is not waiting."
	case c == nil:
		return subject + verbs[r.Decision] + "."
	}
	text := subject + verbs[r.Decision] + ": " + reason(r, *c) + "."
	if r.Wait != nil {
		text += fmt.Sprintf(" Queue place %d.", r.Wait.Position)
	}
	if n := others(r, c); n > 0 {
		text += fmt.Sprintf(" %d more in the way.", n)
	}
	return text
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
	case c.Holder == nil:
		return 1
	case c.Holder.Session == r.Requester.Session:
		return 0
	case c.Holder.State == Waiting:
		return 2
	case c.Holder.State == Declared:
		return 3
	default:
		return 4
	}
}

// others counts the transactions in the way beside the one that is told.
func others(r Report, told *Conflict) int {
	seen := map[string]bool{"": true}
	if told.Holder != nil {
		seen[told.Holder.Tx] = true
	}
	n := 0
	for _, c := range r.Conflicts {
		if c.Holder != nil && !seen[c.Holder.Tx] {
			seen[c.Holder.Tx] = true
			n++
		}
	}
	return n
}

func reason(r Report, c Conflict) string {
	what := name(c.Resource)
	if c.Fact != nil && !(c.Holder != nil && (c.Holder.State == Declared || c.Holder.Tx != "")) {
		return guardReason(what, c) + lastChange(r, c.Holder)
	}
	h := c.Holder
	if h == nil {
		return what + " is in use"
	}
	if h.Session == r.Requester.Session {
		return fmt.Sprintf("this run's own %s comes first on %s", h.Address, what)
	}
	return what + " " + doing(c) + " " + who(h)
}

// doing is what the holder does to the resource, up to the name of the holder.
func doing(c Conflict) string {
	act := "changed"
	switch {
	case c.Fact != nil:
		act = "created"
	case c.ModeHeld == "S" || c.ModeHeld == "IS":
		act = "read"
	case c.ModeHeld == "X" && !strings.Contains(c.Resource.CloudID, "/~"):
		// The whole object is taken: it is what the holder is about.
		act = whole(c.Holder.Action)
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

func whole(action string) string {
	switch action {
	case "create":
		return "created"
	case "delete":
		return "deleted"
	default:
		return "changed"
	}
}

func guardReason(what string, c Conflict) string {
	fact, node, _ := strings.Cut(c.Fact.What, " ")
	switch {
	case fact == "contains":
		return what + " contains " + segment(node) + " of another state"
	case c.Class == "dependency" && fact == "absent":
		return what + " is not there"
	case c.Class == "dependency":
		return what + " is still used by " + segment(node)
	case fact == "absent":
		return what + " was deleted since the plan was made"
	case fact == "incarnation":
		return what + " was replaced since the plan was made"
	default:
		return what + " has changed since the plan was made"
	}
}

// lastChange names whoever changed the thing last that the guard found.
func lastChange(r Report, h *Holder) string {
	switch {
	case h == nil:
		return ""
	case h.Session == r.Requester.Session:
		return ", last changed by this run"
	default:
		return ", last changed by " + who(h)
	}
}

// who names a party, its purpose, and for how long it has been at it.
func who(h *Holder) string {
	if h.Redacted {
		return "another session"
	}
	parts := []string{"session " + clip(h.Session, 30)}
	if h.Objective != "" {
		parts = append(parts, "intent '"+clip(h.Objective, 40)+"'")
	}
	if h.HeldFor > 0 {
		parts = append(parts, duration(h.HeldFor))
	}
	if h.RunURL != "" && utf8.RuneCountInString(h.RunURL) <= 60 {
		parts = append(parts, h.RunURL)
	}
	actor := clip(h.Actor, 30)
	if actor == "" {
		actor = "somebody"
	}
	return actor + " (" + strings.Join(parts, ", ") + ")"
}

func nextStep(r Report) string {
	for _, a := range r.Actions {
		if strings.HasPrefix(a.Command, "tfweaver resolve ") && r.Decision != "" {
			return "Look at the object in the cloud, then `" + a.Command + "`."
		}
	}
	why := "`tfweaver why " + r.ID + "`"
	switch r.Decision {
	case Wait:
		return "Ctrl-C to leave; " + why + " for more."
	case Reject:
		return "Nothing was sent for it; " + why + " for more."
	case Replan:
		return "Plan again with `tfweaver plan`; " + why + " for more."
	default:
		return ""
	}
}

// name is what people call a resource: its kind and the last part of its id.
func name(r Resource) string {
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
	return strings.TrimSpace(clip(kind, 30) + " " + segment(id))
}

func segment(id string) string {
	return clip(id[strings.LastIndex(id, "/")+1:], 40)
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

// clip cuts a text to n columns, and keeps control characters out of the
// terminal: names and purposes come from other people.
func clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// wrap breaks a text into at most n lines of at most Width columns.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= Width || len(lines) == n-1:
			line += " " + w
		default:
			lines = append(lines, line)
			line = w
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = clip(lines[i], Width)
	}
	return lines
}
