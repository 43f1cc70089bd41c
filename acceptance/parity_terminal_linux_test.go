// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// terminal is a pseudo-terminal and what was shown on it.
type terminal struct {
	screen, program *os.File
	mu              sync.Mutex
	shown           bytes.Buffer
	closed          chan struct{}
}

// openTerminal opens one that is wide enough for nothing to be wrapped by chance.
func openTerminal() (*terminal, error) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	if err != nil {
		screen.Close()
		return nil, err
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		screen.Close()
		return nil, err
	}
	t := &terminal{screen: screen, program: program, closed: make(chan struct{})}
	go t.show()
	return t, nil
}

// show keeps what comes, until nobody has the terminal open any more.
func (t *terminal) show() {
	defer close(t.closed)
	buf := make([]byte, 4096)
	for {
		n, err := t.screen.Read(buf)
		t.mu.Lock()
		t.shown.Write(buf[:n])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.String()
}

// dialogue is what a person sees and answers, in order.
type dialogue []struct{ sees, types string }

// talk runs a line on a terminal of its own, and answers what is asked.
func (p *twins) talk(w *twin, l line, d dialogue) outcome {
	p.t.Helper()
	term, err := openTerminal()
	if err != nil {
		p.t.Fatal(err)
	}
	defer term.screen.Close()
	cmd := w.Command(p.ctx, w.program, l.args...)
	cmd.Env = append(append(cmd.Env, "TF_INPUT=1", "TERM=xterm"), l.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.program, term.program, term.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	term.program.Close()
	from := 0
	for _, step := range d {
		err := lab.Await(p.ctx, fmt.Sprintf("%s shows %q", strings.Join(l.args, " "), step.sees), func() (bool, error) {
			at := strings.Index(term.text()[from:], step.sees)
			if at >= 0 {
				from += at + len(step.sees)
			}
			return at >= 0, nil
		})
		if err == nil {
			_, err = term.screen.WriteString(step.types)
		}
		if err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			p.t.Fatalf("%v; shown was\n%s", err, term.text())
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	<-term.closed
	text := strings.ReplaceAll(term.text(), "\r\n", "\n")
	return p.normal(w, outcome{Code: cmd.ProcessState.ExitCode(), Stdout: text})
}

// TestParityOnATerminal: everything that a person sees and types.
func TestParityOnATerminal(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, small())
	ask := "Enter a value:"
	for _, s := range []struct {
		line line
		dialogue
	}{
		{cli("version"), nil},
		{cli("plan"), nil},
		{cli("apply").exits(1), dialogue{{ask, "no\n"}}},
		{cli("apply").exits(1), dialogue{{ask, "\x04"}}},
		{cli("apply"), dialogue{{ask, "yes\n"}}},
		{cli("apply", "-auto-approve", "-var=team=web"), nil},
		{cli("plan", "-no-color", "-target=simcloud_resource_group.shared"), nil},
		{cli("console"), dialogue{{"> ", "simcloud_virtual_network.net.name\n"}, {`"net"`, "exit\n"}}},
		{cli("destroy").exits(1), dialogue{{ask, "y\n"}}},
	} {
		want, got := p.talk(p.plain, s.line, s.dialogue), p.talk(p.mine, s.line, s.dialogue)
		name := strings.Join(s.line.args, " ")
		if want.Code != s.line.code {
			t.Errorf("%s: exit code %d, want %d", name, want.Code, s.line.code)
		}
		if runsProviders(s.line.args) {
			got.Stdout = withoutOwn(withoutProgress(got.Stdout))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s on a terminal: terraform (-) and tfweaver (+) differ:\n%s", name, diff)
		}
	}
}
