// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"errors"
	"sync"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// alone is that a run goes on without a coordinator.
type alone struct{ warn sync.Once }

// unreachable says whether an error means that no coordinator answers, as
// opposed to one that answers and refuses. The client has waited for it by
// then, as long as the lease and a little more.
func unreachable(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrLost)
}

// mayGoAlone says whether a call is sent although the coordinator cannot be
// asked.
func (g *Gatekeeper) mayGoAlone(m Mode, err error) bool {
	return unreachable(err) && (g.config.Offline || m.lenient())
}

// goAlone tells that a call is sent uncoordinated, loudly the first time.
func (g *Gatekeeper) goAlone(name string, err error) {
	if unreachable(err) {
		g.alone.warn.Do(func() {
			g.view.Problem(views.Problem{
				Warning: true, Summary: "The coordinator is lost: this run goes on UNCOORDINATED",
				Detail: "It could not be reached: " + err.Error() + ".\n\n" +
					"From now on nothing keeps other runs from changing the same objects at the same time, and they do not see what this one does. " +
					"Press Ctrl-C to stop the run. With -weaver-offline=deny the changes that were not sent yet would have been refused.",
			})
		})
	}
	g.notePassed(views.Passed{Address: name, Mode: views.Offline, Reason: err.Error()})
}

// notePassed shows and counts a change that goes on.
func (g *Gatekeeper) notePassed(p views.Passed) {
	g.ledger.passed(p)
	g.view.Passed(p)
}
