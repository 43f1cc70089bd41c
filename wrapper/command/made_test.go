// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

func TestMadeAt(t *testing.T) {
	t.Parallel()
	read := func(members string) *savedPlan {
		plan, err := lowering.ReadFrom(t.Context(), strings.NewReader(`{"format_version":"1.2"`+members+`}`), lowering.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		return &savedPlan{Plan: plan}
	}
	at, ok := read(`,"timestamp":"2026-11-30T19:00:07Z"`).madeAt()
	if want := time.Date(2026, 11, 30, 19, 0, 8, 0, time.UTC); !ok || !at.Before(want) || want.Sub(at) > time.Millisecond {
		t.Errorf("%s %t", at, ok)
	}
	for _, members := range []string{"", `,"timestamp":"yesterday"`, `,"timestamp":""`} {
		if at, ok := read(members).madeAt(); ok {
			t.Errorf("%s was made at %s", members, at)
		}
	}
}
