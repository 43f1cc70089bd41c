// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/zclconf/go-cty/cty"
)

func list(p *lowering.Plan) string {
	var b strings.Builder
	for _, op := range p.Operations() {
		fmt.Fprintf(&b, "%s %s\n", op.Action, op.Address)
	}
	return b.String()
}

func TestOperations(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"create.json": `
create simcloud_network_interface.n[0]
create simcloud_network_interface.n[1]
create simcloud_network_security_group.web
create simcloud_resource_group.net
create simcloud_resource_group.west
create simcloud_subnet.s["a"]
create simcloud_subnet.s["b"]
create simcloud_subnet_network_security_group_association.s["a"]
create simcloud_subnet_network_security_group_association.s["b"]
create simcloud_virtual_network.hub
create terraform_data.dependent
create terraform_data.twin[0]
create terraform_data.twin[1]
`,
		"change.json": `
create simcloud_network_interface.n[0]
delete simcloud_network_interface.n[0]
create simcloud_network_interface.n[1]
delete simcloud_network_interface.n[1]
delete simcloud_network_security_group.web
create simcloud_network_security_group.web
delete simcloud_resource_group.west
update simcloud_subnet.s["a"]
update simcloud_subnet.s["b"]
delete simcloud_subnet_network_security_group_association.s["a"]
create simcloud_subnet_network_security_group_association.s["a"]
delete simcloud_subnet_network_security_group_association.s["b"]
create simcloud_subnet_network_security_group_association.s["b"]
update simcloud_virtual_network.hub
delete terraform_data.dependent
update terraform_data.twin[0]
update terraform_data.twin[1]
`,
		"deposed.json": `
delete module.net["x.y"].simcloud_network_security_group.w (deposed object 59be1a69)
`,
	} {
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), list(read(t, name))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestValuesOfAPlan(t *testing.T) {
	t.Parallel()
	op := find(t, read(t, "change.json"), `simcloud_subnet.s["a"]`, admission.Update)
	group := "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/net-rg"
	want := map[string]cty.Value{
		"id":                   cty.StringVal(group + "/providers/Microsoft.Network/virtualNetworks/hub/subnets/s-a"),
		"name":                 cty.StringVal("s-a"),
		"resource_group_name":  cty.StringVal("net-rg"),
		"virtual_network_name": cty.StringVal("hub"),
		"address_prefix":       cty.StringVal("10.0.1.0/24"),
		"service_endpoints":    cty.SetVal([]cty.Value{cty.StringVal("sql"), cty.StringVal("storage")}),
	}
	if !op.Prior.RawEquals(cty.ObjectVal(want)) {
		t.Errorf("prior = %#v", op.Prior)
	}
	want["service_endpoints"] = cty.SetVal([]cty.Value{cty.StringVal("storage")})
	if !op.Planned.RawEquals(cty.ObjectVal(want)) {
		t.Errorf("planned = %#v", op.Planned)
	}
}

func TestUnknownIsNotNull(t *testing.T) {
	t.Parallel()
	op := find(t, read(t, "create.json"), "simcloud_network_interface.n[0]", admission.Create)
	if v := op.Planned.GetAttr("private_ip_address"); v.IsKnown() {
		t.Errorf("private_ip_address = %#v, want unknown", v)
	}
	if v := op.Planned.GetAttr("public_ip_id"); !v.IsKnown() || !v.IsNull() {
		t.Errorf("public_ip_id = %#v, want null", v)
	}
	if !op.Prior.IsNull() {
		t.Errorf("prior of a create = %#v, want null", op.Prior)
	}
}

// What a plan creates has no id yet; where names decide ids, the references
// between new objects are known all the same.
func TestReferencesToNewObjects(t *testing.T) {
	t.Parallel()
	p := read(t, "create.json")
	group := "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/net-rg/providers/Microsoft.Network/"
	for _, c := range []struct{ address, attribute, want string }{
		{"simcloud_network_interface.n[1]", "subnet_id", group + "virtualNetworks/hub/subnets/s-a"},
		{`simcloud_subnet_network_security_group_association.s["b"]`, "subnet_id", group + "virtualNetworks/hub/subnets/s-b"},
		{`simcloud_subnet_network_security_group_association.s["b"]`, "network_security_group_id", group + "networkSecurityGroups/web"},
	} {
		v := find(t, p, c.address, admission.Create).Planned.GetAttr(c.attribute)
		if !v.IsKnown() || v.AsString() != c.want {
			t.Errorf("%s.%s = %#v, want %s", c.address, c.attribute, v, c.want)
		}
	}
	if v := find(t, p, "terraform_data.dependent", admission.Create).Planned.GetAttr("input"); v.IsKnown() {
		t.Errorf("the input of terraform_data.dependent = %#v; its id follows from no rule", v)
	}
}

func TestConfigOfAnAlias(t *testing.T) {
	t.Parallel()
	p := read(t, "create.json")
	if c := find(t, p, "simcloud_resource_group.west", admission.Create).ProviderConfig; !c.RawEquals(westConfig()) {
		t.Errorf("configuration of the aliased provider = %#v", c)
	}
	if c := find(t, p, "simcloud_resource_group.net", admission.Create).ProviderConfig; !c.RawEquals(mainConfig()) {
		t.Errorf("configuration of the default provider = %#v", c)
	}
	if c := find(t, p, "terraform_data.twin[0]", admission.Create).ProviderConfig; !c.IsNull() {
		t.Errorf("configuration of a provider that was not proxied = %#v, want null", c)
	}
}

func TestSensitivePathsOfAPlan(t *testing.T) {
	t.Parallel()
	src := `{"format_version":"1.2","resource_changes":[{"address":"simcloud_network_security_group.w","mode":"managed",
		"type":"simcloud_network_security_group","provider_name":"registry.terraform.io/tfweaver/simcloud","change":{"actions":["update"],
		"before":{"tags":{"owner":"ops"},"name":"w"},"after":{"tags":{"owner":"ops"},"name":"w"},
		"before_sensitive":{"tags":{"owner":true}},"after_sensitive":{"name":true,"tags":{}}}}]}`
	p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	want := cty.NewPathSet(cty.GetAttrPath("location"), cty.GetAttrPath("tags").GetAttr("owner"), cty.GetAttrPath("name"))
	if got := p.Operations()[0].Sensitive; !got.Equal(want) {
		t.Errorf("sensitive are %#v, want %#v", got.List(), want.List())
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	covers := func(_, resourceType string) bool { return resourceType != "simcloud_subnet" }
	if got := read(t, "create.json").Coverage(covers); got != "8 of 10 resources ruled" {
		t.Errorf("create.json: %s", got)
	}
	if got := read(t, "change.json").Coverage(covers); got != "7 of 9 resources ruled" {
		t.Errorf("change.json: %s", got)
	}
}

func TestBrokenPlans(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"empty":      ``,
		"no object":  `[]`,
		"no version": `{"resource_changes":[]}`,
		"wrong type": `{"format_version":"1.2","resource_changes":[{"address":"simcloud_resource_group.a","mode":"managed","type":"simcloud_resource_group",
			"provider_name":"registry.terraform.io/tfweaver/simcloud","change":{"actions":["delete"],"before":{"name":["secret-text"]}}}]}`,
	} {
		_, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{Schema: schema})
		if !errors.Is(err, lowering.ErrPlan) {
			t.Errorf("%s: error %v, want ErrPlan", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret-text") {
			t.Errorf("%s: the error quotes the plan: %v", name, err)
		}
	}
}

// A configuration that cannot be told from another is not guessed.
func TestConfigsThatAgreeAlike(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/create.json")
	if err != nil {
		t.Fatal(err)
	}
	other := westConfig().AsValueMap()
	other["actor"] = cty.StringVal("bob")
	p, err := lowering.Read(t.Context(), src, lowering.Sources{
		Configs: func(string) []cty.Value { return []cty.Value{westConfig(), cty.ObjectVal(other), mainConfig()} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := find(t, p, "simcloud_resource_group.west", admission.Create).ProviderConfig; !c.IsNull() {
		t.Errorf("configuration = %#v, want null", c)
	}
	if c := find(t, p, "simcloud_resource_group.net", admission.Create).ProviderConfig; !c.RawEquals(mainConfig()) {
		t.Errorf("configuration = %#v, want the only one that agrees", c)
	}
}

// A value that two objects go into is not the id of either.
func TestReferencesToSeveralObjects(t *testing.T) {
	t.Parallel()
	const change = `{"address":"x_y.%[1]s","mode":"managed","type":"x_y","name":"%[1]s","provider_name":"h/n/x",
		"change":{"actions":["create"],"before":null,"after":{"name":"%[1]s"},"after_unknown":{"id":true,"one":true,"two":true}}}`
	src := `{"format_version":"1.2","resource_changes":[` + fmt.Sprintf(change, "a") + "," + fmt.Sprintf(change, "b") + "," + fmt.Sprintf(change, "c") + `],
		"configuration":{"root_module":{"resources":[{"address":"x_y.c","mode":"managed","type":"x_y","name":"c","provider_config_key":"x","expressions":{
		"one":{"references":["x_y.a.id","x_y.a"]},"two":{"references":["x_y.a.id","x_y.a","x_y.b.id","x_y.b"]}}}]}}}`
	p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{
		CloudID: func(op ruleengine.Operation) (string, bool) { return "/" + op.Address, true },
	})
	if err != nil {
		t.Fatal(err)
	}
	planned := find(t, p, "x_y.c", admission.Create).Planned
	if v := planned.GetAttr("one"); !v.IsKnown() || v.AsString() != "/x_y.a" {
		t.Errorf("one = %#v", v)
	}
	if v := planned.GetAttr("two"); v.IsKnown() {
		t.Errorf("two = %#v, want unknown", v)
	}
}

// A plan has changes that send no call: they are left out.
func TestChangesWithoutCalls(t *testing.T) {
	t.Parallel()
	change := func(mode, actions string) string {
		return fmt.Sprintf(`{"address":"x_y.a","mode":%q,"type":"x_y","provider_name":"h/n/x","change":{"actions":[%s],"before":{},"after":{}}}`, mode, actions)
	}
	src := `{"format_version":"1.2","resource_changes":[` + strings.Join([]string{
		change("managed", `"no-op"`), change("data", `"read"`), change("managed", `"forget"`), change("managed", `"create","forget"`),
	}, ",") + `]}`
	p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if got := list(p); got != "create x_y.a\n" {
		t.Errorf("operations: %q", got)
	}
}
