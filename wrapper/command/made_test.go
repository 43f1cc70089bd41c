// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"testing"
	"time"
)

func TestMadeAt(t *testing.T) {
	t.Parallel()
	at, ok := madeAt([]byte(`{"format_version":"1.2","timestamp":"2026-11-30T19:00:07Z"}`))
	if want := time.Date(2026, 11, 30, 19, 0, 8, 0, time.UTC); !ok || !at.Before(want) || want.Sub(at) > time.Millisecond {
		t.Errorf("%s %t", at, ok)
	}
	for _, text := range []string{`{}`, `{"timestamp":"yesterday"}`, `{"timestamp":""}`, `no plan`} {
		if at, ok := madeAt([]byte(text)); ok {
			t.Errorf("%s was made at %s", text, at)
		}
	}
}
