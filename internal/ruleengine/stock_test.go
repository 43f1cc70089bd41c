// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
	"github.com/zclconf/go-cty/cty"
)

// stockPack is a pack about what there is how much of: boxes stand on shelves,
// weigh on the floor of their room, and are shut with seals. Labels are guessed
// at: their rules have low confidence.
const stockPack = `
pack "stock" {
  version    = "1.0.0"
  provider   = "*/example/stock"
  canonical  = lower(id)
  lands      = "3s"
  timeout    = "10m"
  terminal   = contains(["ready", "broken"], self.state)
  error_code = "^\\[(?P<code>[A-Z]+)\\] "
  realm {
    namespace = "stock:${provider.account}/"
    id        = "root"
  }
}

table "sizes" {
  rows = {
    small = { weight = 1, kind = "light" }
    large = { weight = 8, kind = "heavy" }
  }
}

error "full" {
  codes    = ["FULL", "OVERLOAD"]
  class    = "capacity"
  definite = true
}

error "busy" {
  match    = ["try again", "being moved"]
  class    = "in_flight"
  definite = true
}

error "late" {
  regex    = ["(?i)timed? ?out after [0-9]+s"]
  class    = "throttle"
  definite = false
}

resource "stock_floor" {
  id = self.id
  parent "realm" {}
  bucket "weight" {
    limit = self.limit
    use   = self.used
    why   = "A floor bears so much"
  }
  terminal = true
  timeout  = "1h"
}

resource "stock_shelf" {
  id = self.id
  parent "realm" {}
  import_id = "shelf:${upper(id)}"
  volatile  = ["boxes"]
  lands     = "1m"
  bucket "places" {
    limit = self.places
    use   = length(self.boxes)
  }
  bucket "labels" {
    limit = 2
  }
  error "busy" {
    match    = ["being moved"]
    class    = "dependency"
    definite = false
  }
}

resource "stock_seal" {
  id = self.id
  parent "realm" {}
  import_id = null
  bucket "uses" {
    use = self.used
  }
}

resource "stock_box" {
  id   = first_known(self.id, "${self.shelf}/${self.name}")
  name = self.name
  parent "stock_shelf" {
    id = try(regex("^[^/]+", id), self.shelf)
  }
  reference "seal" {
    ids  = self.seals
    type = "stock_seal"
  }
  consumes "floor" {
    of     = object("stock_floor", "floor-${self.room}")
    bucket = "weight"
    amount = table.sizes[self.size].weight
    why    = "A box weighs on the floor of its room"
    source = "scale"
  }
  consumes "kind" {
    of     = object("stock_floor", ["floor-${self.room}-${table.sizes[self.size].kind}"])
    bucket = "weight"
    amount = table.sizes[self.size].weight
  }
  consumes "places" {
    of     = parent
    amount = 1
  }
  consumes "seal" {
    of     = ref("seal")
    bucket = "uses"
    amount = self.turns
  }
}

resource "stock_label" {
  id = self.id
  parent "realm" {}
  reference "shelf" {
    ids        = self.shelf
    type       = "stock_shelf"
    confidence = "low"
  }
  consumes "label" {
    of         = ref("shelf")
    bucket     = "labels"
    amount     = 1
    confidence = "low"
  }
  on "write" {
    target "shelf" {
      node       = ref("shelf")
      facet      = "front"
      mode       = "X"
      confidence = "low"
    }
    target "wall" {
      node       = realm
      facet      = "wall"
      mode       = "IS"
      confidence = "high"
    }
    target "near" {
      node       = edge("depends", "in", ref("shelf"))
      mode       = "S"
      confidence = "low"
    }
    guard "present" {
      node       = realm
      confidence = "low"
    }
  }
}
`

const stockSource = "registry.terraform.io/example/stock"

func stock(t testing.TB) *ruleengine.Engine {
	t.Helper()
	e, diags := ruleengine.LoadPacks(packFS(stockPack))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return e.WithEnvironment(noEnvironment)
}

// stockOperation reads an operation of the pack's provider, in account acme.
func stockOperation(t testing.TB, resourceType, src string) ruleengine.Operation {
	t.Helper()
	op, err := ruletest.Parse(src, resourceType, "id", "name", "shelf", "room", "size", "seals", "turns", "state", "limit", "used", "places", "boxes")
	if err != nil {
		t.Fatal(err)
	}
	op.Provider, op.Session, op.Address = stockSource, "s1", resourceType+".x"
	op.ProviderConfig = cty.ObjectVal(map[string]cty.Value{"account": cty.StringVal("acme")})
	return op
}

// stockPlan lowers an operation; of its text only the lines that begin with one
// of some words are kept. A stands for the account.
func stockPlan(t testing.TB, op ruleengine.Operation, g ruleengine.Graph, kept ...string) string {
	t.Helper()
	l, err := stock(t).Lower(t.Context(), op, g)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := ruletest.Check(l); wrong != "" {
		t.Errorf("%s %s: %s", op.Action, op.Type, wrong)
	}
	var b strings.Builder
	for line := range strings.Lines(ruletest.Format(l, strings.NewReplacer("stock:acme/", "A:", "stock/stock_", ""))) {
		for _, word := range kept {
			if strings.HasPrefix(line, word) {
				b.WriteString(line)
				break
			}
		}
	}
	return b.String()
}
