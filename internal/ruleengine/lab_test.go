// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
)

// testPack is a pack of a made-up cloud: zones hold shelves, shelves hold
// boxes; tags are known only after create and hang on boxes; clips join boxes
// to lids.
const testPack = `
pack "demo" {
  version   = "1.2.3"
  provider  = "*/example/demo"
  canonical = lower(id)
  locals {
    account = coalesce(provider.account, env("DEMO_ACCOUNT"))
  }
  realm {
    type      = "account"
    namespace = "demo:${local.account}/"
    id        = "root"
    remedy    = "set account"
  }
}

resource "demo_zone" {
  id = self.name
  parent "realm" {
    widen = "slot:zones"
  }
  on "update" {
    writes = "config"
  }
}

resource "demo_shelf" {
  id   = "${self.zone}/${self.name}"
  name = self.name
  parent "demo_zone" {
    id = first_known(try(regex("^[^/]+", id), null), self.zone)
  }
}

resource "demo_box" {
  id   = first_known(self.id, "${self.shelf}/${self.name}")
  name = self.name
  parent "demo_shelf" {
    id = try(regex("^[^/]+/[^/]+", id), self.shelf)
  }
  reference "lid" {
    ids    = self.lids
    type   = "demo_lid"
    kind   = "attaches"
    facets = ["life", "top"]
    why    = "A lid of a box stays on"
    source = "manual"
  }
  on "write" {
    target "shelf" {
      node  = ancestor(1)
      facet = "slot"
      mode  = "X"
      when  = self.heavy == "yes"
      why   = "A heavy box moves its shelf"
    }
    target "zone" {
      node = ancestor(2)
      mode = "S"
      when = self.heavy == "zone"
    }
  }
  on "delete" {
    target "friends" {
      node  = edge("depends", "in")
      facet = "config"
      mode  = "X"
    }
    guard "present" {
      node = realm
    }
  }
  on "read" {
    target "one" {
      node  = singleton(realm)
      facet = "reader"
      mode  = "IS"
    }
  }
}

resource "demo_lid" {
  id = self.name
  parent "realm" {}
}

resource "demo_tag" {
  known_after_create = true
  id                 = self.id
  name               = self.label
  parent "demo_box" {
    id = self.box
  }
}

resource "demo_clip" {
  id = "clip/${self.box}"
  parent "realm" {}
  reference "box" {
    ids  = self.box
    type = "demo_box"
  }
  reference "lid" {
    ids  = self.lid
    type = "demo_lid"
  }
  edge "box_to_lid" {
    from = ref("box")
    to   = ref("lid")
    kind = "routes"
  }
}
`

const demoSource = "registry.terraform.io/example/demo"

func noEnvironment(string) (string, bool) { return "", false }

// demo is an engine with the test pack.
func demo(t testing.TB) *ruleengine.Engine {
	t.Helper()
	e, diags := ruleengine.LoadPacks(packFS(testPack))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return e.WithEnvironment(noEnvironment)
}

func packFS(src string) fstest.MapFS {
	return fstest.MapFS{"demo/pack.hcl": &fstest.MapFile{Data: []byte(src)}}
}

// operation reads an operation of the test pack's provider, in account acme.
func operation(t testing.TB, resourceType, src string) ruleengine.Operation {
	t.Helper()
	if !strings.Contains(src, "provider {") {
		src += "\nprovider {\naccount = \"acme\"\n}\n"
	}
	op, err := ruletest.Parse(src, resourceType, "id", "name", "zone", "shelf", "lids", "heavy", "box", "lid", "label")
	if err != nil {
		t.Fatal(err)
	}
	op.Provider, op.Session, op.Address = demoSource, "s1", resourceType+".x"
	return op
}

// plan lowers an operation to text, in which A stands for the account.
func plan(t testing.TB, op ruleengine.Operation, g ruleengine.Graph) string {
	t.Helper()
	l, err := demo(t).Lower(t.Context(), op, g)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := ruletest.Check(l); wrong != "" {
		t.Errorf("%s %s: %s", op.Action, op.Type, wrong)
	}
	return ruletest.Format(l, strings.NewReplacer("demo:acme/", "A:"))
}

// check compares a plan with the wanted lines.
func check(t *testing.T, got, want string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	if w := strings.Join(lines, "\n") + "\n"; got != w {
		t.Errorf("got:\n%s\nwant:\n%s", got, w)
	}
}
