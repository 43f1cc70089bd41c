// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
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
	text := h.report(w.Report, !h.style.Automation, h.style.columns())
	if w.Waited > 0 {
		text = stillWaiting(w)
	}
	h.out.Print(h.style.paint(yellow, text) + "\n")
}

// stillWaiting is the line that is repeated. What will not end by itself says
// so each time.
func stillWaiting(w Waiting) string {
	line := fmt.Sprintf("%s: Still waiting", w.Address)
	if who := Holders(w.Report); who != "" {
		line += " for " + who
	}
	if w.Report.Wait != nil && w.Report.Wait.Position > 0 {
		line += fmt.Sprintf(", place %d in the queue", w.Report.Wait.Position)
	}
	line += fmt.Sprintf("... [%s elapsed]", seconds(w.Waited))
	if tx := uncertainHolder(w.Report); tx != "" {
		line += fmt.Sprintf(" The outcome of %s is unknown: look at the object in the cloud, then %s.", tx, resolveCommand(tx))
	}
	return line
}

// uncertainHolder is the first transaction in the way whose outcome nobody
// knows; empty when there is none.
func uncertainHolder(r conflict.Report) string {
	for _, c := range r.Conflicts {
		if c.Holder != nil && c.Holder.State == conflict.Uncertain {
			return c.Holder.Tx
		}
	}
	return ""
}

// resolveCommand is what to type about a transaction whose outcome is unknown,
// such that it can be copied.
func resolveCommand(tx string) string {
	return "`tfweaver resolve " + tx + " -reason TEXT -exists` (or -gone)"
}

// Admitted prints one line.
func (h *Human) Admitted(a Admitted) {
	h.out.Print(goingOn(a) + "\n")
}

func goingOn(a Admitted) string {
	return fmt.Sprintf("%s: Going on after %s of waiting", a.Address, span(a.Waited))
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
	if len(f.Passing) > 0 {
		b.WriteString(h.passingBox(f.Passing))
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
		detail := h.report(r, false, h.style.columns()-boxMargin)
		if f.NoWait {
			detail = ToWait(detail)
		}
		details = append(details, detail)
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

// passingBox tells of what a stricter mode would refuse.
func (h *Human) passingBox(reports []conflict.Report) string {
	var details []string
	for _, r := range reports {
		details = append(details, h.report(r, false, h.style.columns()-boxMargin))
	}
	summary := fmt.Sprintf("%s of the plan would be refused in the mode \"enforce\"", count(len(reports), "change"))
	return h.style.box(yellow, "Note", summary, strings.Join(details, "\n\n"))
}

// remedy says what to do about a plan that cannot be made, beside what the
// reports advise.
func remedy(f Forecast) string {
	text := "Nothing was sent to the cloud."
	for _, r := range f.Reports {
		if r.Decision == conflict.Replan {
			return text + " Run the command again, so that it plans on what is there now."
		}
	}
	for _, r := range f.Reports {
		if r.Decision == conflict.Reject && r.Address != "" {
			return text + " Whoever knows better lets a change go on with -weaver-override=" + quoted(r.Address) + " -weaver-reason=TEXT."
		}
	}
	return text
}

// quoted is an address as a shell takes it.
func quoted(address string) string {
	if !strings.ContainsAny(address, `["' `) {
		return printable(address)
	}
	return "'" + strings.ReplaceAll(printable(address), "'", `'\''`) + "'"
}

// ToWait names in an advice the option that keeps a run from waiting which was
// told not to wait at all; the text is made for those who chose the policy.
func ToWait(advice string) string {
	return strings.ReplaceAll(advice, "-weaver-policy=queue", "with a -weaver-wait that is not 0")
}

// report is the text form of a report. The hint to ask why is left out where
// nobody reads it, or where there is no transaction to ask about yet.
func (h *Human) report(r conflict.Report, hint bool, width int) string {
	sentence, next := Told(r)
	text := wrap(sentence, width)
	if next != "" && (hint || !strings.Contains(next, "`tfweaver why")) {
		text += "\n" + wrap(next, width)
	}
	return text
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
	for _, h := range Foreign(r) {
		names = append(names, h.Name)
	}
	return strings.Join(names, " and ")
}

// Party is a session that was in the way of this run.
type Party struct {
	Session string
	// Name is the actor and what for, as people are shown it.
	Name string
}

// Foreign lists the other sessions that a report blames, each once, in its
// order.
func Foreign(r conflict.Report) []Party {
	var parties []Party
	seen := map[string]bool{}
	for _, c := range r.Conflicts {
		if c.Holder == nil || seen[c.Holder.Session] || c.Holder.Session == r.Requester.Session {
			continue
		}
		seen[c.Holder.Session] = true
		parties = append(parties, Party{Session: c.Holder.Session, Name: holder(*c.Holder)})
	}
	return parties
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

// span is seconds, and says so where that would be none.
func span(d time.Duration) string {
	if d < time.Second {
		return "less than a second"
	}
	return seconds(d)
}
