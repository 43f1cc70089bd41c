// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	type answer struct {
		class           string
		definite, known bool
	}
	e := stock(t)
	for name, c := range map[string]struct {
		resourceType string
		texts        []string
		want         answer
	}{
		"a code":                        {"stock_seal", []string{"[FULL] no room"}, answer{"capacity", true, true}},
		"another code of the block":     {"stock_seal", []string{"[OVERLOAD] no room"}, answer{"capacity", true, true}},
		"a code elsewhere":              {"stock_seal", []string{"cannot create [FULL] no room"}, answer{}},
		"a code within another":         {"stock_seal", []string{"[FULLER] no room"}, answer{}},
		"a text":                        {"stock_seal", []string{"busy, try again"}, answer{"in_flight", true, true}},
		"a pattern":                     {"stock_seal", []string{"Time out after 30s"}, answer{"throttle", false, true}},
		"nothing known":                 {"stock_seal", []string{"something else"}, answer{}},
		"no error":                      {"stock_seal", nil, answer{}},
		"an empty error":                {"stock_seal", []string{""}, answer{}},
		"two that had no effect":        {"stock_seal", []string{"[FULL] a", "try again"}, answer{"capacity", true, true}},
		"one that had none, one may":    {"stock_seal", []string{"[FULL] a", "timed out after 3s"}, answer{"capacity", false, true}},
		"the other way round":           {"stock_seal", []string{"timed out after 3s", "[FULL] a"}, answer{"throttle", false, true}},
		"one is not known":              {"stock_seal", []string{"[FULL] a", "something else"}, answer{"capacity", false, true}},
		"the unknown one first":         {"stock_seal", []string{"something else", "[FULL] a"}, answer{"capacity", false, true}},
		"the first block counts":        {"stock_seal", []string{"[FULL] try again"}, answer{"capacity", true, true}},
		"a block of the type":           {"stock_shelf", []string{"being moved"}, answer{"dependency", false, true}},
		"it comes first":                {"stock_shelf", []string{"[FULL] being moved"}, answer{"dependency", false, true}},
		"it replaces that of the pack":  {"stock_shelf", []string{"try again"}, answer{}},
		"other blocks of the pack stay": {"stock_shelf", []string{"[FULL] a"}, answer{"capacity", true, true}},
		"a type without a rule":         {"stock_hat", []string{"[FULL] a"}, answer{"capacity", true, true}},
		"an endless text":               {"stock_seal", []string{strings.Repeat("x", 64<<10) + "try again"}, answer{}},
	} {
		class, definite, known := e.Refusal(stockSource, c.resourceType, c.texts)
		if got := (answer{class, definite, known}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if class, definite, known := e.Refusal(demoSource, "stock_seal", []string{"[FULL] a"}); class != "" || definite || known {
		t.Error("another provider's error is known")
	}
	if _, definite, known := demo(t).Refusal(demoSource, "demo_lid", []string{"[FULL] a"}); definite || known {
		t.Error("a pack without error blocks knows an error")
	}
}

// Blocks with codes of two packs of one provider look for the code as their own
// pack says.
func TestCodesOfTwoPacks(t *testing.T) {
	t.Parallel()
	second := `
pack "more" {
  version    = "1.0.0"
  provider   = "*/example/stock"
  error_code = "code=(?P<code>[A-Z]+)"
  realm {
    namespace = "x:"
    id        = "root"
  }
}
error "short" {
  codes    = ["SHORT"]
  class    = "guard"
  definite = true
}
resource "stock_hat" {
  id = self.id
  parent "realm" {}
}
`
	e, diags := ruleengine.LoadPacks(packFS(stockPack), packFS(second))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for text, known := range map[string]bool{"[FULL] a": true, "code=SHORT": true, "[SHORT] a": false, "code=FULL": false} {
		if _, _, got := e.Refusal(stockSource, "stock_cup", []string{text}); got != known {
			t.Errorf("%s: known %v", text, got)
		}
	}
	if class, _, _ := e.Refusal(stockSource, "stock_hat", []string{"code=SHORT"}); class != "guard" {
		t.Errorf("class %q", class)
	}
	if _, _, known := e.Refusal(stockSource, "stock_hat", []string{"[FULL] a"}); known {
		t.Error("a type's pack speaks for it alone")
	}
}
