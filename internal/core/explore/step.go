// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

// move makes a step in a copy of a world. The result says whether anything has
// happened.
func (k *core) move(w *world, m move) (happened bool, err error) {
	c, n := k.config, k.nodes[w.at]
	x := w.command(c, n, m)
	if x.verb == noCommand {
		return true, w.alone(k, m)
	}
	at, err := w.memory(k)
	if err != nil {
		return false, err
	}
	if m.kind == mCrash || m.kind == mDepose {
		at = w.at // what was not appended never was
	}
	e, err := k.step(at, x)
	if err != nil {
		return false, err
	}
	if !c.Journal || !m.appended() {
		return w.finish(k, m, e)
	}
	if m.kind == mSettle && (e.refusal != accepted || e.to == at) {
		return false, nil // it proved nothing
	}
	for i := range w.pending {
		if w.pending[i].verb == noCommand {
			w.pending[i] = x
			break
		}
	}
	if c.holes.answerEarly && m.kind == mStart {
		w.ops[m.who].phase = started
	}
	return true, nil
}

// memory is the state that the leader has in its memory: what is in the journal,
// and what it has decided since.
func (w *world) memory(k *core) (uint32, error) {
	at := w.at
	for _, x := range w.pending {
		if x.verb == noCommand {
			break
		}
		e, err := k.step(at, x)
		if err != nil {
			return at, err
		}
		at = e.to
	}
	return at, nil
}

// appended says whether the append of a decision is a step of its own.
func (m move) appended() bool {
	switch m.kind {
	case mPause, mLook, mMeter, mCrash, mDepose:
		return false
	default:
		return true
	}
}

// origin is the step that decided what waits to be appended.
func (x command) origin() move {
	kinds := [...]kind{
		cSubmit: mSubmit, cAgain: mSpread, cReserve: mReserve, cStart: mStart, cWithdraw: mWithdraw, cResolve: mResolve,
		cSettle: mSettle, cPass: mPass, cDeclare: mDeclare, cClose: mClose, cExpire: mExpire, cDead: mDead, cGiveUp: mGiveUp,
		cSee: mSee, cMeter: mLate, cLimit: mLimit,
	}
	if x.verb == cDone {
		return move{[...]kind{mReport, mReport, mLose, mNotSent}[x.a], x.who}
	}
	return move{kinds[x.verb], x.who}
}

// command is what the core is told by a step, if anything.
func (w *world) command(c *Config, n *node, m move) command {
	o := &w.ops[m.who%maxOps]
	switch m.kind {
	case mSubmit:
		return command{cSubmit, m.who, o.version, o.life}
	case mSpread:
		return command{verb: cAgain, who: m.who}
	case mStart:
		return command{verb: cStart, who: m.who}
	case mReport:
		return w.reported(c, m.who)
	case mLose:
		return command{cDone, m.who, lost, 0}
	case mNotSent:
		return command{cDone, m.who, notSent, 0}
	case mWithdraw:
		return command{verb: cWithdraw, who: m.who}
	case mResolve:
		return command{verb: cResolve, who: m.who, a: w.sight(c, m.who)}
	case mSettle:
		return command{verb: cSettle, who: m.who, a: w.sight(c, m.who)}
	case mPass:
		return command{verb: cPass, who: m.who}
	default:
		return w.outerCommand(c, n, m)
	}
}

// reported is what a client tells of its answer. A create that failed leaves
// nothing of its own, whoever else has made the object.
func (w *world) reported(c *Config, i uint8) command {
	switch w.ops[i].effect {
	case landed:
		return command{cDone, i, succeeded, w.sight(c, i)}
	case halfway:
		return command{cDone, i, errored, 1}
	default:
		return command{cDone, i, errored, choose[uint8](c.Ops[i].Make, 0, w.sight(c, i))}
	}
}

// sight is 1 if the object of an operation is there.
func (w *world) sight(c *Config, i uint8) uint8 {
	if self := c.self[i]; self >= 0 {
		return w.exists >> self & 1
	}
	return 0
}

func (w *world) outerCommand(c *Config, _ *node, m move) command {
	switch m.kind {
	case mReserve:
		return command{verb: cReserve, who: m.who}
	case mGiveUp:
		return command{verb: cGiveUp, who: m.who}
	case mDeclare:
		return command{verb: cDeclare, who: m.who, a: w.promises(c, m.who)}
	case mClose:
		return command{verb: cClose, who: m.who}
	case mExpire:
		return command{verb: cExpire, who: m.who}
	case mDead:
		return command{verb: cDead, who: m.who}
	case mPause:
		return command{verb: cPause}
	case mLook:
		return command{verb: cLook}
	case mSee:
		return command{verb: cSee, a: choose[uint8](w.flags&wReadThere != 0, 1, 0), b: w.seen}
	case mMeter:
		return command{verb: cLook, who: 1}
	case mEarly:
		return command{verb: cMeter, a: uint8(w.read[0]), b: uint8(w.read[1])}
	case mLate:
		return command{verb: cMeter, a: uint8(w.use[0]), b: uint8(w.use[1])}
	case mLimit:
		return command{verb: cLimit, who: m.who, a: uint8(w.limit + int8(m.who)*2 - 1)}
	case mCrash, mDepose:
		return command{verb: cLead}
	default:
		return command{}
	}
}

// alone makes a step that the coordinator does not see.
func (w *world) alone(k *core, m move) error {
	c, n := k.config, k.nodes[w.at]
	i := int(m.who)
	o := &w.ops[m.who%maxOps]
	switch m.kind {
	case mPlan:
		w.plan(c, n, i)
	case mAsk:
		o.phase = asking
	case mGo:
		o.phase = starting
	case mHear:
		w.fail(c, i)
	case mSend:
		if v := checkSend(c, w, n, i); v != nil {
			return v
		}
		o.phase, o.effect = calling, flying
		w.spoil(c, n, i)
		w.settleDown(i)
	case mLand, mHalf:
		if v := checkLand(c, w, n, i); v != nil {
			return v
		}
		w.land(c, i)
		o.effect = landed
		if m.kind == mHalf {
			o.effect = halfway
			w.faults++
		}
	case mRefuse:
		if w.possible(c, i) && w.alive(c.Ops[i].Session) {
			w.faults++
		}
		o.effect = gone
	case mAnswer:
		o.phase = reporting
	case mKill:
		w.faults++
		w.kill(c, i)
	case mAppend:
		return w.append(k)
	case mFenced:
		if c.holes.unfenced {
			return broken("I15 FencedLeader", "a decision of a deposed leader is answered")
		}
		w.flags &^= wDeposed
	}
	return nil
}

// plan makes the lock plan of an operation on what is known now.
func (w *world) plan(c *Config, n *node, i int) {
	o := &w.ops[i]
	if o.phase == pending {
		o.flags |= fRound
	}
	o.phase = planned
	w.date(c, n, i)
	if v := c.versioned[i]; v >= 0 {
		o.version = n.version[v]
	}
	if v := c.lived[i]; v >= 0 {
		o.life = n.lives[v]
	}
}

// date notes that a plan is made now. What has changed already and was not told
// yet makes it out of date at once.
func (w *world) date(c *Config, n *node, i int) {
	o := &w.ops[i]
	o.flags &^= fMoved | fRevived
	for j := range c.Ops {
		e := w.ops[j].effect
		if j == i || e != landed && e != halfway || n.status[j].final() || len(c.Ops[j].writes) == 0 || w.ops[j].flags&fVoid != 0 {
			continue
		}
		op, touched := &c.Ops[j], uint8(1)<<c.self[j]
		if op.Remove {
			touched = c.within[c.self[j]] & n.known(c)
		}
		if v := c.versioned[i]; v >= 0 && touched&(1<<v) != 0 && op.Session != c.Ops[i].Session {
			if n.status[i] != stale {
				o.flags |= fMoved // it is the old plan that may be granted now
			}
		}
		if v := c.lived[i]; v >= 0 && touched&(1<<v) != 0 && (op.Make || op.Remove) {
			o.flags |= fRevived
		}
	}
}

// known are the objects that the graph does not take for gone.
func (n *node) known(c *Config) uint8 {
	var bits uint8
	for o := range c.Objects {
		if n.object[o] >= there {
			bits |= 1 << o
		}
	}
	return bits
}

// fail ends an operation for its client, which skips what comes after it. Who is
// dead skips nothing, and does nothing more.
func (w *world) fail(c *Config, i int) {
	if !w.alive(c.Ops[i].Session) {
		if w.ops[i].effect == unsent {
			w.ops[i].phase = idle
		} else {
			w.ops[i].phase = bad
		}
		w.ops[i].version, w.ops[i].life = 0, 0
		return
	}
	w.ops[i].phase = bad
	w.settleDown(i)
	for j := range c.Ops {
		if c.behind[i]&(1<<j) != 0 && !w.ops[j].phase.over() {
			w.ops[j].phase = bad
			w.settleDown(j)
		}
	}
}

// kill ends the process of a session. Its messages and calls are on their way.
func (w *world) kill(c *Config, s int) {
	w.sessions[s] |= sKilled
	for i := range c.Ops {
		o := &w.ops[i]
		if c.ops[s]&(1<<i) == 0 || o.phase.over() || o.phase == asking || o.phase == starting || o.phase == reporting {
			continue
		}
		if o.phase = idle; o.effect != unsent {
			o.phase = bad
		}
		o.version, o.life = 0, 0
	}
}

// spoil marks what a call writes that goes on without its locks.
func (w *world) spoil(c *Config, n *node, i int) {
	if n.passed&(1<<i) == 0 {
		return
	}
	w.spoiled |= c.within[c.self[i]]
	for o := range c.Objects {
		if c.writesSelf[o]&(1<<i) != 0 {
			w.spoiled |= 1 << o
		}
	}
}

// quieten is so much time that nothing arrives any more of those who are known
// to be dead.
func (w *world) quieten(c *Config, n *node) {
	for i := range c.Ops {
		if w.ops[i].effect == flying && n.dead&(1<<c.Ops[i].Session) != 0 {
			w.ops[i].effect = gone
		}
	}
}

// append puts what the leader has decided into the journal; only then does the
// answer leave.
func (w *world) append(k *core) error {
	list := w.pending
	w.pending = [batch]command{}
	for _, x := range list {
		if x.verb == noCommand {
			break
		}
		e, err := k.step(w.at, x)
		if err != nil {
			return err
		}
		if _, err := w.finish(k, x.origin(), e); err != nil {
			return err
		}
	}
	return nil
}

// finish is what a command means for the world once it is answered.
func (w *world) finish(k *core, m move, e *edge) (happened bool, err error) {
	c := k.config
	if m.kind == mSettle && (e.refusal != accepted || e.to == w.at) {
		return false, nil // it proved nothing
	}
	n := k.nodes[w.at]
	w.at = e.to
	if v := w.follow(c, n, k.nodes[e.to], m, e.refusal); v != nil {
		return true, v
	}
	if e.report != nil {
		if v := checkReport(c, w, n, k.nodes[e.to], e.report); v != nil {
			return true, v
		}
		w.half |= e.report.broken
	}
	return true, nil
}

// follow changes what clients believe, by what they were answered.
func (w *world) follow(c *Config, before, n *node, m move, no refusal) (v *Violation) {
	i := int(m.who)
	o := &w.ops[m.who%maxOps]
	switch m.kind {
	case mSubmit:
		w.delivered(c, i, pending, no)
		o.version, o.life = 0, 0
	case mSpread:
		w.faults++
		if n.status[i] != stale {
			o.flags |= fMoved // it is the old plan that may be granted now
		}
	case mStart:
		if no == accepted {
			v = checkHalf(c, w, n, i)
		}
		w.delivered(c, i, started, no)
	case mReport:
		if o.effect != landed {
			w.fail(c, i)
			return nil
		}
		o.phase = good
		w.settleDown(i)
		o.flags = 0
	case mLose, mNotSent, mWithdraw:
		w.faults++
		w.fail(c, i)
	case mResolve, mSettle:
		if o.effect == unsent || o.effect == gone {
			w.doubt(c, i)
		}
		o.flags &^= fVoid
	case mPass:
		w.faults++
	default:
		w.followSession(c, before, m)
		if m.kind == mReserve && no != accepted {
			w.skipRest(c, i)
		}
	}
	return v
}

// delivered is the answer to a request. One whose client is dead is of no use to
// anybody.
func (w *world) delivered(c *Config, i int, next phase, no refusal) {
	switch {
	case no != accepted:
		w.fail(c, i)
	case w.alive(c.Ops[i].Session):
		w.ops[i].phase = next
	default:
		w.ops[i].phase = idle
	}
}

func (w *world) followSession(c *Config, before *node, m move) {
	s := int(m.who)
	switch m.kind {
	case mReserve:
		w.sessions[s] |= sReserved
		for i := range c.Ops {
			if c.ops[s]&(1<<i) != 0 {
				w.date(c, before, i)
			}
		}
	case mGiveUp:
		w.faults++
		w.sessions[s] |= sGaveUp
		w.skipRest(c, s)
	case mDeclare:
		w.sessions[s] |= sDeclared
	case mClose:
		w.sessions[s] |= sClosed
		w.skipRest(c, s)
	case mExpire:
		if w.alive(s) {
			w.faults++
		}
		w.quieten(c, before)
	case mPause:
		w.quieten(c, before)
	case mCrash, mDepose:
		w.faults++
		w.pending = [batch]command{}
		if m.kind == mDepose {
			w.flags |= wDeposed
		}
	default:
		w.followRead(c, m)
	}
}

// skipRest: what was not asked for will not be.
func (w *world) skipRest(c *Config, s int) {
	for i := range c.Ops {
		if c.ops[s]&(1<<i) != 0 && w.ops[i].phase == idle {
			w.ops[i].phase = bad
			w.settleDown(i)
		}
	}
}

func (w *world) followRead(c *Config, m move) {
	switch m.kind {
	case mLook:
		o := c.number(c.Reads)
		w.flags |= wReadBegun
		if w.exists&(1<<o) != 0 {
			w.flags |= wReadThere
		}
		w.seen = w.refs[o]
	case mSee:
		w.flags = w.flags&^(wReadBegun|wReadThere) | wReadOver
		w.seen = 0
	case mMeter:
		w.flags |= wMeterBegun
		w.read = w.use
	case mEarly, mLate:
		w.flags = w.flags&^wMeterBegun | wMeterOver
		w.read = [buckets]int8{}
	case mLimit:
		w.flags |= wShifted
		w.limit += int8(m.who)*2 - 1
		w.top = max(w.top, w.limit)
	}
}
