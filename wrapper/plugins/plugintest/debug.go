// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugintest

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// debugEnv makes the provider one that is served as under a debugger.
const debugEnv = "PLUGINTEST_DEBUG"

// Debug starts the provider as under a debugger, for the rest of the test, and
// returns its process id and what the SDK prints for the user to set: a value of
// TF_REATTACH_PROVIDERS.
func Debug(t testing.TB, protocol int, journal string) (pid int, reattach string) {
	t.Helper()
	cmd := exec.Command(Executable(t))
	cmd.Env = append(Env(protocol, journal), debugEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the test may have done so
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		_, value, found := strings.Cut(lines.Text(), "TF_REATTACH_PROVIDERS='")
		if found {
			return cmd.Process.Pid, strings.TrimSuffix(value, "'")
		}
	}
	t.Fatalf("the provider printed no TF_REATTACH_PROVIDERS: %v", lines.Err())
	return 0, ""
}
