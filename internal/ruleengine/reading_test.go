// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// see reads an object of the stock pack's provider.
func see(t testing.TB, resourceType, src string) ruleengine.Seen {
	t.Helper()
	op := stockOperation(t, resourceType, src)
	seen, ok, err := stock(t).See(ruleengine.Object{
		Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: resourceType, State: op.Prior, Sensitive: op.Sensitive,
	})
	if err != nil || !ok {
		t.Fatalf("See: %v, %v", ok, err)
	}
	return seen
}

func TestReadingsOfBuckets(t *testing.T) {
	t.Parallel()
	known, unknown := escrow.At, escrow.Bound{}
	reading := func(name string, limit, use escrow.Bound) admission.Reading {
		return admission.Reading{Bucket: admission.BucketOf("stock:acme/o", name), Limit: limit, Use: use}
	}
	for name, c := range map[string]struct {
		resourceType, attrs string
		want                []admission.Reading
		note                string // how the only note ends
	}{
		"both":                 {"stock_floor", "limit = 20\nused = 7", []admission.Reading{reading("weight", known(20), known(7))}, ""},
		"none used":            {"stock_floor", "limit = 20\nused = 0", []admission.Reading{reading("weight", known(20), known(0))}, ""},
		"more than allowed":    {"stock_floor", "limit = 5\nused = 7", []admission.Reading{reading("weight", known(5), known(7))}, ""},
		"no limit":             {"stock_floor", "limit = null\nused = 7", []admission.Reading{reading("weight", unknown, known(7))}, ""},
		"nothing":              {"stock_floor", "limit = null\nused = null", nil, ""},
		"use not known":        {"stock_floor", "limit = 20\nused = unknown", []admission.Reading{reading("weight", known(20), unknown)}, "the use of weight cannot be told: the value is not known yet"},
		"limit not a number":   {"stock_floor", "limit = \"much\"\nused = 7", []admission.Reading{reading("weight", unknown, known(7))}, "a number is needed: a number is required"},
		"a negative limit":     {"stock_floor", "limit = -1\nused = 7", []admission.Reading{reading("weight", unknown, known(7))}, "not -1"},
		"two buckets":          {"stock_shelf", "places = 3\nboxes = [\"a\", \"b\"]\nstate = \"ready\"", []admission.Reading{reading("places", known(3), known(2)), reading("labels", known(2), unknown)}, ""},
		"use without a limit":  {"stock_seal", "used = 1\nstate = \"ready\"", []admission.Reading{reading("uses", unknown, known(1))}, ""},
		"an argument is null":  {"stock_shelf", "places = 3\nboxes = null\nstate = \"ready\"", []admission.Reading{reading("places", known(3), unknown), reading("labels", known(2), unknown)}, "argument must not be null."},
		"a type without rules": {"stock_hat", "limit = 1", nil, ""},
	} {
		seen := see(t, c.resourceType, "prior {\nid = \"O\"\n"+c.attrs+"\n}")
		if diff := cmp.Diff(c.want, seen.Readings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (c.note != "") != (len(seen.Notes) == 1) || c.note != "" && !strings.HasSuffix(seen.Notes[0], c.note) {
			t.Errorf("%s: notes %q, want one that ends in %q", name, seen.Notes, c.note)
		}
	}
	secret := see(t, "stock_floor", "prior {\nid = \"O\"\nlimit = 4242\nused = 7\n}\nsensitive = [\"limit\"]")
	want := []admission.Reading{reading("weight", unknown, known(7))}
	if diff := cmp.Diff(want, secret.Readings); diff != "" || len(secret.Notes) != 1 || !strings.HasSuffix(secret.Notes[0], "sensitive") {
		t.Errorf("sensitive: notes %q (-want +got):\n%s", secret.Notes, diff)
	}
}

func TestNothingIsReadOfWhatIsGone(t *testing.T) {
	t.Parallel()
	op := stockOperation(t, "stock_floor", "prior {\nid = \"o\"\nlimit = 20\nused = 7\n}")
	seen, ok, err := stock(t).See(ruleengine.Object{Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: op.Type, State: op.Prior, Gone: true})
	if err != nil || !ok || seen.Readings != nil || !seen.Terminal || seen.Notes != nil {
		t.Errorf("%+v, %v, %v", seen, ok, err)
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resourceType, attrs string
		want                bool
		notes               int
	}{
		"as the pack says":      {"stock_seal", `state = "ready"`, true, 0},
		"ended badly":           {"stock_seal", `state = "broken"`, true, 0},
		"in progress":           {"stock_seal", `state = "moving"`, false, 0},
		"not told":              {"stock_seal", `state = null`, false, 1},
		"not known":             {"stock_seal", `state = unknown`, false, 1},
		"not a condition":       {"stock_seal", `state = {}`, false, 0},
		"as the type says":      {"stock_floor", `state = "moving"`, true, 0},
		"a type without a rule": {"stock_hat", `state = "moving"`, true, 0},
	} {
		seen := see(t, c.resourceType, "prior {\nid = \"o\"\n"+c.attrs+"\n}")
		if seen.Terminal != c.want || len(seen.Notes) != c.notes {
			t.Errorf("%s: terminal %v, notes %q", name, seen.Terminal, seen.Notes)
		}
	}
	seen := see(t, "stock_seal", "prior {\nid = \"o\"\nstate = \"ready\"\n}\nsensitive = [\"state\"]")
	if seen.Terminal || len(seen.Notes) != 1 {
		t.Errorf("sensitive: terminal %v, notes %q", seen.Terminal, seen.Notes)
	}
}

func TestTimesToSettle(t *testing.T) {
	t.Parallel()
	for resourceType, want := range map[string][2]time.Duration{
		"stock_seal":  {3 * time.Second, 10 * time.Minute},
		"stock_shelf": {time.Minute, 10 * time.Minute},
		"stock_floor": {3 * time.Second, time.Hour},
		"stock_hat":   {0, 0}, // the defaults of package admission
	} {
		l, err := stock(t).Lower(t.Context(), stockOperation(t, resourceType, "prior {\nid = \"o\"\n}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]time.Duration{time.Duration(l.Request.Lands), time.Duration(l.Request.Timeout)}; got != want {
			t.Errorf("%s: %v, want %v", resourceType, got, want)
		}
	}
	l, err := demo(t).Lower(t.Context(), operation(t, "demo_lid", "planned {\nname = \"l\"\n}"), nil)
	if err != nil || l.Request.Lands != 0 || l.Request.Timeout != 0 {
		t.Errorf("a pack that says nothing: %d, %d, %v", l.Request.Lands, l.Request.Timeout, err)
	}
}

func TestUsableAddresses(t *testing.T) {
	t.Parallel()
	e, diags := ruleengine.LoadPacks(packFS(thing(`
  bucket "addresses" {
    limit = usable_addresses(self.name, 5)
  }`)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for prefix, want := range map[string]escrow.Bound{
		"10.0.0.0/24": escrow.At(251), "10.0.0.8/29": escrow.At(3), "10.0.0.0/30": escrow.At(0), "10.0.0.1/32": escrow.At(0),
		"0.0.0.0/0": escrow.At(1<<32 - 5), "10.0.0.0": {}, "10.0.0.0/33": {}, "2001:db8::/64": {}, "": {},
	} {
		op := stockOperation(t, "demo_thing", "prior {\nid = \"o\"\nname = \""+prefix+"\"\n}")
		seen, ok, err := e.See(ruleengine.Object{Provider: demoSource, ProviderConfig: op.ProviderConfig, Type: op.Type, State: op.Prior})
		var got escrow.Bound
		if len(seen.Readings) > 0 {
			got = seen.Readings[0].Limit
		}
		if err != nil || !ok || got != want || want.Set == (len(seen.Notes) > 0) {
			t.Errorf("%q: %+v, notes %q, %v", prefix, got, seen.Notes, err)
		}
	}
}

// An operation says which limits will not be what they were.
func TestLimitsThatAnOperationChanges(t *testing.T) {
	t.Parallel()
	shelf := func(which, places string) string { return which + " {\nid = \"s\"\nplaces = " + places + "\n}\n" }
	const (
		places = "resizes A:s#places shelf.bucket#places\n"
		labels = "resizes A:s#labels shelf.bucket#labels\n"
	)
	for name, c := range map[string]struct{ src, want string }{
		"set by a create":         {shelf("planned", "3"), places + labels},
		"raised":                  {shelf("prior", "3") + shelf("planned", "4"), places},
		"lowered":                 {shelf("prior", "3") + shelf("planned", "2"), places},
		"as it was":               {shelf("prior", "3") + shelf("planned", "3"), ""},
		"not known yet":           {shelf("prior", "3") + shelf("planned", "unknown"), places},
		"none before":             {shelf("prior", "null") + shelf("planned", "3"), places},
		"none before and after":   {shelf("prior", "null") + shelf("planned", "null"), ""},
		"sensitive":               {shelf("prior", "3") + shelf("planned", "3") + "sensitive = [\"places\"]", places},
		"gone with the object":    {shelf("prior", "3"), ""},
		"of an object without id": {"planned {\nid = unknown\nplaces = 3\n}\n", ""},
	} {
		if got := stockPlan(t, stockOperation(t, "stock_shelf", c.src), nil, "resizes"); got != c.want {
			t.Errorf("%s:\n%swant:\n%s", name, got, c.want)
		}
	}
	if got := stockPlan(t, stockOperation(t, "stock_seal", "planned {\nid = \"x\"\n}"), nil, "resizes"); got != "" {
		t.Errorf("a bucket without a limit: %s", got)
	}
	op := stockOperation(t, "stock_shelf", shelf("prior", "3")+shelf("planned", "4"))
	op.Action = admission.Read
	if got := stockPlan(t, op, nil, "resizes"); got != "" {
		t.Errorf("a read: %s", got)
	}
}

// What is said of an object that was read may look at its id.
func TestReadingsKnowTheID(t *testing.T) {
	t.Parallel()
	e, diags := ruleengine.LoadPacks(packFS(thing(`
  terminal = id != "busy"
  bucket "parts" {
    limit = length(split("-", id))
  }`)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for id, want := range map[string]int64{"a-b-c": 3, "busy": 1} {
		op := stockOperation(t, "demo_thing", "prior {\nid = \""+id+"\"\n}")
		seen, ok, err := e.See(ruleengine.Object{Provider: demoSource, ProviderConfig: op.ProviderConfig, Type: op.Type, State: op.Prior})
		if err != nil || !ok || seen.Terminal == (id == "busy") || len(seen.Readings) != 1 || seen.Readings[0].Limit != escrow.At(want) {
			t.Errorf("%s: %+v, %v", id, seen, err)
		}
	}
}
