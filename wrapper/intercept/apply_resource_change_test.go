// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		made := c.create(map[string]cty.Value{"name": cty.StringVal("a"), "secret": cty.StringVal("pw")})
		if !strings.Contains(string(made.private), "made") {
			t.Errorf("private data of the provider are lost: %q", made.private)
		}
		changed, _ := c.apply(c.plan(made, c.thing(map[string]cty.Value{"name": cty.StringVal("a"), "size": cty.NumberIntVal(7)})))
		gone, _ := c.apply(c.plan(changed, cty.NullVal(c.thingType())))
		if !gone.value.IsNull() {
			t.Errorf("deleted object is %#v", gone.value)
		}

		wantEvents(t, r.notes(), "configure east", "create a", "done a", "update a", "done a", "delete a", "done a")
		wantEvents(t, r.watcher.seen(), "configured east",
			"planned fixture_thing", "planned fixture_thing", "planned fixture_thing")
		checkLifecycleCalls(t, r.gate.seen())
		for i, want := range []cty.Value{made.value, changed.value, cty.NullVal(c.thingType())} {
			outcome := r.gate.ended()[i]
			if outcome.Result != Succeeded || outcome.Err != nil || !outcome.NewState.RawEquals(want) {
				t.Errorf("outcome %d is %+v", i, outcome)
			}
		}
		if strings.Contains(r.log.String(), "s3cr3t") {
			t.Errorf("the log tells the configuration:\n%s", r.log)
		}
	})
}

func checkLifecycleCalls(t *testing.T, calls []Call) {
	t.Helper()
	var actions []string
	for _, call := range calls {
		actions = append(actions, string(call.Action))
		if call.Provider != plugintest.Source || call.Type != "fixture_thing" || call.ProviderConfig.GetAttr("region").AsString() != "east" {
			t.Errorf("call is %+v", call)
		}
		if !call.Schema.IsSensitive(cty.GetAttrPath("secret")) || call.Schema.IsSensitive(cty.GetAttrPath("name")) || call.Schema.Version != 3 {
			t.Errorf("schema is %+v", call.Schema)
		}
	}
	wantEvents(t, actions, "create", "update", "delete")
	create, remove := calls[0], calls[2]
	if !create.Prior.IsNull() || create.Planned.GetAttr("id").IsKnown() || create.Config.GetAttr("secret").AsString() != "pw" {
		t.Errorf("create is %#v", create)
	}
	if !remove.Planned.IsNull() || !remove.Config.IsNull() || remove.Prior.GetAttr("size").AsBigFloat().String() != "7" {
		t.Errorf("delete is %#v", remove)
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		gate := &testGate{}
		r := newRig(t, protocol, gate, 0, nil)
		c := r.dial().configure("east")
		made := c.create(named("a"))
		gate.admit = func(context.Context, Call) error {
			return &Refusal{Summary: "Busy", Detail: "Somebody else is at it.", Attribute: "size"}
		}
		bigger := c.thing(map[string]cty.Value{"name": cty.StringVal("a"), "size": cty.NumberIntVal(9)})
		for name, ch := range map[string]change{
			"create": c.plan(c.nothing(), c.thing(named("b"))),
			"update": c.plan(made, bigger),
			"delete": c.plan(made, cty.NullVal(c.thingType())),
		} {
			after, response := c.apply(ch)
			if !after.value.RawEquals(ch.prior.value) || string(after.private) != string(ch.prior.private) {
				t.Errorf("%s: left %#v with private data %q, want %#v with %q",
					name, after.value, after.private, ch.prior.value, ch.prior.private)
			}
			checkDiagnostic(t, response)
		}
		if got := r.notes(); len(got) != 3 {
			t.Errorf("the provider did %q", got)
		}
		if n := len(gate.ended()); n != 1 {
			t.Errorf("%d outcomes were reported for refused changes", n-1)
		}
	})
}

func checkDiagnostic(t *testing.T, response message) {
	t.Helper()
	diags := response.list("diagnostics")
	if len(diags) != 1 || diags[0].enum("severity") != "ERROR" || diags[0].text("summary") != "Busy" || diags[0].text("detail") != "Somebody else is at it." {
		t.Fatalf("diagnostics are %v", response.diagnostics())
	}
	path, _ := diags[0].sub("attribute")
	if steps := path.list("steps"); len(steps) != 1 || steps[0].text("attribute_name") != "size" {
		t.Errorf("attribute path has steps %v", steps)
	}
}

// A saved plan is applied by a CLI run in which a delete is not planned again,
// and the delete half of a replacement carries the private data of another
// plan.
func TestRefusalKeepsPrivateWithoutMatchingPlan(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		gate := &testGate{}
		r := newRig(t, protocol, gate, 0, nil)
		c := r.dial().configure("east")
		made := c.create(named("a"))
		gate.admit = func(context.Context, Call) error { return &Refusal{Summary: "no"} }
		remove := change{prior: made, config: cty.NullVal(c.thingType()), planned: cty.NullVal(c.thingType()), plannedPrivate: []byte("planned")}
		if after, _ := c.apply(remove); string(after.private) != "planned" {
			t.Errorf("never planned: private data are %q", after.private)
		}
		c.plan(made, cty.NullVal(c.thingType()))
		if after, _ := c.apply(remove); string(after.private) != string(made.private) {
			t.Errorf("planned otherwise: private data are %q, want %q", after.private, made.private)
		}
	})
}

func TestGateError(t *testing.T) {
	t.Parallel()
	gate := &testGate{admit: func(context.Context, Call) error { return errors.New("coordinator is unreachable") }}
	r := newRig(t, 6, gate, 0, nil)
	c := r.dial().configure("east")
	_, response := c.apply(c.plan(c.nothing(), c.thing(named("a"))))
	if d := response.diagnostics(); len(d) != 1 || !d[0].Error || !strings.Contains(d[0].Detail, "coordinator is unreachable") {
		t.Errorf("diagnostics are %v", d)
	}
	wantEvents(t, r.notes(), "configure east")
}

func TestStartError(t *testing.T) {
	t.Parallel()
	gate := &testGate{start: func(context.Context, Call) error { return errors.New("lease is lost") }}
	r := newRig(t, 6, gate, 0, nil)
	c := r.dial().configure("east")
	after, response := c.apply(c.plan(c.nothing(), c.thing(named("a"))))
	if !after.value.IsNull() || !response.failed() {
		t.Errorf("left %#v, %v", after.value, response.diagnostics())
	}
	if got := gate.ended(); len(got) != 1 || got[0].Result != NotSent {
		t.Errorf("outcomes are %+v", got)
	}
	wantEvents(t, r.notes(), "configure east")
}

func TestUnknownResourceTypeIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial().configure("east")
	request := c.applyRequest(c.plan(c.nothing(), c.thing(named("a"))))
	request.setText("type_name", "fixture_other")
	response := c.mustCall("ApplyResourceChange", request)
	if !response.failed() || len(r.gate.seen()) != 0 {
		t.Errorf("diagnostics %v, calls %v", response.diagnostics(), r.gate.seen())
	}
	wantEvents(t, r.notes(), "configure east")
}

func TestProviderError(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, &testGate{}, 0, nil)
	c := r.dial().configure("east")
	_, response := c.apply(c.plan(c.nothing(), c.thing(map[string]cty.Value{
		"name": cty.StringVal("a"), "fault": cty.StringVal("error"),
	})))
	got := r.gate.ended()
	if !response.failed() || len(got) != 1 || got[0].Result != Failed || !got[0].NewState.IsNull() {
		t.Fatalf("outcomes are %+v", got)
	}
	if d := got[0].Diagnostics; len(d) != 1 || !d[0].Error || d[0].Summary != "Out of things" || d[0].Detail != "No a today." {
		t.Errorf("diagnostics are %+v", d)
	}
	if exists, known := got[0].Left(); exists || known {
		t.Errorf("an object is left: %v, known: %v; the answer does not tell", exists, known)
	}
}

// A create that fails with a state has made an object, which is tainted.
func TestCreateThatFailsHalfWay(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		made, response := c.apply(c.plan(c.nothing(), c.thing(map[string]cty.Value{
			"name": cty.StringVal("a"), "fault": cty.StringVal("half"),
		})))
		if !response.failed() || attr(made.value, "id") != "east/a" {
			t.Fatalf("the CLI got %#v and %v", made.value, response.diagnostics())
		}
		got := r.gate.ended()
		if len(got) != 1 || got[0].Result != Failed || !got[0].NewState.RawEquals(made.value) {
			t.Fatalf("outcomes are %+v", got)
		}
		if exists, known := got[0].Left(); !exists || !known {
			t.Errorf("an object is left: %v, known: %v", exists, known)
		}
	})
}

func TestWhatIsLeft(t *testing.T) {
	t.Parallel()
	there, gone := cty.EmptyObjectVal, cty.NullVal(cty.EmptyObject)
	for _, c := range []struct {
		outcome       Outcome
		exists, known bool
	}{
		{Outcome{Result: Succeeded, NewState: there}, true, true},
		{Outcome{Result: Succeeded, NewState: gone}, false, true},
		{Outcome{Result: Failed, NewState: there}, true, true},
		{Outcome{Result: Failed, NewState: gone}, false, false},
		{Outcome{Result: Unknown}, false, false},
		{Outcome{Result: NotSent}, false, false},
	} {
		if exists, known := c.outcome.Left(); exists != c.exists || known != c.known {
			t.Errorf("%+v: exists %v, known %v", c.outcome, exists, known)
		}
	}
}

func TestCrashIsUnknown(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		ch := c.plan(c.nothing(), c.thing(map[string]cty.Value{
			"name": cty.StringVal("a"), "fault": cty.StringVal("crash"),
		}))
		if err := <-c.applyLater(t.Context(), ch); status.Code(err) != codes.Unavailable {
			t.Errorf("the CLI got %v, want Unavailable", err)
		}
		got := r.gate.ended()
		if len(got) != 1 || got[0].Result != Unknown || !errors.Is(got[0].Err, plugins.ErrCrashed) || got[0].NewState != cty.NilVal || !got[0].SenderDead {
			t.Fatalf("outcomes are %+v", got)
		}
		crashes := r.host.Crashes()
		if len(crashes) != 1 || crashes[0].Provider != plugintest.Source || crashes[0].PID == 0 ||
			!strings.Contains(crashes[0].Trace, "panic: plugintest crash in create") || !strings.Contains(crashes[0].Trace, "goroutine ") {
			t.Errorf("crashes are %+v", crashes)
		}
		// As under the CLI alone, the connection is done for and another is not.
		if err := <-c.applyLater(t.Context(), change{prior: c.nothing(), config: ch.config, planned: ch.planned}); status.Code(err) != codes.Unavailable {
			t.Errorf("after the crash the CLI got %v", err)
		}
		r.dial().configure("east").create(named("b"))
	})
}

func TestForwardLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, func(o *Options) { o.ForwardLimit = 2 })
	c := r.dial().configure("east")
	file := filepath.Join(t.TempDir(), "go")
	var results []chan error
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		results = append(results, c.applyLater(t.Context(), c.plan(c.nothing(), c.held(name, file))))
	}
	creates := func() (n int) {
		for _, note := range r.notes() {
			if strings.HasPrefix(note, "create") {
				n++
			}
		}
		return n
	}
	eventually(t, "all are admitted and two are sent", func() bool { return len(r.gate.seen()) == 5 && creates() == 2 })
	time.Sleep(50 * time.Millisecond)
	if creates() != 2 || r.gate.starts() != 2 {
		t.Errorf("%d changes were sent and %d started, the limit is 2", creates(), r.gate.starts())
	}
	release(t, file)
	for _, result := range results {
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}

func TestWaitingAdmissionHoldsNoSlot(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	gate := &testGate{admit: func(ctx context.Context, call Call) error {
		if call.Config.GetAttr("name").AsString() == "key" {
			return nil
		}
		select {
		case <-free:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	r := newRig(t, 6, gate, 0, func(o *Options) { o.ForwardLimit = 1 })
	c := r.dial().configure("east")
	var results []chan error
	for _, name := range []string{"a", "b", "c"} {
		results = append(results, c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(named(name)))))
	}
	eventually(t, "all are waiting", func() bool { return len(gate.seen()) == 3 })
	c.create(named("key"))
	close(free)
	for _, result := range results {
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}
