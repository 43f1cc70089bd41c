// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// The files in testdata/order were written by Terraform 1.11.4 and OpenTofu
// 1.12.6 for the same configurations, with "show -json PLANFILE" and "graph
// -type=apply -plan=PLANFILE". They use the built-in provider alone. The orders
// wanted stand beside them and are the same for both.

// recorded is a plan of testdata/order and what the CLI said of its order.
func recorded(t *testing.T, name string) (*lowering.Plan, []byte) {
	t.Helper()
	file := filepath.Join("testdata", "order", name)
	plan, err := os.ReadFile(file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := lowering.Read(t.Context(), plan, lowering.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	dot, err := os.ReadFile(file + ".dot")
	if err != nil {
		t.Fatal(err)
	}
	return p, dot
}

// describe writes an order with the calls in the order of their ids.
func describe(p *lowering.Plan, o lowering.Order) string {
	var lines []string
	for _, c := range p.Calls() {
		line := string(c.ID)
		for _, before := range o.After(c.ID) {
			line += "\n\tafter " + string(before)
		}
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// bothProducts runs a test on what either CLI said.
func bothProducts(t *testing.T, name string, test func(t *testing.T, p *lowering.Plan, dot []byte)) {
	for _, product := range []string{"terraform", "tofu"} {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			p, dot := recorded(t, name+"."+product)
			test(t, p, dot)
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{
		"mixed": "The child goes before its parent and comes after it, though a local value stands between them. " +
			"What \"top\" asks for holds for \"base\" too: both are made before either goes, and \"user\" changes in between.",
		"deposed": "\"swap\" has a deposed object already and gets another one.",
		"destroy": "Everything goes, what others need last.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata", "order", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			bothProducts(t, name, func(t *testing.T, p *lowering.Plan, dot []byte) {
				o := p.Order(bytes.NewReader(dot))
				if !o.Complete || o.Why != "" {
					t.Fatalf("the order is not complete: %q", o.Why)
				}
				if diff := cmp.Diff(string(want), describe(p, o)); diff != "" {
					t.Errorf("%s\norder (-want +got):\n%s", why, diff)
				}
			})
		})
	}
}

// A call that is left out passes on what it waits for.
func TestOrderAmongSomeCalls(t *testing.T) {
	t.Parallel()
	p, dot := recorded(t, "mixed.terraform")
	o := p.Order(bytes.NewReader(dot)).Among(func(id admission.CallID) bool {
		return strings.Contains(string(id), ".child") || strings.Contains(string(id), ".base")
	})
	want := map[admission.CallID][]admission.CallID{
		"create terraform_data.child":  {"delete terraform_data.child"},
		"delete terraform_data.child":  {},
		"create terraform_data.base":   {},
		"delete terraform_data.base":   {"create terraform_data.base"},
		"update terraform_data.last":   nil,
		"delete terraform_data.parent": nil,
	}
	got := map[admission.CallID][]admission.CallID{}
	for id := range want {
		got[id] = o.After(id)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if !o.Complete {
		t.Error("what is complete is so in part")
	}
}

// Without the CLI's graph the halves of a replace still have their order.
func TestWithoutOrder(t *testing.T) {
	t.Parallel()
	p, _ := recorded(t, "deposed.terraform")
	o := p.WithoutOrder("nobody asked")
	if o.Complete || o.Why != "nobody asked" {
		t.Errorf("complete %v, %q", o.Complete, o.Why)
	}
	want := `
create terraform_data.first
	after delete terraform_data.first
create terraform_data.gone
create terraform_data.swap
delete terraform_data.calm (deposed 00000000)
delete terraform_data.first
delete terraform_data.first (deposed 00000001)
	after create terraform_data.first
delete terraform_data.gone (deposed 00000002)
	after create terraform_data.gone
delete terraform_data.swap
	after create terraform_data.swap
delete terraform_data.swap (deposed 00000003)
	after create terraform_data.swap
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), describe(p, o)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// A graph that is not the one of the plan is not used at all: a missing edge
// would let a call wait for what nobody holds.
func TestOrderOfAnotherText(t *testing.T) {
	t.Parallel()
	p, dot := recorded(t, "mixed.terraform")
	text := string(dot)
	for name, other := range map[string]struct{ text, why string }{
		"nothing":        {"", "not complete"},
		"cut off":        {text[:len(text)-3], "not complete"},
		"half a name":    {text[:strings.Index(text, "(expand)")], "not quoted"},
		"a message":      {"Error: no such plan\n" + text, "unknown kind"},
		"a summary":      {strings.ReplaceAll(text, "[root] ", ""), "not a graph of operations"},
		"another arrow":  {strings.Replace(text, "->", "--", 1), "unknown kind"},
		"another plan":   {strings.ReplaceAll(text, "terraform_data.twin[1]", "terraform_data.twin[7]"), `"delete terraform_data.twin[1]"`},
		"without a half": {strings.ReplaceAll(text, "terraform_data.parent (destroy)", "x"), `"delete terraform_data.parent"`},
		"a cycle": {
			strings.Replace(text, "\t}\n", "\t\t\"[root] var.v\" -> \"[root] terraform_data.last\"\n\t}\n", 1),
			"cycle",
		},
	} {
		o := p.Order(strings.NewReader(other.text))
		if o.Complete || !strings.Contains(o.Why, other.why) {
			t.Errorf("%s: complete %v, %q", name, o.Complete, o.Why)
		}
		if got := o.After("create terraform_data.parent"); len(got) != 1 {
			t.Errorf("%s: the create of a replace is after %q", name, got)
		}
	}
}

// Statements that the CLI may write and that say nothing of the order.
func TestOrderOfAGraphWithColours(t *testing.T) {
	t.Parallel()
	p, dot := recorded(t, "deposed.tofu")
	text := strings.Replace(string(dot), "digraph {", "digraph {\n\tlabel = \"a -> b\"\n", 1)
	text = strings.Replace(text, `terraform_data.gone"`+"\n", `terraform_data.gone" [color = "red", penwidth = "2.0"]`+"\n", 1)
	if diff := cmp.Diff(describe(p, p.Order(bytes.NewReader(dot))), describe(p, p.Order(strings.NewReader(text)))); diff != "" {
		t.Errorf("order (-plain +coloured):\n%s", diff)
	}
	if o := p.Order(strings.NewReader(text)); !o.Complete {
		t.Error(o.Why)
	}
}

// Every call of one module comes after every call of the other: that is more
// than a coordinator should be told, and all that is left is to hold the plan
// as a whole.
func TestOrderThatIsTooLong(t *testing.T) {
	t.Parallel()
	const n = 600
	var changes, edges []string
	for i := range n {
		for _, name := range []string{"first", "second"} {
			changes = append(changes, fmt.Sprintf(`{"address":"x_y.%[1]s_of_two_long_lists[%[2]d]","mode":"managed","type":"x_y","name":"%[1]s","index":%[2]d,
				"provider_name":"h/n/x","change":{"actions":["delete","create"],"before":{"id":"%[1]s%[2]d"},"after":{},"after_unknown":{"id":true}}}`, name, i))
			at := fmt.Sprintf(`"[root] x_y.%s_of_two_long_lists[%d]`, name, i)
			edges = append(edges, at+`" -> `+at+` (destroy)"`)
		}
		edges = append(edges,
			fmt.Sprintf(`"[root] x_y.second_of_two_long_lists[%d]" -> "[root] module.first (close)"`, i),
			fmt.Sprintf(`"[root] module.first (close)" -> "[root] x_y.first_of_two_long_lists[%d]"`, i))
	}
	p, err := lowering.Read(t.Context(), []byte(`{"format_version":"1.2","resource_changes":[`+strings.Join(changes, ",")+`]}`), lowering.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	whole := p.Order(strings.NewReader("digraph {\n" + strings.Join(edges, "\n") + "\n}\n"))
	if got := len(whole.After("create x_y.second_of_two_long_lists[7]")); !whole.Complete || got != n+1 {
		t.Fatalf("complete %v, %d calls before one of the second list: %s", whole.Complete, got, whole.Why)
	}
	all := whole.Among(func(admission.CallID) bool { return true })
	want := []admission.CallID{"delete x_y.second_of_two_long_lists[7]"}
	if diff := cmp.Diff(want, all.After("create x_y.second_of_two_long_lists[7]")); diff != "" || all.Complete || all.Why == "" {
		t.Errorf("complete %v, why %q; order (-want +got):\n%s", all.Complete, all.Why, diff)
	}
	few := whole.Among(func(id admission.CallID) bool { return strings.Contains(string(id), "[1") })
	if !few.Complete {
		t.Errorf("a part that is short enough: %s", few.Why)
	}
}
