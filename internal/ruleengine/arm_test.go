// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// value evaluates an expression over self by way of a rule whose id it is. The
// result is the id, "unknown", or "error: " and the reason.
func value(t *testing.T, expression, self string) string {
	t.Helper()
	src := head + "resource \"demo_thing\" {\n  id = " + expression + "\n  parent \"realm\" {}\n}\n"
	e, diags := ruleengine.LoadPacks(packFS(src))
	if diags.HasErrors() {
		return "error: " + diags[0].Detail
	}
	l, err := e.Lower(t.Context(), operation(t, "demo_thing", "planned {\n"+self+"\n}"), nil)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case l.Request.Nodes[len(l.Request.Nodes)-1].Kind == graph.Pending:
		return "unknown"
	default:
		return strings.TrimPrefix(string(l.Request.Self), "p:")
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	const subnet = "/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/N"
	for _, c := range []struct{ expression, self, want string }{
		{`arm_id("S")`, ``, "/subscriptions/S"},
		{`arm_id("S", "G")`, ``, "/subscriptions/S/resourceGroups/G"},
		{`arm_id("S", "G", "Microsoft.Network/virtualNetworks", "V", "subnets", self.name)`, `name = "N"`, subnet},
		{`arm_id("S", self.name)`, `name = unknown`, "unknown"},
		{`arm_id("S", self.name)`, `name = null`, "error: argument must not be null"},
		{`arm_id("S", self.name)`, `name = "a/b"`, `error: the name "a/b" has a slash in it`},
		{`arm_id("S", self.name)`, `name = ""`, "error: a part of an id is empty"},
		{`arm_id()`, ``, "error: arm_id takes"},

		{`arm_parent(self.name)`, `name = "` + subnet + `"`, subnet[:strings.Index(subnet, "/subnets")]},
		{`arm_parent(arm_parent(self.name))`, `name = "` + subnet + `"`, "/subscriptions/S/resourceGroups/G"},
		{`arm_parent(arm_parent(arm_parent(self.name)))`, `name = "` + subnet + `"`, "/subscriptions/S"},
		{`arm_parent(self.name)`, `name = "/subscriptions/S"`, "error: nothing contains the id"},
		{`arm_parent(self.name)`, `name = "subnet-1"`, "error: not a resource id"},
		{`arm_parent(self.name)`, `name = unknown`, "unknown"},

		{`arm_scope(self.name, "virtualnetworks")`, `name = "` + subnet + `"`, subnet[:strings.Index(subnet, "/subnets")]},
		{`arm_scope(self.name, "disks")`, `name = "` + subnet + `"`, `error: the id has no segment "disks"`},
		{`arm_scope(arm_id("S", "G", "Microsoft.Network/virtualNetworks", "V", "subnets", self.name), "virtualNetworks")`, `name = unknown`, subnet[:strings.Index(subnet, "/subnets")]},
		{`arm_scope(arm_id("S", "G", "Microsoft.Network/virtualNetworks", self.name, "subnets", "N"), "resourceGroups")`, `name = unknown`, "/subscriptions/S/resourceGroups/G"},
		{`arm_scope(arm_id("S", "G", "Microsoft.Network/virtualNetworks", self.name), "virtualNetworks")`, `name = unknown`, "unknown"},
		{`arm_scope(arm_scope(arm_id("S", "G", "Microsoft.Network/virtualNetworks", self.name), "virtualNetworks"), "resourceGroups")`, `name = unknown`, "/subscriptions/S/resourceGroups/G"},
		{`arm_scope(self.name, "resourceGroups")`, `name = unknown`, "unknown"},
		// What is known of the group's name is not its name.
		{`arm_scope("/subscriptions/S/resourceGroups/pre-${self.name}", "resourceGroups")`, `name = unknown`, "unknown"},
		// A group called like a segment does not confuse it.
		{`arm_scope(arm_id("S", "subnets", "Microsoft.Network/virtualNetworks", "V", "subnets", "N"), "subnets")`, ``, "/subscriptions/S/resourceGroups/subnets/providers/Microsoft.Network/virtualNetworks/V/subnets/N"},

		{`segment(self.name, "virtualNetworks")`, `name = "` + subnet + `"`, "V"},
		{`segment(self.name, "disks")`, `name = "` + subnet + `"`, `error: the id has no segment`},
		{`segment(self.name, "subnets")`, `name = unknown`, "unknown"},

		{`authority(self.name)`, `name = "HTTP://Cloud.Example/path"`, "cloud.example:80"},
		{`authority(self.name)`, `name = "https://cloud.example"`, "cloud.example:443"},
		{`authority(self.name)`, `name = "http://localhost:8080"`, "127.0.0.1:8080"},
		{`authority(self.name)`, `name = "http://[::1]:8080"`, "[::1]:8080"},
		{`authority(self.name)`, `name = "http://[::ffff:127.0.0.1]:8080"`, "127.0.0.1:8080"},
		{`authority(self.name)`, `name = "http://[::FFFF:7f00:1]:8080"`, "127.0.0.1:8080"},
		{`authority(self.name)`, `name = "http://[0:0:0:0:0:0:0:1]:8080"`, "[::1]:8080"},
		{`authority(self.name)`, `name = "http://Localhost.:8080"`, "127.0.0.1:8080"},
		{`authority(self.name)`, `name = "https://cloud.example.:443/"`, "cloud.example:443"},
		{`authority(self.name)`, `name = "https://cloud.example:0443"`, "cloud.example:443"},
		{`authority(self.name)`, `name = "HTTP://cloud.example:"`, "cloud.example:80"},
		{`authority(self.name)`, `name = "http://[::ffff:10.0.0.1]"`, "10.0.0.1:80"},
		{`authority(self.name)`, `name = "http://.:80"`, "error: not a URL with a host"},
		{`authority(self.name)`, `name = "unix:///run/cloud.sock"`, "unix:/run/cloud.sock"},
		{`authority(self.name)`, `name = "UNIX:///run//cloud.sock"`, "unix:/run/cloud.sock"},
		{`authority(self.name)`, `name = "http://user:hunter2@:80"`, "error: not a URL with a host"},

		{`first_known(self.name, "x")`, `name = unknown`, "x"},
		{`first_known(self.name, "x")`, `name = null`, "x"},
		{`first_known(self.name, "x")`, `name = "n"`, "n"},
		{`first_known("n", arm_id("S", self.name))`, `name = null`, "n"},
		{`first_known(self.name, arm_id("S", self.name))`, `name = null`, "error: "},
		{`first_known(self.name, self.label)`, "name = unknown\nlabel = null", "unknown"},

		{`startswith(self.name, "a") ? "yes" : "no"`, `name = "ab"`, "yes"},
		{`endswith(self.name, "a") ? "yes" : "no"`, `name = "ab"`, "no"},
		{`join("-", sort(concat(["b"], [self.name])))`, `name = "a"`, "a-b"},
		{`try(self.missing, "none")`, ``, "none"},
		{`can(self.missing) ? "yes" : "no"`, ``, "no"},
		{`format("%s/%03d", upper(self.name), 7)`, `name = "a"`, "A/007"},
		{`regex("^[^:]+", self.name)`, `name = "arn:x"`, "arn"},
		{`replace(trimprefix(self.name, "x"), "b", "c")`, `name = "xabc"`, "acc"},
		{`coalesce(self.name, "x")`, `name = unknown`, "unknown"},
	} {
		got := value(t, c.expression, c.self)
		if got != c.want && !(strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, "error: ") && strings.Contains(got, strings.TrimPrefix(c.want, "error: "))) {
			t.Errorf("%s with %s = %s, want %s", c.expression, c.self, got, c.want)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("%s repeats a password: %s", c.expression, got)
		}
	}
}

func TestFirstKnownPassesOverSecrets(t *testing.T) {
	t.Parallel()
	const secret = "name = \"hunter2\"\n}\nsensitive = [\"name\"]\nprovider {"
	if got := value(t, `first_known(self.name, "x")`, secret); got != "x" {
		t.Errorf("id = %s", got)
	}
	if got := value(t, `first_known(self.name)`, secret); got != "unknown" {
		t.Errorf("id = %s", got)
	}
}
