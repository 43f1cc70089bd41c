// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import "fmt"

// kind of a step of a world.
type kind uint8

const (
	mPlan     kind = iota // a client makes the lock plan of an operation
	mAsk                  // and sends the request
	mSubmit               // which the coordinator gets
	mSpread               // a request that was resent arrives late: the old plan, when there is a new one
	mGo                   // a client hears that it is admitted, and sends Start
	mHear                 // a client hears that it is not
	mStart                // the coordinator gets Start
	mSend                 // the acknowledgement arrives, and the call is sent
	mLand                 // the call takes effect
	mHalf                 // the call leaves an object and fails
	mRefuse               // the cloud refuses the call, or it gets lost on the way
	mAnswer               // the client gets the answer, and reports it
	mReport               // the coordinator gets the report
	mLose                 // the client waits no longer for the answer
	mNotSent              // the client does not send what it may
	mWithdraw             // the client gives up
	mResolve              // a person tells how an uncertain call ended
	mSettle               // somebody reads the object of an uncertain call
	mPass                 // a person overrides a decision
	mReserve              // a run submits its plan
	mGiveUp               // and takes it back
	mDeclare              // a run says what it will make
	mClose                // a run ends in order
	mKill                 // its process dies
	mExpire               // its lease ends
	mDead                 // its process is found to be dead
	mPause                // time passes
	mLook                 // a read of an object begins
	mSee                  // and ends
	mMeter                // a read of the buckets begins
	mEarly                // and ends, having seen them as they were when it began
	mLate                 // or as they are
	mLimit                // a limit changes; who is 0 for down and 1 for up
	mAppend               // the leader has appended what it decided
	mCrash                // the leader dies, and another one takes over
	mDepose               // another one takes over, and the leader does not know
	mFenced               // the append of the deposed leader is refused
)

var kindNames = [...]string{
	"plan", "ask", "submit", "submit-again", "go", "hear", "start", "send", "land", "half", "refuse", "answer", "report", "lose",
	"not-sent", "withdraw", "resolve", "settle", "pass", "reserve", "give-up", "declare", "close", "kill", "expire", "dead",
	"pause", "look", "see", "meter", "early", "late", "limit", "append", "crash", "depose", "fenced",
}

// move is one step; who is an operation or a session.
type move struct {
	kind kind
	who  uint8
}

// String names the step and its subject.
func (m move) String() string { return fmt.Sprintf("%s %d", kindNames[m.kind], m.who) }

// productive says whether somebody may count on the step: it is sure to happen
// if nothing else does. Such steps bring their subject further and are never
// undone, so that there is no endless history of them alone; who waits where
// none of them is left waits for ever (I12).
func (m move) productive() bool {
	switch m.kind {
	case mSpread, mHalf, mLose, mNotSent, mWithdraw, mSettle, mPass, mGiveUp, mKill, mPause, mLimit, mCrash, mDepose:
		return false
	default:
		return true
	}
}

// deciding says whether the leader has decided what is not appended yet.
func (w *world) deciding() bool { return w.pending[0].verb != noCommand }

// moves appends all steps that a world offers. What clients can know is in the
// journal, n; what the leader decides upon is its memory, which is ahead of it.
func (w *world) moves(c *Config, n, memory *node, list []move) []move {
	if w.deciding() {
		list = append(list, move{mAppend, 0})
		if w.spare(c) {
			list = append(list, move{mCrash, 0})
			if w.flags&wDeposed == 0 {
				list = append(list, move{mDepose, 0})
			}
		}
	}
	if w.flags&wDeposed != 0 {
		list = append(list, move{mFenced, 0})
	}
	for i := range c.Ops {
		if !w.addressed(uint8(i)) {
			list = w.clientMoves(c, n, list, uint8(i))
		}
		list = w.cloudMoves(c, list, uint8(i))
	}
	if w.deciding() {
		return w.moreMoves(c, memory, list)
	}
	for i := range c.Ops {
		list = w.coordinatorMoves(c, n, list, uint8(i))
	}
	for s := range c.Sessions {
		list = w.sessionMoves(c, n, list, uint8(s))
	}
	return w.outerMoves(c, n, list)
}

// addressed says whether a decision about an operation waits to be appended.
func (w *world) addressed(i uint8) bool {
	for _, x := range w.pending {
		if x.who == i && x.verb != noCommand && (x.verb < cReserve || x.verb > cReserve && x.verb < cDeclare) {
			return true
		}
	}
	return false
}

// moreMoves are what the leader takes into the batch that it will append, and who
// dies meanwhile.
func (w *world) moreMoves(c *Config, memory *node, list []move) []move {
	for i := range c.Ops {
		if w.pending[batch-1].verb != noCommand || w.addressed(uint8(i)) {
			continue
		}
		switch w.ops[i].phase {
		case asking:
			if !c.planned(i) || memory.plans[c.Ops[i].Session] != none {
				list = append(list, move{mSubmit, uint8(i)})
			}
		case starting:
			list = append(list, move{mStart, uint8(i)})
		case reporting:
			list = append(list, move{mReport, uint8(i)})
		}
	}
	for s := range c.Sessions {
		if w.alive(s) && w.spare(c) {
			list = append(list, move{mKill, uint8(s)})
		}
	}
	return list
}

// spare says whether another mishap may happen.
func (w *world) spare(c *Config) bool { return int(w.faults) < c.Faults }

// clientMoves are what the client of an operation does by itself.
func (w *world) clientMoves(c *Config, n *node, list []move, i uint8) []move {
	s := c.Ops[i].Session
	if !w.alive(s) {
		return list
	}
	st := n.status[i]
	switch o := &w.ops[i]; o.phase {
	case idle:
		if w.ready(c, n, int(i)) {
			if !c.planned(int(i)) && (c.versioned[i] >= 0 || c.lived[i] >= 0) {
				return append(list, move{mPlan, i})
			}
			list = append(list, move{mAsk, i})
		}
	case planned:
		list = append(list, move{mAsk, i})
	case pending:
		switch {
		case st == admitted:
			list = append(list, move{mGo, i})
		case st == stale && o.flags&fRound == 0 && n.ended&(1<<s) == 0:
			list = append(list, move{mPlan, i})
		case st.final() || st == uncertain:
			list = append(list, move{mHear, i})
		}
	case started:
		list = append(list, move{mSend, i})
	case calling:
		if o.effect >= landed {
			list = append(list, move{mAnswer, i})
		}
	}
	return list
}

// ready says whether the CLI would begin with an operation now.
func (w *world) ready(c *Config, n *node, i int) bool {
	if c.Sessions[c.Ops[i].Session].Reserve && n.plans[c.Ops[i].Session] != admitted {
		return false
	}
	for _, a := range c.Ops[i].After {
		if w.ops[a].phase != good {
			return false
		}
	}
	return true
}

// cloudMoves are what becomes of a call in the cloud.
func (w *world) cloudMoves(c *Config, list []move, i uint8) []move {
	if w.ops[i].effect != flying {
		return list
	}
	if !w.possible(c, int(i)) {
		return append(list, move{mRefuse, i})
	}
	list = append(list, move{mLand, i})
	if w.spare(c) || !w.alive(c.Ops[i].Session) {
		list = append(list, move{mRefuse, i})
	}
	if w.spare(c) && c.Ops[i].Make {
		list = append(list, move{mHalf, i})
	}
	return list
}

// coordinatorMoves are what the coordinator gets to know of an operation.
func (w *world) coordinatorMoves(c *Config, n *node, list []move, i uint8) []move {
	o, st, alive := &w.ops[i], n.status[i], w.alive(c.Ops[i].Session)
	mishap := w.spare(c)
	switch o.phase {
	case asking:
		list = append(list, move{mSubmit, i})
		if c.Dup && mishap && st == stale && o.flags&fRound != 0 {
			list = append(list, move{mSpread, i})
		}
	case starting:
		list = append(list, move{mStart, i})
	case reporting:
		list = append(list, move{mReport, i})
	}
	if alive && mishap {
		switch {
		case o.phase == pending && (st == queued || st == admitted):
			list = append(list, move{mWithdraw, i})
		case o.phase == calling:
			list = append(list, move{mLose, i})
		case o.phase == started:
			list = append(list, move{mNotSent, i})
		}
		if c.Pass && o.phase == pending && (st == queued || st == rejected) {
			list = append(list, move{mPass, i})
		}
	}
	if st == uncertain {
		if !w.inFlight(c, int(i)) {
			list = append(list, move{mResolve, i})
		}
		list = append(list, move{mSettle, i})
	}
	return list
}

func (w *world) sessionMoves(c *Config, n *node, list []move, s uint8) []move {
	x, bit := w.sessions[s], uint8(1)<<s
	ended := n.ended&bit != 0
	if w.alive(int(s)) {
		list = w.runMoves(c, n, list, s)
		if w.spare(c) {
			list = append(list, move{mKill, s})
			if !ended {
				list = append(list, move{mExpire, s})
			}
		}
		return list
	}
	if x&sKilled != 0 {
		if !ended {
			list = append(list, move{mExpire, s})
		}
		if n.dead&bit == 0 && n.mentioned&bit != 0 {
			list = append(list, move{mDead, s})
		}
	}
	return list
}

// runMoves are what a living run does with its session.
func (w *world) runMoves(c *Config, n *node, list []move, s uint8) []move {
	x, ended := w.sessions[s], n.ended&(1<<s) != 0
	cfg := &c.Sessions[s]
	if cfg.Reserve && x&sReserved == 0 {
		list = append(list, move{mReserve, s})
		return list
	}
	if !cfg.Reserve && x&sDeclared == 0 && !ended && w.promises(c, s) != 0 {
		list = append(list, move{mDeclare, s})
	}
	if cfg.Reserve && x&sGaveUp == 0 && n.plans[s] == admitted && !ended && w.spare(c) {
		list = append(list, move{mGiveUp, s})
	}
	if w.over(c, n, int(s)) {
		list = append(list, move{mClose, s})
	}
	return list
}

// promises are the operations whose objects a session may declare.
func (w *world) promises(c *Config, s uint8) uint8 {
	bits := c.makes[s]
	for i := range c.Ops {
		if w.ops[i].phase.over() {
			bits &^= 1 << i
		}
	}
	return bits
}

// over says whether nothing of a run is left to be sent or answered.
func (w *world) over(c *Config, n *node, s int) bool {
	if c.Sessions[s].Reserve && n.plans[s] == queued {
		return false
	}
	for i := range c.Ops {
		if c.ops[s]&(1<<i) == 0 || w.ops[i].phase.over() {
			continue
		}
		if w.ops[i].phase == idle && c.Sessions[s].Reserve && n.plans[s].final() {
			continue // without its reservation nothing more is sent
		}
		return false
	}
	return true
}

// outerMoves are those of no run.
func (w *world) outerMoves(c *Config, n *node, list []move) []move {
	if n.pausable {
		list = append(list, move{mPause, 0})
	}
	if c.Reads != "" && w.flags&wReadOver == 0 {
		list = append(list, move{choose(w.flags&wReadBegun == 0, mLook, mSee), 0})
	}
	if c.Meter && w.flags&wMeterOver == 0 {
		switch {
		case w.flags&wMeterBegun == 0:
			list = append(list, move{mMeter, 0})
		case w.read != w.use:
			list = append(list, move{mEarly, 0}, move{mLate, 0})
		default:
			list = append(list, move{mLate, 0})
		}
	}
	if c.Shift && w.flags&wShifted == 0 {
		list = append(list, move{mLimit, 0}, move{mLimit, 1})
	}
	return list
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
