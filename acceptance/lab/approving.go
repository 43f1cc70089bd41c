// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ApproveAlways answers with yes whenever the run asks, each time after a pause,
// until it ends; then it returns how often that was. When ctx ends before that,
// nobody answers any more.
func (a *Asked) ApproveAlways(ctx context.Context, pause time.Duration) (answers int, err error) {
	defer func() { err = errors.Join(err, a.leave()) }()
	for {
		err := Await(ctx, a.Name+" asks again or ends", func() (bool, error) {
			return a.Exited() || strings.Count(a.Stdout(), prompt) > answers, nil
		})
		if err != nil || a.Exited() {
			return answers, err
		}
		select {
		case <-time.After(pause):
		case <-a.Done():
			return answers, nil
		}
		if _, err := io.WriteString(a.input, "yes\n"); err != nil && !a.Exited() {
			return answers, fmt.Errorf("%s: approve: %w", a.Name, err)
		}
		answers++
	}
}

// leave ends the standard input. A run that has ended is left alone.
func (a *Asked) leave() error {
	if err := a.input.Close(); err != nil && !a.Exited() {
		return fmt.Errorf("%s: leave: %w", a.Name, err)
	}
	return nil
}
