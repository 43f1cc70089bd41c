// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Fault is trouble that some writes meet. Which ones depends on nothing but the
// order of the writes of each object and Config.Seed.
//
// A write that meets a fault may be refused all the same; then the fault is there
// for the next one, unless it has kept the call waiting.
type Fault struct {
	// ObjectID, Kind, Verb and Actor say which writes meet the fault; what is empty
	// matches all. The verb is the one the write has when it arrives.
	ObjectID string
	Kind     arm.Kind
	Verb     Verb
	Actor    string
	// Skip is how many matching writes go by before the first that meets it.
	Skip int
	// Count is how many writes meet it; 0 means one, negative means all.
	Count int
	// Probability is that of a matching write to meet it; 0 means 1. It is drawn
	// for the n-th matching write of an object from Config.Seed.
	Probability float64

	// DropRequest closes the connection before the cloud looks at the call: nothing
	// is done.
	DropRequest bool
	// AcceptDelay keeps the call waiting before the cloud looks at it. It goes on
	// when the caller is gone: what was sent may still be accepted.
	AcceptDelay time.Duration
	// AnswerDelay keeps the answer to an accepted call back, while its operation
	// goes on.
	AnswerDelay time.Duration
	// DropAnswer closes the connection instead of answering an accepted call.
	DropAnswer bool
	// Latency is how long the operation takes, unscaled; 0 leaves it as it is.
	Latency time.Duration
	// FailAfter ends the operation Failed so long after acceptance, with Code and
	// Message; 0 lets it end as it does.
	FailAfter time.Duration
	Code      arm.Code
	Message   string
}

// defaultFaultCode is the code of an operation that a fault without one fails.
const defaultFaultCode arm.Code = "InternalExecutionError"

// fault is an armed Fault.
type fault struct {
	Fault
	key  string         // of ObjectID, empty for any
	left int            // writes that will meet it yet, negative for all
	seen map[string]int // matching writes so far, by arm.ID.Key
	skip int
}

// armed checks a fault and makes it ready.
func (f Fault) armed() (*fault, error) {
	a := &fault{Fault: f, left: f.Count, skip: f.Skip, seen: make(map[string]int)}
	if f.ObjectID != "" {
		id, err := arm.ParseID(f.ObjectID)
		if err != nil {
			return nil, fmt.Errorf("fault: %w", err)
		}
		a.key = id.Key()
	}
	if f.Verb != "" && f.Verb != Create && f.Verb != Update && f.Verb != Delete {
		return nil, fmt.Errorf("fault: unknown verb %q", f.Verb)
	}
	if f.Probability < 0 || f.Probability > 1 || f.Skip < 0 || min(f.AcceptDelay, f.AnswerDelay, f.Latency, f.FailAfter) < 0 {
		return nil, fmt.Errorf("fault: a probability outside 0..1, or a negative duration or number to skip")
	}
	if f.effects() == "" {
		return nil, fmt.Errorf("fault: nothing would happen")
	}
	if a.left == 0 {
		a.left = 1
	}
	if a.Code == "" {
		a.Code, a.Message = defaultFaultCode, "the operation was made to fail"
	}
	return a, nil
}

// effects names what happens, in a fixed order, for the activity log.
func (f Fault) effects() string {
	var names []string
	for _, e := range []struct {
		name string
		on   bool
	}{
		{"drop_request", f.DropRequest},
		{"accept_delay", f.AcceptDelay > 0},
		{"answer_delay", f.AnswerDelay > 0},
		{"drop_answer", f.DropAnswer},
		{"latency", f.Latency > 0},
		{"fail_after", f.FailAfter > 0},
	} {
		if e.on {
			names = append(names, e.name)
		}
	}
	return strings.Join(names, ",")
}

// Inject arms a fault. The first armed one that a write matches is the one it
// meets.
func (c *Cloud) Inject(f Fault) error {
	a, err := f.armed()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, a)
	return nil
}

// ClearFaults disarms all faults. Writes that have met one go on with it.
func (c *Cloud) ClearFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = nil
}

// meet is the fault that a call meets, nil for none.
func (c *Cloud) meet(call Call) *fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := arm.ParseID(call.Path)
	if err != nil {
		return nil
	}
	verb := verbOf(call.Method, c.objects[id.Key()])
	for _, f := range c.faults {
		if f.matches(id, verb, call.Actor) && f.strikes(c.cfg.Seed, id, verb) {
			f.take(-1)
			return f
		}
	}
	return nil
}

func (f *fault) matches(id arm.ID, verb Verb, actor string) bool {
	return f.left != 0 &&
		(f.key == "" || f.key == id.Key()) &&
		(f.Kind == 0 || f.Kind == id.Kind) &&
		(f.Verb == "" || f.Verb == verb) &&
		(f.Actor == "" || f.Actor == actor)
}

// strikes counts a matching write and says whether it meets the fault.
func (f *fault) strikes(seed uint64, id arm.ID, verb Verb) bool {
	if f.skip > 0 {
		f.skip--
		return false
	}
	f.seen[id.Key()]++
	return f.Probability == 0 || unit(seed, "fault", string(verb), id.Key(), fmt.Sprint(f.seen[id.Key()])) < f.Probability
}

// take changes the number of writes left, if there is a limit to it.
func (f *fault) take(by int) {
	if f.left >= 0 {
		f.left += by
	}
}

// giveBack arms a fault again for a write that met it and was refused. A call
// that was kept waiting has had its trouble already.
func (c *Cloud) giveBack(f *fault) {
	if f != nil && f.AcceptDelay == 0 {
		f.take(1)
	}
}

// pause waits for d on the clock of the cloud, whether or not a caller still
// listens. It reports false when the cloud ends its delays first.
func (c *Cloud) pause(d time.Duration) bool {
	if d == 0 {
		return true
	}
	over := make(chan struct{})
	stop := c.clock.AfterFunc(d, func() { close(over) })
	c.delayed.Add(1)
	defer c.delayed.Add(-1)
	select {
	case <-over:
		return true
	case <-c.ending:
		stop()
		return false
	}
}

// Delayed is the number of calls and answers that faults keep waiting.
func (c *Cloud) Delayed() int { return int(c.delayed.Load()) }

// EndDelays drops the connections of all calls and answers that faults keep
// waiting, now and from now on, so that a server can end. Close does so too.
func (c *Cloud) EndDelays() { c.endOnce.Do(func() { close(c.ending) }) }
