// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// isProgram makes the test binary the program itself.
const isProgram = "MUTANTS_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(isProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// repository is one whose only package has a test, with a folder of patches: a
// fault that is found, one that ends nothing, and what is no patch.
var repository = map[string]string{
	"go.mod":                   "module github.com/tfweaver/tfweaver\n\ngo 1.25\n",
	"internal/core/sum/sum.go": "package sum\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n",
	"internal/core/sum/t_test.go": "package sum\n\nimport \"testing\"\n\n" +
		"func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	"patches/a.patch":  patch("return a * b"),
	"patches/b.patch":  patch("for ; ; a += b {}"),
	"patches/note.txt": "",
}

func patch(line string) string {
	const file = "internal/core/sum/sum.go"
	return "--- a/" + file + "\n+++ b/" + file + "\n@@ -4 +4 @@\n-\treturn a + b\n+\t" + line + "\n"
}

// program is the program in such a repository, with a folder of its own for what
// is temporary.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, temporary string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range repository {
		file := filepath.Join(root, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	temporary = t.TempDir()
	cmd = exec.CommandContext(context.Background(), os.Args[0], append([]string{"-parallel", "1", "-dir", "patches"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), isProgram+"=1", "TMPDIR="+temporary)
	return cmd, temporary
}

// TestTerminated: a run that is ended tells what it knows, and leaves nothing
// behind.
func TestTerminated(t *testing.T) {
	t.Parallel()
	cmd, temporary := program(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "killed ") {
		t.Errorf("%q %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Error(err)
	}
	if !strings.Contains(string(rest), "1 mutants, 1 killed, 0 survived, 0 unfit\n") {
		t.Errorf("no table: %s", rest)
	}
	for _, want := range []string{"skipped note.txt: not .patch or .diff\n", "mutants: interrupted"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not said: %s", want, &stderr)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind are %v, %v", left, err)
	}
}

// TestRecord: what was found is noted beside the patch.
func TestRecord(t *testing.T) {
	t.Parallel()
	cmd, _ := program(t, "-only", "a", "-record")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	note, err := os.ReadFile(filepath.Join(cmd.Dir, "patches", "a.found"))
	if err != nil || !strings.HasPrefix(string(note), "sum.TestAdd\n\n") {
		t.Errorf("%q, %v", note, err)
	}
}
