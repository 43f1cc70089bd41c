// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"sync"
	"time"
)

// questions are what was asked of the coordinator and not answered yet. The zero
// value is ready for use.
type questions struct {
	mu   sync.Mutex
	next uint64
	open map[uint64]time.Time
}

// ask notes a question. The function returned notes its answer, and may be called
// more than once.
func (q *questions) ask() (answered func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		q.open = map[uint64]time.Time{}
	}
	q.next++
	number := q.next
	q.open[number] = time.Now()
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, number)
	}
}

// oldest is when the first of the open questions was put.
func (q *questions) oldest() (since time.Time, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, asked := range q.open {
		if !open || asked.Before(since) {
			since, open = asked, true
		}
	}
	return since, open
}

// Unanswered is since when the coordinator owes the session an answer that it gives
// at once when it is well; false when it owes none. That a request waits for others
// is none of them.
func (s *Session) Unanswered() (since time.Time, open bool) { return s.questions.oldest() }
