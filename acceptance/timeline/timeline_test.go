// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func panels() []Panel {
	return []Panel{{
		Title: "coordinated", Summary: "6/6 & none refused", End: 20 * time.Second,
		Lanes: []Lane{
			{Name: "session-a", Segments: []Segment{
				{Kind: Group, Label: "group", From: 0, To: 10 * time.Second, Note: "<group>"},
				{Kind: Subnet, Label: "subnet a", From: 10 * time.Second, To: 20 * time.Second},
			}},
			{Name: "session-b", Segments: []Segment{
				{Kind: Waiting, Label: "waits for session-a", From: 5 * time.Second, To: 10 * time.Second},
				{Kind: Refused, Label: "409", From: 20 * time.Second, To: 20 * time.Second},
			}},
		},
	}}
}

func TestTextDrawsLanesOnOneAxis(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Text(&b, panels(), 55); err != nil {
		t.Fatal(err)
	}
	want := `
coordinated
6/6 & none refused
  session-a  |[group=============][subnet a==========]
  session-b  |          .waits fo.                    X 409
              0s  2s  4s  6s  8s  10s 12s 14s 16s 18s 20s
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSVGIsWellFormedAndTellsAll(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := SVG(&b, "a title", "and more", panels()); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for decoder := xml.NewDecoder(&b); ; {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	for _, want := range []string{"a title", "session-b", "6/6 &amp; none refused", "&lt;group&gt;", "url(#hatch)", "409"} {
		if !strings.Contains(text, want) {
			t.Errorf("the drawing does not have %q", want)
		}
	}
}

func TestTickLeavesRoom(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]time.Duration{
		25 * time.Second:        2 * time.Second,
		12 * time.Second:        time.Second,
		6600 * time.Millisecond: time.Second,
		3 * time.Minute:         20 * time.Second,
	} {
		if got := tick(span); got != want {
			t.Errorf("tick(%v) = %v, want %v", span, got, want)
		}
	}
}
