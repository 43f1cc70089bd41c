// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/statelock"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// askWithin bounds the questions about who has the lock.
const askWithin = 10 * time.Second

// explainLock says who has Terraform's own lock of the state, where that is why a
// step failed: what the CLI shows is, with some backends, the data of the one who
// asks. Where its words were not seen, such as on a terminal, the lock itself is
// looked at; it is wanted before any provider is configured.
func (r *run) explainLock(ctx context.Context, code int, s *step) {
	if code != ExitError || s.watched && !s.locked || !s.watched && (s.configured || !r.askable()) || r.ended() != nil {
		return
	}
	ctx, stop := r.app.interruptible(ctx)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	lock, err := statelock.Find(ctx, r.workdir, cmp.Or(r.flag("state-out"), r.opts.State), r.app.Env)
	switch {
	case err == nil:
		r.view.Problem(r.lockedBy(lock, r.colleagues(ctx)))
	case !s.locked:
		// It was something else, most likely.
	case errors.Is(err, statelock.ErrFree):
		r.view.Problem(views.Problem{
			Summary: "The state was not locked for this run",
			Detail: "Nobody has Terraform's own lock of the state by now: either somebody who did not line up for it has just given it up, or it could not be made. " +
				"The error above says which. Nothing was done. Run the command again; with -lock-timeout=5m the CLI waits for others by itself.",
		})
	default:
		r.view.Problem(views.Problem{
			Summary: "The state is locked by somebody else",
			Detail: sentence(err.Error()) + " The \"Lock Info\" above may be that of this run.\n\n" + colleaguesText(r.colleagues(ctx)) +
				"Nothing was done. " + waitRemedy,
		})
	}
}

const waitRemedy = "Run the command again when the lock is free, or let the CLI wait for it with -lock-timeout=5m."

// askable says whether the lock can be looked at where nothing says that it was
// the reason.
func (r *run) askable() bool { return r.workdir.Backend == "local" || r.workdir.Backend == "http" }

// lockedBy says who has the lock, since when, what for, and what to do.
func (r *run) lockedBy(lock statelock.Lock, colleagues []coordinator.SessionStatus) views.Problem {
	var b strings.Builder
	b.WriteString(cmp.Or(lock.Who, "Somebody") + " has Terraform's own lock of the state")
	if !lock.Created.IsZero() {
		if age := r.app.Now().Sub(lock.Created); age >= time.Second {
			fmt.Fprintf(&b, " for %s", age.Round(time.Second))
		}
	}
	var facts []string
	if what := strings.ToLower(strings.TrimPrefix(lock.Operation, "OperationType")); what != "" {
		facts = append(facts, what)
	}
	if lock.Version != "" {
		facts = append(facts, "version "+lock.Version)
	}
	if len(facts) > 0 {
		b.WriteString(" (" + strings.Join(facts, ", ") + ")")
	}
	b.WriteString(".")
	if lock.Info != "" {
		// Its own words, and no full stop behind a link.
		b.WriteString(" It says: \"" + lock.Info + "\"")
	}
	b.WriteString("\n\n" + colleaguesText(colleagues))
	b.WriteString("Nothing was done. " + waitRemedy)
	if lock.ID != "" {
		fmt.Fprintf(&b, " If you are sure that its process is dead: `%s force-unlock %s`.", r.binary.Product.Command(), lock.ID)
	}
	return views.Problem{Summary: "The state is locked by somebody else", Detail: b.String()}
}

// colleagues are the other sessions that work on the same state.
func (r *run) colleagues(ctx context.Context) (found []coordinator.SessionStatus) {
	status, err := r.client.Status(ctx)
	if err != nil {
		return nil
	}
	for _, x := range status.Sessions {
		if x.Origin == r.workdir.Origin && x.ID != admission.SessionID(r.session.ID()) {
			found = append(found, x)
		}
	}
	return found
}

// colleaguesText names those whose CLI may be the one that has the lock; it ends
// with an empty line.
func colleaguesText(colleagues []coordinator.SessionStatus) string {
	if len(colleagues) == 0 {
		return "It is none of the runs that line up for the state with tfweaver here.\n\n"
	}
	var names []string
	for _, x := range colleagues {
		text := cmp.Or(x.Actor, "somebody") + " (session " + string(x.ID)
		if len(x.Intents) > 0 {
			text += ", '" + x.Intents[0].Objective + "'"
		}
		for _, more := range []string{x.Phase, x.RunURL} {
			if more != "" {
				text += ", " + more
			}
		}
		names = append(names, text+")")
	}
	return "With tfweaver, at this moment: " + strings.Join(names, "; ") + ".\n\n"
}
