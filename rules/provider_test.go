// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func text(s string) cty.Value { return cty.StringVal(s) }

// in are attributes of an object in group net, in the north.
func in(name string, more map[string]cty.Value) map[string]cty.Value {
	attrs := map[string]cty.Value{"name": text(name), "resource_group_name": text("net"), "location": text("north")}
	for k, v := range more {
		attrs[k] = v
	}
	return attrs
}

// without leaves an attribute out.
func without(attrs map[string]cty.Value, name string) map[string]cty.Value {
	delete(attrs, name)
	return attrs
}

// settle builds a small town through the provider.
func settle(b *bench) []held {
	b.t.Helper()
	ids := func(id ...string) cty.Value { return list(id) }
	nics := cty.ListVal([]cty.Value{text(nicID + "n")})
	return []held{
		b.create("simcloud_resource_group", map[string]cty.Value{"name": text("net"), "location": text("north")}),
		b.create("simcloud_virtual_network", in("v", map[string]cty.Value{"address_space": cty.ListVal([]cty.Value{text("10.0.0.0/16")})})),
		b.create("simcloud_subnet", without(in("a", map[string]cty.Value{"virtual_network_name": text("v"), "address_prefix": text("10.0.1.0/29")}), "location")),
		b.create("simcloud_public_ip", in("p", nil)),
		b.create("simcloud_network_security_group", in("w", nil)),
		b.create("simcloud_network_security_rule", without(in("r", map[string]cty.Value{
			"network_security_group_name": text("w"), "priority": cty.NumberIntVal(100), "direction": text("Inbound"), "access": text("Allow"), "protocol": text("Tcp"),
			"source_address_prefix": text("*"), "destination_port_range": text("*"),
		}), "location")),
		b.create("simcloud_subnet_network_security_group_association", map[string]cty.Value{"subnet_id": text(networkID + "/subnets/a"), "network_security_group_id": text(nsgID + "w")}),
		b.create("simcloud_network_interface", in("n", map[string]cty.Value{"subnet_id": text(networkID + "/subnets/a")})),
		b.create("simcloud_managed_disk", in("d", map[string]cty.Value{"size_gb": cty.NumberIntVal(1), "max_shares": cty.NumberIntVal(3)})),
		b.create("simcloud_virtual_machine", in("m", map[string]cty.Value{"size": text("Standard_B2s"), "network_interface_ids": nics, "data_disk_ids": ids(diskID + "d")})),
		b.create("simcloud_policy_document", without(in("o", map[string]cty.Value{"statements": cty.ListVal([]cty.Value{text("allow")})}), "location")),
		b.create("simcloud_account_attachment", map[string]cty.Value{"name": text("t"), "target": text("x")}),
		b.create("simcloud_function", in("f", map[string]cty.Value{"runtime": text("go")})),
		b.create("simcloud_function_permission", without(in("q", map[string]cty.Value{"function_name": text("f"), "principal": text("x"), "action": text("invoke")}), "location")),
		b.create("simcloud_quota", map[string]cty.Value{"location": text("north"), "limit": cty.NumberIntVal(10)}),
	}
}

// TestReadBackThroughTheProvider reads an object of every type of the pack back
// by nothing but its node: the provider imports it by the id that the pack gives,
// and what it reads is the same object, at rest, with its buckets.
func TestReadBackThroughTheProvider(t *testing.T) {
	t.Parallel()
	e := load(t)
	b := newBench(t, simcloud.Config{Quotas: map[string]int{"north": 10}})
	covered := map[string]bool{}
	got := map[string]admission.Reading{}
	for _, h := range settle(b) {
		op := ruleengine.Operation{Provider: source, ProviderConfig: b.config, Type: h.resourceType, Sensitive: cty.NewPathSet()}
		self, _, err := e.SelfID(op, h.state)
		if err != nil {
			t.Fatalf("%s: %v", h.resourceType, err)
		}
		target, err := e.ReadBack(source, b.config, graph.Decl{ID: self.ID, Kind: self.Kind, Type: self.Type})
		if err != nil {
			t.Fatalf("%s: %v", h.resourceType, err)
		}
		back := b.imported(target.Type, target.ImportID)
		seen, ok, err := e.See(ruleengine.Object{Provider: source, ProviderConfig: b.config, Type: target.Type, State: back.state, Sensitive: cty.NewPathSet()})
		if err != nil || !ok || seen.Observation.Decl.ID != self.ID || !seen.Terminal || len(seen.Notes) > 0 {
			t.Errorf("%s as %q: ok %v, %v, terminal %v, %+v, notes %q", self.ID, target.ImportID, ok, err, seen.Terminal, seen.Observation.Decl, seen.Notes)
		}
		covered[h.resourceType] = true
		for _, reading := range seen.Readings {
			_, name, _ := admission.NodeOfBucket(reading.Bucket)
			got[h.resourceType+"#"+name] = admission.Reading{Limit: reading.Limit, Use: reading.Use}
		}
	}
	for _, resourceType := range e.Packs()[0].Types {
		if !covered[resourceType] {
			t.Errorf("no %s is read back", resourceType)
		}
	}
	want := map[string]admission.Reading{
		"simcloud_subnet#addresses":   {Limit: escrow.At(3), Use: escrow.At(1)},
		"simcloud_managed_disk#slots": {Limit: escrow.At(3), Use: escrow.At(1)},
		"simcloud_quota#cores":        {Limit: escrow.At(10), Use: escrow.At(2)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
}

// An object that is being made is there and not at rest.
func TestAnOperationInProgressIsSeen(t *testing.T) {
	t.Parallel()
	e := load(t)
	for _, resourceType := range e.Packs()[0].Types {
		for _, s := range []arm.ProvisioningState{arm.Creating, arm.Updating, arm.Deleting, arm.Succeeded, arm.Failed, arm.Canceled} {
			attrs := map[string]cty.Value{"id": text(examples()[resourceType]), "provisioning_state": text(string(s))}
			for _, name := range attributes(resourceType) {
				if _, ok := attrs[name]; !ok {
					attrs[name] = cty.NullVal(cty.String)
				}
			}
			seen, ok, err := e.See(ruleengine.Object{Provider: source, ProviderConfig: config(), Type: resourceType, State: cty.ObjectVal(attrs), Sensitive: cty.NewPathSet()})
			if want := s == arm.Succeeded || s == arm.Failed || s == arm.Canceled; err != nil || !ok || seen.Terminal != want {
				t.Errorf("%s %s: terminal %v, %v, %v", resourceType, s, seen.Terminal, ok, err)
			}
		}
	}
}

// examples are an id of each type.
func examples() map[string]string {
	ids := map[string]string{"simcloud_quota": quotaID + "cores", "simcloud_subnet_network_security_group_association": networkID + "/subnets/a/networkSecurityGroupAssociation"}
	for _, s := range town() {
		if _, ok := ids[s.resourceType]; !ok {
			ids[s.resourceType] = s.path
		}
	}
	return ids
}

// meaning is what the pack makes of the errors of a call.
type meaning struct {
	class           string
	definite, known bool
}

// TestErrorsOfTheProvider makes the provider fail in every way that matters, and
// asks the pack what its errors mean.
func TestErrorsOfTheProvider(t *testing.T) {
	t.Parallel()
	e := load(t)
	b := newBench(t, simcloud.Config{Quotas: map[string]int{"north": 3}})
	all := settle(b)
	byType := map[string]held{}
	for _, h := range all {
		byType[h.resourceType] = h
	}
	nic := func(name, id string) (held, []string) {
		return b.apply(held{resourceType: "simcloud_network_interface"}, in(name, map[string]cty.Value{"subnet_id": text(id)}))
	}
	ask := func(what, resourceType string, errs []string, want meaning) {
		t.Helper()
		class, definite, known := e.Refusal(source, resourceType, errs)
		if got := (meaning{class, definite, known}); len(errs) == 0 || got != want {
			t.Errorf("%s: %+v, want %+v for %q", what, got, want, errs)
		}
	}
	_, errs := nic("n", networkID+"/subnets/a")
	ask("what exists", "simcloud_network_interface", errs, meaning{"name", true, true})
	_, errs = nic("x", networkID+"/subnets/none")
	ask("a missing reference", "simcloud_network_interface", errs, meaning{"dependency", true, true})
	_, errs = b.apply(byType["simcloud_managed_disk"], nil)
	ask("a disk in use", "simcloud_managed_disk", errs, meaning{"dependency", true, true})
	_, errs = b.apply(held{resourceType: "simcloud_virtual_machine"}, in("big", map[string]cty.Value{"size": text("Standard_D16s_v5")}))
	ask("a quota", "simcloud_virtual_machine", errs, meaning{"capacity", true, true})
	for _, name := range []string{"n1", "n2"} {
		if _, errs := nic(name, networkID+"/subnets/a"); len(errs) > 0 {
			t.Fatal(errs)
		}
	}
	_, errs = nic("n3", networkID+"/subnets/a")
	ask("a full subnet", "simcloud_network_interface", errs, meaning{"capacity", true, true})
	_, errs = b.apply(held{resourceType: "simcloud_virtual_network"}, in("u", map[string]cty.Value{"address_space": cty.ListVal([]cty.Value{text("10.0.0.1/16")})}))
	ask("an invalid call", "simcloud_virtual_network", errs, meaning{"", true, true})

	// What was accepted had an effect, whatever code it ends with.
	id := arm.TopID(arm.PublicIPAddress, zero, "net", "late")
	b.cloud.FailNext(id, arm.CodeSubnetIsFull, "no room after all")
	_, errs = b.apply(held{resourceType: "simcloud_public_ip"}, in("late", nil))
	ask("an accepted call", "simcloud_public_ip", errs, meaning{"", false, true})
	b.cloud.FailNext(id, arm.CodeSuperseded, "undone")
	_, errs = b.apply(b.imported("simcloud_public_ip", id.String()), in("late", map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{"a": text("b")})}))
	ask("a superseded call", "simcloud_public_ip", errs, meaning{"in_flight", false, true})

	// Nobody knows what became of a call without an answer.
	for name, lost := range map[string]simcloud.Fault{"unanswered": {DropAnswer: true}, "unheard": {DropRequest: true}} {
		if err := b.cloud.Inject(lost); err != nil {
			t.Fatal(err)
		}
		_, errs = b.apply(held{resourceType: "simcloud_public_ip"}, in(name, nil))
		ask(name, "simcloud_public_ip", errs, meaning{})
	}
}

// said is a diagnostic as the provider writes it for an answer of the cloud.
func said(err *arm.Error, before string) string {
	return fmt.Sprintf("Cannot create simcloud_x: %s\n%s%v\n\nCode: %s\nObject: /x", err.Code, before, err, err.Code)
}

// TestEveryCodeOfTheCloudIsKnown: a refusal with any code of the cloud is
// definite; the same code at the end of an operation, on a server's failure or
// after an attempt that may have got through is not.
func TestEveryCodeOfTheCloudIsKnown(t *testing.T) {
	t.Parallel()
	e := load(t)
	refusal := func(text string) meaning {
		class, definite, known := e.Refusal(source, "simcloud_subnet", []string{text})
		return meaning{class, definite, known}
	}
	codes := codesOfTheCloud(t)
	if len(codes) < 30 {
		t.Fatalf("only %d codes", len(codes))
	}
	for _, code := range codes {
		// No answer with a status below 500 has one of these.
		never := code == arm.CodeInternal || code == arm.CodeSuperseded || code == arm.CodeRequestDropped
		err := &arm.Error{HTTPStatus: http.StatusConflict, Code: code, Message: "so it is", Target: "/x"}
		if got := refusal(said(err, "")); got.definite == never || got.known == never {
			t.Errorf("%s refused: %+v", code, got)
		}
		for _, before := range []string{"operation 1 on /x was accepted, then: ", "operation 1 on /x was accepted, then: poll: ", "context canceled while waiting to send again after: "} {
			if got := refusal(said(err, before)); got.definite {
				t.Errorf("%s%s: %+v", before, code, got)
			}
		}
		err.HTTPStatus = http.StatusInternalServerError
		if got := refusal(said(err, "")); got.definite {
			t.Errorf("%s with status 500: %+v", code, got)
		}
		err.HTTPStatus = 0
		if got := refusal(said(err, "")); got.definite {
			t.Errorf("%s without a status: %+v", code, got)
		}
		lie := &arm.Error{HTTPStatus: http.StatusBadGateway, Code: "BadGateway", Message: "about " + said(&arm.Error{HTTPStatus: http.StatusConflict, Code: code}, ""), Target: "/x"}
		if got := refusal(said(lie, "")); got.definite {
			t.Errorf("%s quoted by another error: %+v", code, got)
		}
	}
}

// codesOfTheCloud are the error codes that the cloud's sources define.
func codesOfTheCloud(t *testing.T) []arm.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/simcloud/arm/error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []arm.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		if text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value); err == nil {
			codes = append(codes, arm.Code(text))
		}
		return true
	})
	return codes
}
