// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// record is one operation as its client saw it.
type record struct {
	client    int
	in        input
	out       output
	call, ret int64
	// life is the coordinator that was serving when the answer came, or did
	// not.
	life int
}

// recorder keeps a history.
type recorder struct {
	mu    sync.Mutex
	began time.Time
	all   []record
	// deaths says of each coordinator since when nothing can come of it any more.
	deaths []int64
	leases map[string]time.Duration // of the sessions that may lapse
	trees  map[string]int           // in which each session works
}

func newRecorder() *recorder {
	return &recorder{began: time.Now(), leases: map[string]time.Duration{}, trees: map[string]int{}}
}

// now is monotonic, in nanoseconds.
func (r *recorder) now() int64 { return int64(time.Since(r.began)) }

// add notes an operation that has been answered, or given up, just now.
func (r *recorder) add(client int, call int64, in input, out output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, record{client: client, in: in, out: out, call: call, ret: r.now(), life: len(r.deaths)})
}

// died notes that the coordinator which was serving cannot do anything more.
func (r *recorder) died() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaths = append(r.deaths, r.now())
}

// lease notes that a session may lapse.
func (r *recorder) lease(session string, lease time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leases[session] = lease
}

// history is all there was, with the operations that nobody asks for: that
// leases end. A lost answer may be one to something that happens as late as the
// death of the coordinator.
func (r *recorder) history() []record {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []record
	trees, lapse := map[string]int{}, r.lapses()
	for _, o := range r.all {
		if o.out.unknown {
			o.ret = math.MaxInt64
			if o.life < len(r.deaths) {
				o.ret = r.deaths[o.life]
			}
		}
		if at, ok := lapse[o.in.session]; ok {
			o.in.lapsed = o.ret >= at
			trees[o.in.session] = o.in.tree
		}
		all = append(all, apart(o)...)
	}
	for name, at := range lapse {
		tree, ok := trees[name]
		if ok {
			all = append(all, record{client: lapses, in: input{kind: opExpire, tree: tree, session: name}, call: at, ret: math.MaxInt64})
		}
	}
	return all
}

// apart takes a request apart whose lease may have ended before the answer was
// made up: it arrives, and later somebody looks what has become of it.
func apart(o record) []record {
	if o.in.kind != opSubmit || !o.in.lapsed || o.out.status != withdrawn {
		return []record{o}
	}
	look := o
	look.client, look.in.kind = looks, opLook
	o.out = output{unknown: true}
	return []record{o, look}
}

// lapses is the client number of leases that end, and looks of what is seen after
// that of the requests before.
const lapses, looks = 1000, 1001

// lapses is when each lease may have ended at the earliest: its length after the
// last sign of life that was heard.
func (r *recorder) lapses() map[string]int64 {
	at := map[string]int64{}
	for _, o := range r.all {
		lease, ok := r.leases[o.in.session]
		heard := o.in.kind == opOpen || o.in.kind == opRenew
		if ok && (heard && !o.out.unknown && o.out.err == "" || at[o.in.session] == 0) {
			at[o.in.session] = max(at[o.in.session], o.call+int64(lease))
		}
	}
	return at
}

func operations(all []record) []porcupine.Operation {
	list := make([]porcupine.Operation, 0, len(all))
	for _, o := range all {
		list = append(list, porcupine.Operation{ClientId: o.client, Input: o.in, Output: o.out, Call: o.call, Return: o.ret})
	}
	return list
}

// works notes in which tree a session works, before it is opened.
func (r *recorder) works(session string, tree int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trees[session] = tree
}

// treeOf is the tree that a session works in.
func (r *recorder) treeOf(session string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trees[session]
}
