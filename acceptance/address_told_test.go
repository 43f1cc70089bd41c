// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// oddKeys are instances whose addresses are hard to write, and twins that nobody
// can tell apart.
const oddKeys = `
resource "FX_thing" "e" {
  for_each = toset(["a\"b", "ü.ж"])
  name     = "e-${md5(each.key)}"
}

resource "FX_account" "twin" {
  count = 2
}
`

// halved is replaced by one that cannot be made.
const halved = `
resource "FX_thing" "half" {
  for_each = toset(["h 1"])
  name     = "half"
  kind     = "new"
  fault    = "error"
}
`

const whole = `
resource "FX_thing" "half" {
  for_each = toset(["h 1"])
  name     = "half"
}
`

// crashing loses its provider, and stands in the way of the other one then.
const crashing = `
resource "FX_thing" "crash" {
  for_each = toset(["c'1"])
  name     = "crash"
  fault    = "crash"
  hold     = "HOLD"
}

resource "FX_thing" "next" {
  name       = "next"
  depends_on = [terraform_data.before]
}

# By then the other one is under way.
resource "terraform_data" "before" {
  provisioner "local-exec" {
    command = "sleep 1"
  }
}
`

// TestAddressesOfWaitingChanges: who waits is named when the wait begins, when it
// ends, and in the summary; and so it is by the commands that others ask with.
func TestAddressesOfWaitingChanges(t *testing.T) {
	t.Parallel()
	a := newAddresses(t, "six")
	one, two := a.of("bob", oddKeys, nil), a.of("carol", strings.ReplaceAll(oddKeys, "e-", "c-"), nil)
	holder := a.hold()
	people := a.start(woven, one, "apply", "-auto-approve", "-no-color")
	programs := a.start(woven, two, "apply", "-auto-approve", "-json")
	var queued []string
	err := a.AwaitStatus(a.ctx, "eight changes wait", func(s lab.Status) bool {
		queued = nil
		for _, tx := range s.Transactions {
			if tx.Status == "queued" && tx.Action == "create" {
				queued = append(queued, tx.Address)
			}
		}
		return len(queued) == 8
	})
	if err != nil {
		t.Fatal(err)
	}
	twins := "one of six_account.twin[0], six_account.twin[1]"
	addresses := []string{twins, `six_thing.e["a\"b"]`, `six_thing.e["ü.ж"]`}
	slices.Sort(queued)
	if diff := cmp.Diff(addresses, oneEach(queued)); diff != "" {
		t.Errorf("waiting by the status (-want +got):\n%s", diff)
	}
	status, locks := a.tfweaver(one, 0, "status").Stdout(), a.tfweaver(one, 0, "locks").Stdout()
	says(t, "locks", locks, `six_thing\.blocker`)
	id := a.firstWaiting()
	why := a.tfweaver(one, 0, "why", id).Stdout()
	if !slices.ContainsFunc(addresses, func(address string) bool { return strings.Contains(unwrapped(why), address) }) {
		t.Errorf("tfweaver why %s names no address:\n%s", id, why)
	}
	time.Sleep(1500 * time.Millisecond) // shorter waits are told together
	a.letGo(holder)
	a.wait(people, programs)
	a.succeeded(people, programs)
	report := a.tfweaver(one, 0, "report").Stdout()
	for _, address := range addresses {
		quoted := regexp.QuoteMeta(address)
		says(t, "tfweaver status", status, "create "+quoted)
		says(t, "tfweaver report", report, "create "+quoted)
		says(t, "who waits", people.Stderr(), quoted+" waits: ", quoted+": Going on after", quoted+` waited \d+s for`)
	}
	if diff := cmp.Diff(addresses, addressesIn(t, programs, lab.LineAdmitted)); diff != "" {
		t.Errorf("who goes on (-want +got):\n%s", diff)
	}
	// What is foreseen is told of each change of the plan.
	waits := []string{twins, "six_account.twin[0]", "six_account.twin[1]", addresses[1], addresses[2]}
	if diff := cmp.Diff(waits, addressesIn(t, programs, lab.LineWait)); diff != "" {
		t.Errorf("who waits (-want +got):\n%s", diff)
	}
	a.terraform(one, 0, "plan", "-detailed-exitcode", "-no-color")
}

func oneEach(list []string) []string { return slices.Compact(slices.Clone(list)) }

// TestAddressesOfWhatIsLeftOver: a replace that stopped half-way, and a call whose
// outcome nobody knows, are named by their addresses at the end, and when somebody
// asks later. What waits for the latter in the same run gives up in the end.
func TestAddressesOfWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	a := newAddresses(t, "six")
	hold := filepath.Join(a.TempDir(), "crash")
	w, other := a.of("bob", whole, nil), a.of("carol", strings.ReplaceAll(crashing, "HOLD", hold), nil)
	a.terraform(w, 0, "apply", "-auto-approve", "-no-color")
	a.configure(w, halved)
	half := a.tfweaver(w, 1, "apply", "-auto-approve", "-no-color")
	says(t, "the summary", half.Stderr(), regexp.QuoteMeta(`six_thing.half["h 1"]`)+" is half replaced: its delete succeeded and its create did not")
	run := a.start(woven, other, "apply", "-auto-approve", "-no-color", "-weaver-wait=2s")
	a.firstWaiting() // behind the one that will crash
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.wait(run)
	crash := regexp.QuoteMeta(`six_thing.crash["c'1"]`)
	says(t, "the summary", run.Stderr(), crash+" was sent, and its outcome is unknown", `six_thing\.next was refused after waiting 2s`)
	says(t, "tfweaver status", a.tfweaver(other, 0, "status").Stdout(), crash)
}

// TestAddressesOfTests: what "terraform test" does is known by no plan. Its calls
// are told apart by their values, and those do not pass for addresses.
func TestAddressesOfTests(t *testing.T) {
	t.Parallel()
	a := newAddresses(t, "six")
	w := a.of("bob", "resource \"FX_thing\" \"t\" {\n  name = \"tested\"\n}\n", map[string]string{
		"tests/one.tftest.hcl": "run \"one\" {\n  assert {\n    condition     = FX_thing.t.size == null\n    error_message = \"size\"\n  }\n}\n",
	})
	holder := a.hold()
	run := a.start(woven, w, "test", "-no-color")
	a.firstWaiting()
	a.letGo(holder)
	a.wait(run)
	a.succeeded(run)
	says(t, "the test", run.Stderr(), `a six_thing \(name "tested"\) waits: `, `a six_thing \(name "tested"\): Going on after`)
	if strings.Contains(run.Stderr(), "six_thing.t") {
		t.Error("an address is told that nobody can know")
	}
}

// TestNothingIsToldOfCommandsThatChangeNothing: while somebody is in the way of
// every change, who only reads is not held up, and tfweaver says nothing.
func TestNothingIsToldOfCommandsThatChangeNothing(t *testing.T) {
	t.Parallel()
	a := newAddresses(t, "six")
	maker := a.of("maker", "resource \"FX_thing\" \"found\" {\n  name = \"found\"\n}\n", nil)
	a.terraform(maker, 0, "apply", "-auto-approve", "-no-color")
	w := a.of("bob", "resource \"FX_thing\" \"imported\" {\n  name = \"found\"\n}\n", nil)
	a.hold()
	for _, args := range [][]string{{"import", "-no-color", "six_thing.imported", "nowhere/found"}, {"refresh", "-no-color"}, {"plan", "-no-color"}} {
		for line := range strings.Lines(a.tfweaver(w, 0, args...).Stderr()) {
			if !strings.HasSuffix(strings.TrimSpace(line), " elapsed]") { // that it is still at it
				t.Errorf("%s: %s", args[0], line)
			}
		}
	}
	var state struct {
		Resources []struct{ Type string }
	}
	if err := json.Unmarshal([]byte(a.terraform(w, 0, "state", "pull").Stdout()), &state); err != nil || len(state.Resources) != 1 {
		t.Errorf("in the state: %+v, %v", state, err)
	}
}
