// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// epoch is when virtual time starts.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	groupPath  = "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/g"
	netPath    = groupPath + "/providers/Microsoft.Network/virtualNetworks/v"
	subnetPath = netPath + "/subnets/"
	nicPath    = groupPath + "/providers/Microsoft.Network/networkInterfaces/"
	pipPath    = groupPath + "/providers/Microsoft.Network/publicIPAddresses/"
	nsgPath    = groupPath + "/providers/Microsoft.Network/networkSecurityGroups/"

	diskPath       = groupPath + "/providers/Microsoft.Compute/disks/"
	vmPath         = groupPath + "/providers/Microsoft.Compute/virtualMachines/"
	policyPath     = groupPath + "/providers/Microsoft.Authorization/policyDocuments/"
	functionPath   = groupPath + "/providers/Microsoft.Web/functions/"
	attachmentPath = "/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Management/attachments/"
)

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// lab is a cloud in virtual time.
type lab struct {
	t     fataler
	clock *simcloud.VirtualClock
	cloud *simcloud.Cloud
}

func newLab(t fataler, cfg simcloud.Config) *lab {
	t.Helper()
	clock := simcloud.NewVirtualClock(epoch)
	cfg.Clock = clock
	cloud, err := simcloud.New(cfg)
	if err != nil {
		t.Fatalf("new cloud: %v", err)
	}
	return &lab{t, clock, cloud}
}

func encode(t fataler, r arm.Resource) []byte {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return body
}

// put sends a PUT and returns the id of the operation, or the refusal.
func (l *lab) put(path string, r arm.Resource) (string, *arm.Error) {
	l.t.Helper()
	return l.call(simcloud.Call{Method: "PUT", Path: path, Body: encode(l.t, r)})
}

func (l *lab) call(call simcloud.Call) (string, *arm.Error) {
	if call.Actor == "" {
		call.Actor = "a"
	}
	accepted, refusal := l.cloud.Write(call)
	return accepted.OperationID, refusal
}

func (l *lab) delete(path string) (string, *arm.Error) {
	return l.call(simcloud.Call{Method: "DELETE", Path: path})
}

// must fails the test if a call was refused and returns its operation.
func (l *lab) must(op string, refusal *arm.Error) string {
	l.t.Helper()
	if refusal != nil {
		l.t.Fatalf("refused: %v", refusal)
	}
	return op
}

// refused checks that a call was refused with a status and a code.
func (l *lab) refused(status int, code arm.Code) func(string, *arm.Error) {
	return func(_ string, refusal *arm.Error) {
		l.t.Helper()
		switch {
		case refusal == nil:
			l.t.Errorf("accepted; want %d %s", status, code)
		case refusal.Code != code || refusal.HTTPStatus != status:
			l.t.Errorf("refused with %v; want %d %s", refusal, status, code)
		}
	}
}

// busy checks that a call was refused because an operation is in flight.
func (l *lab) busy(op string, refusal *arm.Error) {
	l.t.Helper()
	l.refused(409, arm.CodeAnotherOperationInProgress)(op, refusal)
}

// settle runs all operations to their ends.
func (l *lab) settle() {
	for l.clock.Step() {
	}
}

// built sends PUTs one after another, each to its end.
func (l *lab) built(things ...thing) {
	l.t.Helper()
	for _, th := range things {
		l.must(l.call(simcloud.Call{Method: "PUT", Path: th.path, Body: encode(l.t, th.r), IfMatch: l.ruleToken(th.path)}))
		l.settle()
	}
}

// ruleToken is the change token a write of a rule or of a policy document needs,
// empty for other paths and for a document that is not there.
func (l *lab) ruleToken(path string) string {
	holder, _, isRule := strings.Cut(path, "/securityRules/")
	if !isRule && !strings.HasPrefix(path, policyPath) {
		return ""
	}
	r, refusal := l.cloud.Read(simcloud.Call{Method: "GET", Path: holder})
	if refusal != nil && isRule {
		l.t.Fatalf("read: %v", refusal)
	}
	return r.Etag
}

func (l *lab) get(path string) arm.Resource {
	l.t.Helper()
	r, refusal := l.cloud.Read(simcloud.Call{Method: "GET", Path: path})
	if refusal != nil {
		l.t.Fatalf("read: %v", refusal)
	}
	return r
}

func (l *lab) gone(path string) {
	l.t.Helper()
	if r, refusal := l.cloud.Read(simcloud.Call{Method: "GET", Path: path}); refusal == nil {
		l.t.Errorf("%s is there: %+v", path, r)
	}
}

func (l *lab) state(path string, want arm.ProvisioningState) {
	l.t.Helper()
	if got := l.get(path).Properties.ProvisioningState; got != want {
		l.t.Errorf("%s is %s; want %s", path, got, want)
	}
}

// outcome checks how an operation ended.
func (l *lab) outcome(op, status string, code arm.Code) {
	l.t.Helper()
	got, refusal := l.cloud.Operation(op)
	if refusal != nil {
		l.t.Fatalf("operation: %v", refusal)
	}
	var gotCode arm.Code
	if got.Error != nil {
		gotCode = got.Error.Code
	}
	if got.Status != status || gotCode != code {
		l.t.Errorf("operation is %s %q; want %s %q", got.Status, gotCode, status, code)
	}
}

func (l *lab) log() activity.Log {
	l.t.Helper()
	log, err := activity.Pair(l.cloud.Events())
	if err != nil {
		l.t.Fatalf("log: %v", err)
	}
	return log
}

// thing is an object to put.
type thing struct {
	path string
	r    arm.Resource
}

func group() thing { return thing{groupPath, arm.Resource{Location: "north"}} }

func network(prefixes ...string) thing {
	if len(prefixes) == 0 {
		prefixes = []string{"10.0.0.0/16"}
	}
	return thing{netPath, arm.Resource{Location: "north", Properties: arm.Properties{AddressSpace: &arm.AddressSpace{AddressPrefixes: prefixes}}}}
}

func subnet(name, prefix string) thing {
	return thing{subnetPath + name, arm.Resource{Properties: arm.Properties{AddressPrefix: prefix}}}
}

// guarded is a subnet with a security group.
func guarded(th thing, nsg string) thing {
	th.r.Properties.NetworkSecurityGroup = arm.NewReference(nsgPath + nsg)
	return th
}

func nic(name, subnet string) thing {
	return thing{nicPath + name, arm.Resource{Location: "north", Properties: arm.Properties{Subnet: arm.NewReference(subnetPath + subnet)}}}
}

func pip(name string) thing { return thing{pipPath + name, arm.Resource{Location: "north"}} }

func nsg(name string) thing { return thing{nsgPath + name, arm.Resource{Location: "north"}} }

func rule(group, name string, priority int) thing {
	return thing{nsgPath + group + "/securityRules/" + name, arm.Resource{Properties: arm.Properties{Priority: priority, Direction: "Inbound", Access: "Allow", Protocol: "*"}}}
}

func disk(name string, shares int) thing {
	return thing{diskPath + name, arm.Resource{Location: "north", Properties: arm.Properties{DiskSizeGB: 8, MaxShares: shares}}}
}

// vm is a virtual machine with data disks.
func vm(name, size string, disks ...string) thing {
	th := thing{vmPath + name, arm.Resource{Location: "north", Properties: arm.Properties{VMSize: size}}}
	for _, d := range disks {
		th.r.Properties.DataDisks = append(th.r.Properties.DataDisks, arm.Reference{ID: diskPath + d})
	}
	return th
}

// wired is a virtual machine with an interface.
func wired(th thing, nics ...string) thing {
	for _, n := range nics {
		th.r.Properties.NetworkInterfaces = append(th.r.Properties.NetworkInterfaces, arm.Reference{ID: nicPath + n})
	}
	return th
}

func policy(name string, statements ...string) thing {
	return thing{policyPath + name, arm.Resource{Properties: arm.Properties{Statements: statements}}}
}

func attachment(name string) thing {
	return thing{attachmentPath + name, arm.Resource{Properties: arm.Properties{Target: "t"}}}
}

func function(name string) thing {
	return thing{functionPath + name, arm.Resource{Location: "north", Properties: arm.Properties{Runtime: "go"}}}
}

func permission(in, name string) thing {
	return thing{functionPath + in + "/permissions/" + name, arm.Resource{Properties: arm.Properties{Principal: "p", Action: "invoke"}}}
}

func (l *lab) send(th thing) (string, *arm.Error) {
	l.t.Helper()
	return l.put(th.path, th.r)
}
