// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"net/http"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

const (
	// pluginTimeout is for how long a provider goes on with a call, on a clock
	// that runs while the machine is suspended. It is well below the time-out that
	// the rules give, which is what the coordinator counts on.
	pluginTimeout = 8 * time.Minute
	maxTries      = 24
)

// plugin is the provider's process: it calls the cloud, and goes on trying when
// the cloud does not answer. It may outlive its wrapper.
type plugin struct {
	*process
	run   *run
	tasks []*task
}

// task is one call of the plugin.
type task struct {
	*call
	plugin   *plugin
	deadline time.Duration
	tries    int
	// doubtful: a request was sent of which it is not known whether it arrived.
	doubtful bool
	answered func(outcome)
	over     bool
}

func (p *plugin) take(k *call, answered func(outcome)) {
	t := &task{call: k, plugin: p, deadline: p.w.since() + pluginTimeout, answered: answered}
	p.tasks = append(p.tasks, t)
	p.do(t.look)
}

// die ends the process; the wrapper sees the connections end.
func (p *plugin) die() {
	p.kill()
	for _, t := range p.tasks {
		t.end(admission.Lost, false)
	}
}

func (t *task) end(result admission.Result, exists bool) {
	if t.over {
		return
	}
	t.over = true
	t.answered(outcome{result, exists})
}

// before is whether the object was there when the run looked.
func (t *task) before() bool { return t.action != admission.Create }

// look reads the object first: for the change token that a write needs, and to
// see what became of an earlier request.
func (t *task) look() {
	if t.plugin.w.since() > t.deadline || t.tries >= maxTries {
		t.giveUp()
		return
	}
	t.plugin.run.read(t.plugin.process, t.thing.path(), func(r arm.Resource, there bool) {
		here := there && (t.thing.typ != association || r.Properties.NetworkSecurityGroup != nil)
		switch {
		case there && !terminal(r) && t.doubtful:
			t.again() // at it
		case t.action == admission.Create && here && t.doubtful && t.thing.typ != association:
			t.made(r)
		case t.action == admission.Create && here && t.tries == 0:
			t.plugin.w.refusals["already exists"]++
			t.end(admission.Errored, true)
		case t.action == admission.Delete && !here:
			t.end(admission.Succeeded, false)
		case t.thing.typ == association && !there:
			t.end(admission.Errored, false)
		default:
			t.token(r, there)
		}
	})
}

// made is a create whose answer was lost, and whose object is there.
func (t *task) made(r arm.Resource) {
	if r.Properties.ProvisioningState == arm.Succeeded {
		t.end(admission.Succeeded, true)
		return
	}
	t.end(admission.Errored, true)
}

// token gets the change token of the document that the write is part of.
func (t *task) token(r arm.Resource, there bool) {
	switch t.thing.typ {
	case "network_security_rule":
		parent, _ := t.thing.id.Parent()
		t.plugin.run.read(t.plugin.process, parent.String(), func(r arm.Resource, _ bool) { t.send(r, r.Etag) })
	case "policy_document":
		t.send(r, r.Etag)
	default:
		t.send(r, "")
	}
}

// send sends the write.
func (t *task) send(current arm.Resource, etag string) {
	w := t.plugin.w
	if !t.plugin.run.alive && t.tries > 0 {
		w.count(LateRetry)
	}
	t.tries++
	c := simcloud.Call{
		Method: http.MethodPut, Path: t.thing.path(), Actor: t.plugin.run.space.name, IfMatch: etag,
		CorrelationID: string(t.tx), Session: string(t.plugin.run.session), RequestID: string(t.id),
	}
	if t.action == admission.Delete && t.thing.typ != association {
		c.Method = http.MethodDelete
	} else {
		c.Body = encode(t.content(current))
	}
	try, heard := t.tries, false
	w.write(t, c, func(a simcloud.Accepted, refusal *arm.Error) {
		t.plugin.do(func() {
			if heard || t.over || t.tries != try {
				return
			}
			heard = true
			t.heard(a, refusal)
		})
	})
	t.plugin.after(2*slowestLanding+time.Second, func() {
		if !heard && !t.over && t.tries == try {
			heard, t.doubtful = true, true
			t.look()
		}
	})
}

// content is what a write sends. An association is part of its subnet, and a
// write of the subnet keeps it.
func (t *task) content(current arm.Resource) arm.Resource {
	tag := string(t.tx)
	switch t.thing.typ {
	case association:
		r := arm.Resource{Properties: arm.Properties{AddressPrefix: current.Properties.AddressPrefix}}
		if t.action != admission.Delete {
			r.Properties.NetworkSecurityGroup = reference(t.thing.nsg)
		}
		return r
	case "subnet":
		r := t.thing.body(tag, "")
		r.Properties.NetworkSecurityGroup = current.Properties.NetworkSecurityGroup
		return r
	default:
		return t.thing.body(tag, t.want)
	}
}

// heard takes the answer of the cloud.
func (t *task) heard(a simcloud.Accepted, refusal *arm.Error) {
	switch {
	case refusal == nil && a.OperationID == "":
		t.end(admission.Succeeded, false)
	case refusal == nil:
		t.poll(a.OperationID)
	case refusal.HTTPStatus == http.StatusTooManyRequests:
		t.again()
	case refusal.HTTPStatus >= 500:
		t.doubtful = true
		t.again()
	case t.doubtful:
		t.again() // perhaps because of an earlier request
	default:
		t.plugin.w.refusals[string(refusal.Code)]++
		t.end(admission.Errored, t.before())
	}
}

func (t *task) again() {
	w := t.plugin.w
	if w.since() > t.deadline {
		t.giveUp()
		return
	}
	t.plugin.after(w.between(time.Second, 16*time.Second), t.look)
}

// giveUp ends a call of which nothing more will be sent.
func (t *task) giveUp() {
	if t.doubtful {
		t.end(admission.Lost, false)
		return
	}
	t.end(admission.Errored, t.before())
}

// poll asks how the accepted operation stands until it has ended.
func (t *task) poll(number string) {
	w, p := t.plugin.w, t.plugin
	if w.since() > t.deadline {
		t.end(admission.Lost, false)
		return
	}
	heard := false
	w.toCloud(p.machine, func() {
		status, refusal := w.cloud.Operation(number)
		w.toCloud(p.machine, func() {
			p.do(func() {
				if heard || t.over {
					return
				}
				heard = true
				t.polled(number, status, refusal)
			})
		})
	})
	p.after(2*slowestLanding+time.Second, func() {
		if !heard && !t.over {
			heard = true
			t.poll(number)
		}
	})
}

func (t *task) polled(number string, status arm.OperationStatus, refusal *arm.Error) {
	switch {
	case refusal != nil:
		t.end(admission.Lost, false)
	case status.Status == arm.OperationInProgress:
		t.plugin.after(t.plugin.w.between(300*time.Millisecond, 2*time.Second), func() { t.poll(number) })
	case status.Status == arm.OperationSucceeded:
		t.end(admission.Succeeded, t.action != admission.Delete)
	default:
		t.plugin.run.read(t.plugin.process, t.thing.path(), func(r arm.Resource, there bool) {
			if t.thing.typ == association {
				there = there && r.Properties.NetworkSecurityGroup != nil
			}
			t.end(admission.Errored, there)
		})
	}
}
