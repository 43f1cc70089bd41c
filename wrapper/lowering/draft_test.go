// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// TestDraft: a plan that was read before anything was known of the providers is
// made again with what is known later, and knows nothing of the calls before.
func TestDraft(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/create.json")
	if err != nil {
		t.Fatal(err)
	}
	var given []cty.Value
	from := lowering.Sources{
		Configs: func(string) []cty.Value { return given },
		CloudID: func(op ruleengine.Operation) (string, bool) { return "/" + op.Address, !op.ProviderConfig.IsNull() },
	}
	draft, err := lowering.ReadDraft(t.Context(), bytes.NewReader(src), from)
	if err != nil {
		t.Fatal(err)
	}
	early := draft.Plan()
	const address = "simcloud_resource_group.west"
	if c := find(t, early, address, admission.Create).ProviderConfig; !c.IsNull() {
		t.Errorf("configuration %#v before any was given", c)
	}
	given = []cty.Value{westConfig(), mainConfig()}
	late := draft.Plan()
	if c := find(t, late, address, admission.Create).ProviderConfig; !c.RawEquals(westConfig()) {
		t.Errorf("configuration %#v, want the one that was given", c)
	}
	whole, err := lowering.ReadFrom(t.Context(), bytes.NewReader(src), from)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range whole.Calls() {
		got := late.Calls()[i]
		if got.ID != want.ID || got.Group != want.Group || !got.Operation.Planned.RawEquals(want.Operation.Planned) {
			t.Errorf("%s: %#v, want %#v", got.ID, got.Operation.Planned, want.Operation.Planned)
		}
	}
	if c := find(t, early, address, admission.Create).ProviderConfig; !c.IsNull() {
		t.Errorf("configuration of the early plan has become %#v", c)
	}
}
