// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// countedSubnets are some subnets of one resource, the addresses of which a shell does
// not take as they are.
func countedSubnets(number string) string {
	return `resource "simcloud_subnet" "s" {
  count                = ` + number + `
  name                 = "s${count.index}"
  resource_group_name  = "shared"
  virtual_network_name = "left"
  address_prefix       = "10.0.${count.index}.0/24"
}
`
}

// importLine is a command that a text gives. What stands in quotes is a word.
var importLine = regexp.MustCompile(`(?m)^[│ ]*(terraform import .*)$`)

// obey does what texts of tfweaver say: it types the import commands in them as
// they stand there. It fails the test if there are none.
func (b *bench) obey(w *lab.Workspace, said string) {
	b.t.Helper()
	done := map[string]bool{}
	for _, found := range importLine.FindAllStringSubmatch(said, -1) {
		command := strings.TrimSpace(found[1])
		if done[command] {
			continue
		}
		done[command] = true
		var words []string
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(command, -1) {
			words = append(words, strings.Trim(word, "'"))
		}
		b.terraform(w, 0, words[1:]...)
	}
	if len(done) == 0 {
		b.t.Fatalf("no command is given in\n%s", said)
	}
}

// inProgress waits until the cloud writes one of the subnets s0, s1 and so on, and
// says which.
func (b *bench) inProgress(run *lab.Run) string {
	b.t.Helper()
	which := ""
	b.awaitOf(run, "a subnet is being written", func(log activity.Log) bool {
		for _, name := range []string{"s0", "s1", "s2"} {
			if lab.Wrote("subnets", name, activity.Accepted)(log) {
				which = name
				return true
			}
		}
		return false
	})
	return which
}

// address is that of a subnet of countedSubnets.
func address(name string) string {
	return "simcloud_subnet.s[" + strings.TrimPrefix(name, "s") + "]"
}

// killBelow kills the processes below a run that run a program.
func (b *bench) killBelow(run *lab.Run, is func(lab.Process) bool) {
	b.t.Helper()
	all, err := b.Processes()
	if err != nil {
		b.t.Fatal(err)
	}
	killed := 0
	for _, p := range lab.Below(all, run.PID()) {
		if !is(p) {
			continue
		}
		killed++
		if err := p.Kill(); err != nil {
			b.t.Fatal(err)
		}
	}
	if killed == 0 {
		b.t.Fatalf("there is nothing to kill among %v", all)
	}
}

// TestAftermathOfAKilledRun: what a killed run has created is in no state. The
// next one says so, once it has read it, and how to take it over.
func TestAftermathOfAKilledRun(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"new": false, "of an earlier life": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 2*time.Second)
			w := b.workspace("victim", countedSubnets("1"))
			if before {
				b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
				b.tfweaver(w, 0, "destroy", "-auto-approve", "-no-color")
			}
			operations := len(b.log().Operations)
			victim := leased(b, w, "make a subnet")
			b.awaitOf(victim, "the subnet is being written", func(log activity.Log) bool { return len(log.Operations) > operations })
			if err := victim.Kill(); err != nil {
				t.Fatal(err)
			}
			b.wait(victim)
			again := leased(b, w, "try again")
			b.wait(again)
			for _, want := range []string{"exists already: it was created by victim's run (killed)", "in no state"} {
				if !strings.Contains(again.Stderr(), want) {
					t.Errorf("it is not said that %q", want)
				}
			}
			for _, wrong := range []string{"replaced since the plan", "tfweaver resolve", "tfweaver plan"} {
				if strings.Contains(again.Stderr()[:strings.Index(again.Stderr()+"Rules cover", "Rules cover")], wrong) || wrong != "tfweaver resolve" && strings.Contains(again.Stderr(), wrong) {
					t.Errorf("it says %q", wrong)
				}
			}
			b.obey(w, again.Stderr())
			b.unchanged(w)
		})
	}
}

// TestAftermathOfAKilledCLI: tfweaver lives on, sees how the change ends, and says
// that the state knows nothing of it.
func TestAftermathOfAKilledCLI(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 2*time.Second)
	w := b.workspace("victim", countedSubnets("3"))
	victim := leased(b, w, "make subnets")
	sent := b.inProgress(victim)
	b.killBelow(victim, func(p lab.Process) bool { return p.Program == "terraform" })
	b.wait(victim)
	if victim.ExitCode != 128+int(syscall.SIGKILL) {
		t.Errorf("exit code %d", victim.ExitCode)
	}
	if !strings.Contains(victim.Stderr(), address(sent)+" was sent and was created, and is not in the state") {
		t.Errorf("what became of %s is not said", address(sent))
	}
	b.obey(w, victim.Stderr())
	b.terraform(w, 0, "apply", "-auto-approve", "-no-color", "-parallelism=1")
	b.unchanged(w)
	b.clean()
}

// TestAftermathOfAKilledProvider: the changes that it had, and those that it was to
// get, are told one by one.
func TestAftermathOfAKilledProvider(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 2*time.Second)
	w := b.workspace("victim", countedSubnets("3"))
	victim := leased(b, w, "make subnets")
	sent := b.inProgress(victim)
	b.killBelow(victim, func(p lab.Process) bool { return strings.HasPrefix(p.Program, "terraform-provider-") })
	b.wait(victim)
	if victim.ExitCode != 1 {
		t.Errorf("exit code %d", victim.ExitCode)
	}
	for _, name := range []string{"s0", "s1", "s2"} {
		want := address(name) + " was not sent"
		if name == sent {
			want = address(name) + " was sent and was created, and is not in the state"
		}
		if !strings.Contains(victim.Stderr(), want) {
			t.Errorf("it is not said that %s", want)
		}
	}
	report := b.tfweaver(w, 0, "report")
	if !strings.Contains(report.Stdout(), address(sent)) {
		t.Errorf("the report does not name %s", address(sent))
	}
	b.obey(w, victim.Stderr())
	b.terraform(w, 0, "apply", "-auto-approve", "-no-color", "-parallelism=1")
	b.unchanged(w)
	b.clean()
}

// TestAftermathOfAnObjectThatWentAway past everybody, and is in no state: its next
// create is settled by its presence, as that of a new name is.
func TestAftermathOfAnObjectThatWentAway(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 2*time.Second)
	w := b.workspace("victim", subnet("left", "first", 1))
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	other := b.workspace("other", subnet("left", "first", 1))
	b.terraform(other, 0, "import", "simcloud_subnet.first", subnetID("left", "first"))
	b.terraform(other, 0, "destroy", "-auto-approve", "-no-color")
	b.terraform(w, 0, "state", "rm", "simcloud_subnet.first")
	operations := len(b.log().Operations)
	victim := leased(b, w, "make it anew")
	b.awaitOf(victim, "the subnet is being written", func(log activity.Log) bool { return len(log.Operations) > operations })
	b.signal(victim, syscall.SIGINT)
	b.wait(victim)
	status, err := b.Status(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := uncertain(status); n != 0 {
		t.Errorf("%d calls are left uncertain", n)
	}
	b.usable(w)
}
