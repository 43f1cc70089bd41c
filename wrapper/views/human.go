// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Human shows events to people.
type Human struct {
	out   *Printer
	style Style
}

var _ View = (*Human)(nil)

// NewHuman returns a view that writes to out, usually standard error.
func NewHuman(out *Printer, style Style) *Human { return &Human{out: out, style: style} }

// Waiting prints the whole report the first time and a short line afterwards.
func (h *Human) Waiting(w Waiting) {
	if w.Waited == 0 {
		h.out.Print(h.style.paint(yellow, h.report(w.Report, !h.style.Automation)) + "\n")
		return
	}
	line := fmt.Sprintf("%s: Still waiting", w.Address)
	if who := Holders(w.Report); who != "" {
		line += " for " + who
	}
	if w.Report.Wait != nil && w.Report.Wait.Position > 0 {
		line += fmt.Sprintf(", place %d in the queue", w.Report.Wait.Position)
	}
	h.out.Print(h.style.paint(yellow, line+fmt.Sprintf("... [%s elapsed]", seconds(w.Waited))) + "\n")
}

// Admitted prints one line.
func (h *Human) Admitted(a Admitted) {
	h.out.Print(fmt.Sprintf("%s: Going on after %s of waiting\n", a.Address, seconds(a.Waited)))
}

// Refused prints nothing: Terraform shows the refusal as an error of the
// resource, and the summary repeats it.
func (h *Human) Refused(Refused) {}

// Forecast prints the changes that would wait or be refused, and in one line
// which changes the rules understand.
func (h *Human) Forecast(f Forecast) {
	var b strings.Builder
	if len(f.Reports) > 0 {
		b.WriteString(h.forecastBox(f))
	}
	if !f.Quiet() {
		b.WriteString(coverage(f) + "\n")
	}
	h.out.Print(b.String())
}

func (h *Human) forecastBox(f Forecast) string {
	var details []string
	refused := 0
	for _, r := range f.Reports {
		details = append(details, h.report(r, false))
		if r.Decision != conflict.Wait {
			refused++
		}
	}
	detail := strings.Join(details, "\n\n")
	if refused > 0 {
		summary := fmt.Sprintf("%s of the plan cannot be made", count(refused, "change"))
		return h.style.box(red, "Error", summary, detail+"\n\n"+remedy(f))
	}
	summary := fmt.Sprintf("%s of the plan would wait for other sessions", count(len(f.Reports), "change"))
	return h.style.box(yellow, "Note", summary, detail)
}

// remedy says what to do about a plan that cannot be made.
func remedy(f Forecast) string {
	text := "Nothing was sent to the cloud."
	for _, r := range f.Reports {
		if r.Decision == conflict.Replan {
			return text + " Run the command again, so that it plans on what is there now."
		}
	}
	return text + " Change the configuration, or agree with whoever is named above, and run the command again."
}

// report is the text form of a report. The hint to ask why is left out where
// nobody reads it, or where there is no transaction to ask about yet.
func (h *Human) report(r conflict.Report, hint bool) string {
	lines := strings.Split(strings.TrimRight(conflict.Text(r), "\n"), "\n")
	last := len(lines) - 1
	if !hint && last > 0 && strings.Contains(lines[last], "`tfweaver why") {
		lines = lines[:last]
	}
	return strings.Join(lines, "\n")
}

// Problem prints a box.
func (h *Human) Problem(p Problem) {
	if p.Warning {
		h.out.Print(h.style.box(yellow, "Warning", p.Summary, p.Detail))
		return
	}
	h.out.Print(h.style.box(red, "Error", p.Summary, p.Detail))
}

// Summary prints what happened, at most a few lines.
func (h *Human) Summary(s Summary) { h.out.Print(h.summary(s)) }

func (h *Human) summary(s Summary) string {
	var b strings.Builder
	for _, c := range s.Crashes {
		detail := "Where it was changing something, the outcome is not known."
		if c.Trace != "" {
			detail = c.Trace + "\n\n" + detail
		}
		b.WriteString(h.style.box(red, "Error", "The provider "+c.Provider+" crashed", detail))
	}
	var lines []string
	gaveUp := map[string]time.Duration{}
	for _, w := range s.Waited {
		if w.Refused && refusedAt(s.Refused, w.Address) {
			gaveUp[w.Address] = w.For
			continue
		}
		lines = append(lines, waitedLine(w))
	}
	for _, r := range s.Refused {
		lines = append(lines, refusedLine(r, gaveUp[r.Address]))
	}
	for _, u := range s.Uncertain {
		lines = append(lines, uncertainLine(u))
	}
	if len(lines) > 0 {
		b.WriteString("\nCoordination:\n  - " + strings.Join(lines, "\n  - ") + "\n")
	}
	if line := peersLine(s); line != "" && !s.Brief {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func waitedLine(w Waited) string {
	line := fmt.Sprintf("%s waited %s", w.Address, seconds(w.For))
	if w.Holder != "" {
		line += " for " + w.Holder
	}
	if w.Refused {
		line += " and gave up"
	}
	return line
}

func refusedAt(refusals []Refused, address string) bool {
	return slices.ContainsFunc(refusals, func(r Refused) bool { return r.Address == address })
}

func refusedLine(r Refused, waited time.Duration) string {
	line := r.Address + " was refused"
	if waited > 0 {
		line += " after waiting " + seconds(waited)
	}
	if r.Report == nil {
		return line + ": " + r.Reason
	}
	if who := Holders(*r.Report); who != "" {
		line += " because of " + who
	}
	return line + fmt.Sprintf(" (tfweaver why %s)", r.Report.ID)
}

// uncertainLine tells what keeps the locks, and the one thing that frees them.
func uncertainLine(u Uncertain) string {
	return fmt.Sprintf("%s may still be changing: its outcome is not known, and its locks stay.\n"+
		"    Look at it in the cloud, then `tfweaver resolve %s -reason TEXT -exists` (or -gone).", u.Address, u.Tx)
}

func peersLine(s Summary) string {
	where := "on " + s.Host
	if s.Embedded {
		where += " (this machine only)"
	}
	switch s.Peers {
	case 0:
		return "Coordinated " + where + "; no other session was open."
	default:
		return fmt.Sprintf("Coordinated with %s %s.", count(s.Peers, "other session"), where)
	}
}

func coverage(f Forecast) string {
	line := fmt.Sprintf("Rules cover %d of %s.", f.Covered, count(f.Changes, "change"))
	if len(f.Uncovered) > 0 {
		line += " Without a rule, and so coordinated by their own object or name only: " + strings.Join(f.Uncovered, ", ") + "."
	}
	if len(f.Unforeseen) > 0 {
		line += " " + unforeseen(f)
	}
	return line
}

// unforeseen says which changes will be judged only when they are made, and
// why the first of them.
func unforeseen(f Forecast) string {
	var addresses []string
	for _, u := range f.Unforeseen {
		addresses = append(addresses, u.Address)
	}
	return fmt.Sprintf("Cannot be foreseen, and will be judged when it is made: %s (%s).", strings.Join(addresses, ", "), f.Unforeseen[0].Reason)
}

// Holders names whom a report blames, each once.
func Holders(r conflict.Report) string {
	var names []string
	seen := map[string]bool{}
	for _, c := range r.Conflicts {
		if c.Holder == nil || seen[c.Holder.Session] || c.Holder.Session == r.Requester.Session {
			continue
		}
		seen[c.Holder.Session] = true
		names = append(names, holder(*c.Holder))
	}
	return strings.Join(names, " and ")
}

func holder(h conflict.Holder) string {
	if h.Redacted {
		return "another session"
	}
	name := printable(h.Actor)
	if name == "" {
		name = "session " + h.Session
	}
	if h.Objective != "" {
		name += fmt.Sprintf(" (%q)", h.Objective)
	}
	return name
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// seconds rounds as Terraform does in its progress lines.
func seconds(d time.Duration) string { return d.Round(time.Second).String() }
