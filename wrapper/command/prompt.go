// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// question is what the CLI asks before it applies.
type question struct {
	query string
	lines []string
	// cancelled is what it says to any answer but yes.
	cancelled string
}

// questionFor words the question as the CLI does.
func (r *run) questionFor() question {
	product := string(r.binary.Product)
	in := ""
	if r.workdir.Workspace != terraform.DefaultWorkspace {
		in = fmt.Sprintf(" in workspace %q", r.workdir.Workspace)
	}
	switch {
	case r.opts.Destroy:
		return question{
			query: "Do you really want to destroy all resources" + in + "?",
			lines: []string{
				product + " will destroy all your managed infrastructure, as shown above.",
				"There is no undo. Only 'yes' will be accepted to confirm.",
			},
			cancelled: "Destroy cancelled.",
		}
	case r.opts.RefreshOnly:
		return question{
			query: refreshQuery(product, r.workdir.Workspace),
			lines: []string{
				product + " will write these changes to the state without modifying any real infrastructure.",
				"There is no undo. Only 'yes' will be accepted to confirm.",
			},
			cancelled: "Apply cancelled.",
		}
	default:
		return question{
			query: "Do you want to perform these actions" + in + "?",
			lines: []string{
				product + " will perform the actions described above.",
				"Only 'yes' will be accepted to approve.",
			},
			cancelled: "Apply cancelled.",
		}
	}
}

func refreshQuery(product, workspace string) string {
	state := product + " state"
	if workspace != terraform.DefaultWorkspace {
		state += fmt.Sprintf(" for %q", workspace)
	}
	return "Would you like to update the " + state + " to reflect these detected changes?"
}

// text is the question as it is printed, up to where the answer is typed,
// byte for byte as the CLI prints it.
func (q question) text(bold bool) string {
	on, off := "", ""
	if bold {
		on, off = "\x1b[1m", "\x1b[0m"
	}
	var b strings.Builder
	b.WriteString(off + on + "\n" + q.query + off + "\n")
	for _, line := range q.lines {
		b.WriteString("  " + line + "\n")
	}
	b.WriteString("\n  " + on + "Enter a value:" + off + " " + off)
	return b.String()
}

// unasked is what the CLI prints, byte for byte, when it gets no answer.
func unasked(err error, coloured bool) string {
	text := fmt.Sprintf("error asking for approval: %v", err)
	if !coloured {
		return "\nError: " + text + "\n\n"
	}
	const bar, bold, red, off = "\x1b[31m│\x1b[0m \x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[0m"
	return red + "╷" + off + off + "\n" +
		bar + bold + red + "Error: " + off + off + bold + text + off + "\n" +
		bar + "\n" + bar + off + "\n" +
		red + "╵" + off + off + "\n"
}

var errInterrupted = errors.New("interrupted")

// approve asks whether the plan shall be applied. Without an answer of "yes"
// it has said so.
func (r *run) approve(ctx context.Context) (bool, error) {
	q := r.questionFor()
	answer := ""
	_, err := fmt.Fprint(r.app.Stdout, q.text(!r.opts.NoColor))
	if err == nil {
		answer, err = r.answer(ctx)
	}
	if err != nil {
		fmt.Fprint(r.app.Stderr, unasked(err, !r.opts.NoColor))
		return false, nil
	}
	fmt.Fprintln(r.app.Stdout)
	if answer != "yes" {
		fmt.Fprintln(r.app.Stdout, q.cancelled)
		return false, nil
	}
	return true, nil
}

// answer reads one line, and not a byte more: what follows is for the CLI.
// The read cannot be interrupted; on a signal it is left behind.
func (r *run) answer(ctx context.Context) (string, error) {
	type result struct {
		text string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text, err := readLine(r.app.Stdin)
		read <- result{text, err}
	}()
	select {
	case got := <-read:
		return got.text, got.err
	case <-r.app.Signals:
		return "", errInterrupted
	case <-r.session.Done():
		return "", r.session.Err()
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 4096

// readLine takes a line up to its end. As with the CLI, what breaks off before is
// no answer, and blanks count unless they are at the end.
func readLine(in io.Reader) (string, error) {
	var line []byte
	buf := make([]byte, 1)
	for len(line) < maxAnswer {
		n, err := in.Read(buf)
		if n == 1 && buf[0] == '\n' {
			break
		}
		line = append(line, buf[:n]...)
		if err != nil {
			return "", err
		}
	}
	return strings.TrimRightFunc(string(line), unicode.IsSpace), nil
}
