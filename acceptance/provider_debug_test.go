// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// served is a provider process of the user's own, as under a debugger.
type served struct {
	cmd *exec.Cmd
	// entry is what TF_REATTACH_PROVIDERS says of it.
	entry map[string]any
}

// serveProvider starts a provider program, for the rest of the test, that whoever
// knows its socket can use: without the certificate of the one that started it.
func (b *bench) serveProvider(program string, env ...string) *served {
	b.t.Helper()
	dir, err := os.MkdirTemp("", "tfw-d") // short enough for a socket
	if err != nil {
		b.t.Fatal(err)
	}
	s := &served{cmd: exec.Command(program)}
	s.cmd.Env = append(os.Environ(), "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		"PLUGIN_PROTOCOL_VERSIONS=5,6", "PLUGIN_UNIX_SOCKET_DIR="+dir)
	s.cmd.Env = append(s.cmd.Env, env...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // the test may have done so
		_ = s.cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	parts := strings.Split(line, "|") // CORE|PROTOCOL|NETWORK|ADDRESS|grpc|...
	if err != nil || len(parts) < 5 {
		b.t.Fatalf("the provider says %q, %v", line, err)
	}
	protocol, err := strconv.Atoi(parts[1])
	if err != nil {
		b.t.Fatal(err)
	}
	s.entry = map[string]any{
		"Protocol": "grpc", "ProtocolVersion": protocol, "Pid": s.cmd.Process.Pid, "Test": true,
		"Addr": map[string]string{"Network": parts[2], "String": parts[3]},
	}
	return s
}

// alive fails the test unless the process runs still.
func (s *served) alive(t *testing.T) {
	t.Helper()
	if err := exec.Command("kill", "-0", strconv.Itoa(s.cmd.Process.Pid)).Run(); err != nil {
		t.Errorf("the debugged provider was ended: %v", err)
	}
}

// debugged makes the runs of a workspace use a provider that somebody serves.
func debugged(w *lab.Workspace, key string, entry any) {
	text, _ := json.Marshal(map[string]any{key: entry}) // all of it has a JSON form
	w.Env = append(w.Env, "TF_REATTACH_PROVIDERS="+string(text))
}

// TestDebuggedProviderIsCoordinated: two sessions change the same network, one of
// them through a provider under a debugger, named by its full address or a short
// one. The calls queue like all others.
func TestDebuggedProviderIsCoordinated(t *testing.T) {
	t.Parallel()
	for name, short := range map[string]bool{"short": true, "full": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			b.succeeded(b.applyAll(plain, b.workspace("base", group()+network("left", "")))...)
			debug, usual := b.workspace("debug", subnet("left", "debug", 1)), b.workspace("usual", subnet("left", "usual", 2))
			server := b.serveProvider(b.Lab.Provider[6], "SIMCLOUD_ENDPOINT="+b.Cloud.Endpoint, "SIMCLOUD_ACTOR=debug")
			key := "tfweaver/simcloud"
			if !short {
				key = b.Lab.CLI.RegistryHost() + "/" + key
			}
			debugged(debug, key, server.entry)
			runs := b.applyAll(woven, debug, usual)
			b.succeeded(runs...)
			log := b.clean()
			one, other := b.written(log, "subnets", "debug"), b.written(log, "subnets", "usual")
			if one.Actor != "debug" || one.Result != activity.Succeeded {
				t.Errorf("the debugged provider did %+v", one)
			}
			if one.Start.Before(other.End) && other.Start.Before(one.End) {
				t.Error("both subnets were written at the same time: one was not coordinated")
			}
			if strings.Contains(runs[0].Stderr(), "Warning") {
				t.Errorf("a warning: %s", runs[0].Stderr())
			}
			server.alive(t)
		})
	}
}

// TestDebuggedProviderOfEachProtocol: all that a provider has works through one
// process that somebody else has started, also where its SDK tells no protocol.
func TestDebuggedProviderOfEachProtocol(t *testing.T) {
	t.Parallel()
	for provider, protocol := range map[string]int{"five": 5, "six": 6} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "debug", strings.ReplaceAll(`
ephemeral "@_token" "t" {}

resource "@_thing" "x" {
  count            = 3
  name             = provider::@::shout("x-${count.index}")
  password         = ephemeral.@_token.t.value
  password_version = 1
}
`, "@", provider)))
			server := b.serveProvider(b.Lab.Fixture[protocol], "FIXTURE_DIR="+b.FixtureDir())
			if protocol == 5 {
				delete(server.entry, "ProtocolVersion")
			}
			debugged(w, "tfweaver/"+provider, server.entry)
			b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
			b.tfweaver(w, 0, "plan", "-detailed-exitcode", "-no-color")
			b.tfweaver(w, 0, "destroy", "-auto-approve", "-no-color")
			for _, e := range b.fixtureEvents(provider) {
				if e.PID != server.cmd.Process.Pid {
					t.Errorf("process %d was started beside", e.PID)
				}
			}
			server.alive(t)
		})
	}
}

// TestDebuggedProviderIsKilled: what became of its change is not known, and since
// the process is nobody's whom tfweaver knows, neither is that it has ended.
func TestDebuggedProviderIsKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t, slowSubnets())
	twoNetworks(b)
	w := b.workspace("debug", subnet("left", "debug", 1))
	server := b.serveProvider(b.Lab.Provider[6], "SIMCLOUD_ENDPOINT="+b.Cloud.Endpoint, "SIMCLOUD_ACTOR=debug")
	debugged(w, "tfweaver/simcloud", server.entry)
	run := b.start(woven, w, "apply", "-auto-approve", "-no-color")
	b.awaitOf(run, "the subnet is being written", lab.Wrote("subnets", "debug", activity.Accepted))
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.wait(run)
	if run.ExitCode != 1 || !strings.Contains(run.Stderr(), "unknown") && !strings.Contains(run.Stderr(), "not known") {
		t.Errorf("exit code %d; the outcome is not said to be unknown", run.ExitCode)
	}
}

// TestDebuggedProviderThatIsNone: what is wrong with TF_REATTACH_PROVIDERS is said,
// and by whom it is said decides the exit code.
func TestDebuggedProviderThatIsNone(t *testing.T) {
	t.Parallel()
	nobody := map[string]string{"Network": "unix", "String": filepath.Join(t.TempDir(), "nobody")}
	for name, test := range map[string]struct {
		entry any
		code  int
		says  []string
	}{
		"nobody there":     {map[string]any{"Protocol": "grpc", "ProtocolVersion": 6, "Test": true, "Addr": nobody}, 1, []string{"nobody serves the provider", "nobody"}},
		"unknown protocol": {map[string]any{"Protocol": "grpc", "ProtocolVersion": 7, "Addr": nobody}, 78, []string{"TF_REATTACH_PROVIDERS", "protocol 7", "tfweaver/six"}},
		"unknown network":  {map[string]any{"Protocol": "grpc", "Addr": map[string]string{"Network": "udp", "String": "x"}}, 78, []string{"TF_REATTACH_PROVIDERS", "udp"}},
		"no object":        {"x", 78, []string{"TF_REATTACH_PROVIDERS", "tfweaver/six"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := oneThing(b, "none")
			debugged(w, "tfweaver/six", test.entry)
			b.refusedBeforeStart(w, test.code, test.says...)
		})
	}
}

// TestStaleReattachOfAnUnneededProvider: a variable that was left set does no harm
// as long as nobody needs what it names.
func TestStaleReattachOfAnUnneededProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "stale")
	debugged(w, "tfweaver/other", map[string]any{
		"Protocol": "grpc", "ProtocolVersion": 6, "Test": true,
		"Addr": map[string]string{"Network": "unix", "String": filepath.Join(t.TempDir(), "gone")},
	})
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
}
