// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tfweaver/tfweaver/internal/version"
)

// answerLimit bounds one request to a state server.
const answerLimit = 5 * time.Second

// asker asks one state server.
type asker struct {
	server
	client *http.Client
	// id is that of the question.
	id string
}

// What came of a request for the lock.
type verdict int

const (
	// lost: there is no answer, and the request may have been carried out.
	lost verdict = iota
	// unsent: the server was not reached.
	unsent
	// taken by the question itself.
	ours
	// theirs: somebody holds the lock.
	theirs
	// unclear: the server answered something else.
	unclear
)

// answer is what a state server said.
type answer struct {
	verdict
	status int
	body   []byte
	err    error
}

// findHTTP wants the lock, and gives it back if it was free.
func findHTTP(ctx context.Context, settings map[string]any, env lookup) (Lock, error) {
	s, err := serverOf(settings, env)
	if err != nil {
		return Lock{}, err
	}
	client, err := s.client()
	if err != nil {
		return Lock{}, err
	}
	defer client.CloseIdleConnections()
	a := asker{server: s, client: client, id: "tfweaver-asks-" + rand.Text()}
	return a.ask(context.WithoutCancel(ctx))
}

// ask is not to be broken off; see the package.
func (a asker) ask(ctx context.Context) (Lock, error) {
	said := a.want(ctx)
	if said.verdict == lost {
		// The same ID again: if the first request got the lock, the server names
		// this question as the holder.
		if said = a.want(ctx); said.verdict != ours && said.verdict != theirs {
			said.verdict = lost
		}
	}
	switch said.verdict {
	case ours:
		return Lock{}, a.giveBack(ctx)
	case theirs:
		return a.holder(ctx, said)
	case lost:
		return Lock{}, unknownf("The state server at %s does not answer whether somebody holds the lock. "+
			"If it names the holder %q later, that was this question: give the lock back there.", a.lock.Host, a.id)
	case unsent:
		return Lock{}, unknownf("The state server at %s cannot be asked who holds the lock: %s.", a.lock.Host, reason(said.err))
	default:
		return Lock{}, unknownf("The state server at %s does not say who holds the lock: it answers %s.", a.lock.Host, status(said.status))
	}
}

// holder reads who holds the lock from a refusal.
func (a asker) holder(ctx context.Context, said answer) (Lock, error) {
	lock, err := decode(said.body)
	if err != nil {
		return Lock{}, unknownf("The state server at %s says that the state is locked (%s), and not by whom.", a.lock.Host, status(said.status))
	}
	if lock.ID == a.id {
		return Lock{}, a.giveBack(ctx)
	}
	return lock, nil
}

// want sends one request for the lock.
func (a asker) want(ctx context.Context) answer {
	said := a.send(ctx, a.lockMethod, a.lock)
	switch {
	case said.err != nil && unreached(said.err):
		said.verdict = unsent
	case said.err != nil:
		said.verdict = lost
	case said.status == http.StatusConflict, said.status == http.StatusLocked:
		said.verdict = theirs
	case said.status >= 200 && said.status < 300:
		said.verdict = ours
	default:
		said.verdict = unclear
	}
	return said
}

// givingBack is how often it is tried to give the lock back.
const givingBack = 3

// giveBack ends a lock that the server has confirmed to be that of the question.
func (a asker) giveBack(ctx context.Context) error {
	var said answer
	for range givingBack {
		said = a.send(ctx, a.unlockMethod, a.unlock)
		if said.err == nil && said.status >= 200 && said.status < 300 {
			return ErrFree
		}
	}
	why := status(said.status)
	if said.err != nil {
		why = reason(said.err)
	}
	return unknownf("Nobody held the lock, and the state server at %s did not take back the one with the ID %q with which it was asked (%s): "+
		"run \"force-unlock %s\".", a.unlock.Host, a.id, why, a.id)
}

// send sends the data of the question. All of the answer is read, within bounds.
func (a asker) send(ctx context.Context, method string, to *url.URL) (said answer) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(a.question()))
	if err != nil {
		return answer{err: errors.New("the address or method is none")}
	}
	a.authorize(req)
	resp, err := a.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	said.status = resp.StatusCode
	// The status alone says what became of the request: a body that breaks off
	// makes the holder unknown, not the outcome.
	said.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxLock))
	return said
}

// question is the lock info of who only asks.
func (a asker) question() []byte {
	text, err := json.Marshal(Lock{
		ID: a.id, Who: "tfweaver", Operation: "asking who holds the lock",
		Info: "asks who holds the lock, and gives it back at once", Version: version.Version, Created: time.Now().UTC(),
	})
	if err != nil {
		return nil // strings and a time always have a form in JSON
	}
	return text
}

// unreached says whether nothing of a request can have arrived.
func unreached(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || certain(err)
}
