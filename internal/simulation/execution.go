// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import "time"

// advance sends what may be sent by now, and ends the run when nothing is left.
func (x *run) advance() {
	if x.closing {
		return
	}
	open := 0
	for again := true; again; {
		again, open = false, 0
		for _, c := range x.calls {
			if !c.begun && (x.lost || failedBefore(c)) {
				c.begun, c.ended, again = true, true, true
			}
			if !c.begun && ready(c) {
				c.begun = true
				x.apply(c)
			}
			if !c.ended {
				open++
			}
		}
	}
	if open == 0 {
		x.close()
	}
}

func ready(c *planned) bool {
	for _, a := range c.after {
		if !a.succeeded {
			return false
		}
	}
	return true
}

func failedBefore(c *planned) bool {
	for _, a := range c.after {
		if a.ended && !a.succeeded {
			return true
		}
	}
	return false
}

// close gives back what is held and ends the session.
func (x *run) close() {
	x.closing = true
	if x.lost {
		x.end("lost")
		return
	}
	last := func() {
		x.ask(closeSession(x.session), func(any, error) { x.end("closed") })
	}
	if x.reserve == "" {
		last()
		return
	}
	x.ask(withdraw(x.reserve, "done"), func(any, error) { last() })
}

// end ends both processes.
func (x *run) end(how string) {
	x.logf("ends: %s", how)
	x.w.ended[how]++
	x.kill()
	x.plugin.kill()
	x.space.next(x.w.between(time.Second, 30*time.Second))
}
