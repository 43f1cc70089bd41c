// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Finding is a history that breaks an invariant.
type Finding struct {
	Config  *Config
	History []move
	Cause   error
}

// Error prints the configuration, the history, and the script of what the core
// was told.
func (f *Finding) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n%s", f.Cause, f.Config)
	for _, m := range f.History {
		fmt.Fprintf(&b, "  %s%s\n", m, f.subject(m))
	}
	fmt.Fprintf(&b, "\n%s", f.Script())
	return b.String()
}

// Unwrap is the violation.
func (f *Finding) Unwrap() error { return f.Cause }

func (f *Finding) subject(m move) string {
	if m.kind >= mReserve || int(m.who) >= len(f.Config.Ops) {
		return ""
	}
	op := &f.Config.Ops[m.who]
	return fmt.Sprintf(" (%s of s%d)", op.Name, op.Session)
}

// minimise leaves out every step without which the same invariant still breaks,
// two at a time where one alone does not do.
func (f *Finding) minimise() {
	for width := 1; width <= 3; {
		if f.shorten(width) {
			width = 1
			continue
		}
		width++
	}
}

func (f *Finding) shorten(width int) bool {
	shorter := false
	for i := 0; i+width <= len(f.History); {
		list := append(append([]move(nil), f.History[:i]...), f.History[i+width:]...)
		if _, v := follow(f.Config, list); v != nil && f.same(v) {
			f.History, f.Cause, shorter = list, v, true
			continue
		}
		i++
	}
	return shorter
}

func (f *Finding) same(v *Violation) bool {
	x, ok := f.Cause.(*Violation)
	return ok && x.Invariant == v.Invariant
}

// run is a history that is made anew, with what the core was told.
type run struct {
	core     *core
	at       uint32                // where it ends
	commands [][]admission.Command // of each move
}

// note writes down the commands of a step.
func (r *run) note(w *world, m move) {
	c, n := r.core.config, r.core.nodes[w.at]
	at := w.at
	if m.kind == mAppend {
		for _, x := range w.pending {
			if x.verb == noCommand {
				break
			}
			r.commands = append(r.commands, r.core.nodes[at].commands(c, x))
			e, err := r.core.step(at, x)
			if err != nil {
				return
			}
			at = e.to
		}
		return
	}
	if !c.Journal || !m.appended() {
		r.commands = append(r.commands, n.commands(c, w.command(c, n, m)))
	}
}
