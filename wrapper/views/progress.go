// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"time"
)

// Progress tells what goes on while the CLI says nothing, as it does for as long
// as it plans what is to be created, or while tfweaver itself is at work.
type Progress struct {
	// Doing is what goes on, as a part of a sentence: "planning".
	Doing string
	// Read and Planned count the answers of providers since the run began.
	Read, Planned int
	// Elapsed is for how long it has gone on.
	Elapsed time.Duration
}

// text is the line for people. It begins and ends alike whatever goes on, so that
// it can be told from the CLI's own lines.
func (p Progress) text() string {
	text := "tfweaver: " + p.Doing
	if p.Read+p.Planned > 0 {
		text += fmt.Sprintf(" (%s read, %s planned so far)", count(p.Read, "object"), count(p.Planned, "object"))
	}
	return text + fmt.Sprintf("... [%s elapsed]", seconds(p.Elapsed))
}

// Progress prints one line.
func (h *Human) Progress(p Progress) { h.out.Print(p.text() + "\n") }

// Progress prints a weaver_progress line.
func (j *JSON) Progress(p Progress) {
	j.print(line{
		Level: "info", Type: "weaver_progress", Message: p.text(),
		Elapsed: secondsOf(p.Elapsed), Read: &p.Read, Planned: &p.Planned,
	})
}
