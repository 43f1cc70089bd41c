// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

const head = `
pack "p" {
  version  = "1.0.0"
  provider = "*/example/demo"
  realm {
    namespace = "p:"
    id        = "root"
  }
}
`

// thing is a resource block with more in it.
func thing(more string) string {
	return head + "resource \"demo_thing\" {\n  id = self.id\n  parent \"realm\" {}\n" + more + "\n}\n"
}

// TestBrokenPacks shows what an author is told: each diagnostic names the file
// and the place, and says what to do.
func TestBrokenPacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, summary, detail, at string }{
		"syntax":                  {"pack \"p\" {", "Unclosed configuration block", "", "demo/pack.hcl:1"},
		"nothing":                 {"", "Missing pack block", `Add one`, "demo/pack.hcl:1"},
		"two packs":               {head + head, "Duplicate pack block", "demo/pack.hcl:2", "demo/pack.hcl:11"},
		"unknown block":           {head + "rule \"x\" {}\n", "Unsupported block type", "rule", "demo/pack.hcl:10"},
		"unknown attribute":       {thing(`colour = 1`), "Unsupported argument", "colour", "demo/pack.hcl:13"},
		"missing id":              {head + "resource \"demo_thing\" {\n  parent \"realm\" {}\n}\n", "Missing required argument", "id", "demo/pack.hcl:10"},
		"missing parent":          {head + "resource \"demo_thing\" {\n  id = self.id\n}\n", "Missing parent block", `parent "realm" {}`, "demo/pack.hcl:10"},
		"missing realm":           {"pack \"p\" {\n version = \"1.0.0\"\n provider = \"a/b/c\"\n}\n", "Missing realm block", "Add realm", "demo/pack.hcl:1"},
		"two rules for a type":    {thing("") + "resource \"demo_thing\" {\n  id = self.id\n  parent \"realm\" {}\n}\n", "Duplicate rule", "Merge", "demo/pack.hcl:15"},
		"pack version":            {strings.Replace(head, "1.0.0", "one", 1), "Invalid pack version", "1.2.0", "demo/pack.hcl:3"},
		"provider pattern":        {strings.Replace(head, "*/example/demo", "example/demo", 1), "Invalid provider pattern", "host/namespace/type", "demo/pack.hcl:4"},
		"provider part":           {strings.Replace(head, "*/example", "**/example", 1), "Invalid provider pattern", `"**"`, "demo/pack.hcl:4"},
		"provider versions":       {strings.Replace(head, "  realm", "  provider_versions = \"new\"\n  realm", 1), "Invalid version constraint", ">= 1.0.0", "demo/pack.hcl:5"},
		"interpolated literal":    {strings.Replace(head, `"1.0.0"`, `"${x}.0.0"`, 1), "Not a plain string", "version", "demo/pack.hcl:3"},
		"unknown function":        {thing(`name = lowr(self.name)`), "Unknown function", `Did you mean "lower"?`, "demo/pack.hcl:13"},
		"env in a rule":           {thing(`name = env("HOME")`), "Unknown function", "locals", "demo/pack.hcl:13"},
		"unknown variable":        {thing(`name = selv.name`), "Unknown variable", `Did you mean "self"?`, "demo/pack.hcl:13"},
		"id outside a parent":     {thing(`name = id`), "Unknown variable", "self, prior", "demo/pack.hcl:13"},
		"unknown local":           {thing(`name = local.nmae`), "Unknown local", "locals block", "demo/pack.hcl:13"},
		"wrong arguments":         {thing(`name = lower(self.name, 1)`), "Too many function arguments", "", "demo/pack.hcl:13"},
		"wrong constant":          {thing(`name = arm_id("s", "g", "t")`), "Error in function call", "pairs", "demo/pack.hcl:13"},
		"unknown action":          {thing("on \"updat\" {\n}"), "Unknown action", `Did you mean "update"?`, "demo/pack.hcl:13"},
		"unknown mode":            {thing("on \"update\" {\ntarget \"a\" {\nnode = self\nmode = \"XX\"\n}\n}"), "Invalid mode", `"SIX"`, "demo/pack.hcl:16"},
		"mode that holds nothing": {thing("on \"update\" {\ntarget \"a\" {\nnode = self\nmode = \"NL\"\n}\n}"), "Invalid mode", `"SIX"`, "demo/pack.hcl:16"},
		"reserved name":           {thing("on \"update\" {\ntarget \"self\" {\nnode = self\nmode = \"X\"\n}\n}"), "Invalid target name", "default rules", "demo/pack.hcl:14"},
		"duplicate target":        {thing("on \"update\" {\ntarget \"a\" {\nnode = self\nmode = \"X\"\n}\n}\non \"write\" {\ntarget \"a\" {\nnode = self\nmode = \"X\"\n}\n}"), "Duplicate target", "another name", "demo/pack.hcl:20"},
		"duplicate writes":        {thing("on \"update\" {\nwrites = \"a\"\n}\non \"write\" {\nwrites = \"b\"\n}"), "Duplicate writes", "update", "demo/pack.hcl:17"},
		"facet with a slash":      {thing("on \"update\" {\nwrites = \"a/b\"\n}"), "Invalid facet", "slot:write", "demo/pack.hcl:14"},
		"unknown node":            {thing("on \"update\" {\ntarget \"a\" {\nnode = self.parent\nmode = \"X\"\n}\n}"), "Invalid node", "ancestor(n)", "demo/pack.hcl:15"},
		"unknown node function":   {thing("on \"update\" {\ntarget \"a\" {\nnode = child(1)\nmode = \"X\"\n}\n}"), "Invalid node", "child", "demo/pack.hcl:15"},
		"no steps":                {thing("on \"update\" {\ntarget \"a\" {\nnode = ancestor(0)\nmode = \"X\"\n}\n}"), "Invalid node", "1 to 16", "demo/pack.hcl:15"},
		"too many steps":          {thing("on \"update\" {\ntarget \"a\" {\nnode = ancestor(2)\nmode = \"X\"\n}\n}"), "No such ancestor", "1 nodes above", "demo/pack.hcl:10"},
		"edge of a new kind":      {thing("on \"update\" {\ntarget \"a\" {\nnode = edge(\"likes\", \"in\")\nmode = \"X\"\n}\n}"), "Invalid node", `"attaches"`, "demo/pack.hcl:15"},
		"edge without direction":  {thing("on \"update\" {\ntarget \"a\" {\nnode = edge(\"routes\", \"up\")\nmode = \"X\"\n}\n}"), "Invalid node", `"in" or "out"`, "demo/pack.hcl:15"},
		"edge of an edge":         {thing("on \"update\" {\ntarget \"a\" {\nnode = edge(\"routes\", \"in\", edge(\"routes\", \"in\"))\nmode = \"X\"\n}\n}"), "Invalid node", "starts at", "demo/pack.hcl:15"},
		"ref to nothing":          {thing("on \"update\" {\ntarget \"a\" {\nnode = ref(\"b\")\nmode = \"X\"\n}\n}"), "Unknown reference", `"b"`, "demo/pack.hcl:15"},
		"unknown guard":           {thing("on \"update\" {\nguard \"presen\" {\nnode = self\n}\n}"), "Unknown guard", `Did you mean "present"?`, "demo/pack.hcl:14"},
		"guard of the caller":     {thing("on \"update\" {\nguard \"same_life\" {\nnode = self\n}\n}"), "Guard same_life is not for packs", "Remove", "demo/pack.hcl:14"},
		"unknown class":           {thing("on \"update\" {\ntarget \"a\" {\nnode = self\nmode = \"X\"\nclass = \"inflight\"\n}\n}"), "Invalid class", `Did you mean "in_flight"?`, "demo/pack.hcl:17"},
		"until never":             {thing("on \"update\" {\ntarget \"a\" {\nnode = self\nmode = \"X\"\nuntil = \"never\"\n}\n}"), "Invalid until", `"operation"`, "demo/pack.hcl:17"},
		"too confident":           {thing("on \"update\" {\ntarget \"a\" {\nnode = self\nmode = \"X\"\nconfidence = 1.5\n}\n}"), "Invalid confidence", `"low"`, "demo/pack.hcl:17"},
		"flag":                    {thing("known_after_create = \"maybe\""), "Not true or false", "known_after_create", "demo/pack.hcl:13"},
		"unknown parent type":     {head + "resource \"demo_thing\" {\n  id = self.id\n  parent \"demo_thin\" {\n    id = id\n  }\n}\n", "Unknown parent type", `Did you mean "demo_thing"?`, "demo/pack.hcl:10"},
		"parent without id":       {head + "resource \"demo_thing\" {\n  id = self.id\n  parent \"demo_thing\" {}\n}\n", "Missing id of the parent", "arm_parent(id)", "demo/pack.hcl:12"},
		"containment cycle":       {head + "resource \"demo_thing\" {\n  id = self.id\n  parent \"demo_thing\" {\n    id = id\n  }\n}\n", "Containment has a cycle", "parent blocks", "demo/pack.hcl:10"},
		"unknown reference type":  {thing("reference \"a\" {\nids = self.a\ntype = \"demo_thin\"\n}"), "Unknown reference type", `Did you mean "demo_thing"?`, "demo/pack.hcl:10"},
		"duplicate reference":     {thing("reference \"a\" {\nids = self.a\ntype = \"demo_thing\"\n}\nreference \"a\" {\nids = self.a\ntype = \"demo_thing\"\n}"), "Duplicate reference", "another name", "demo/pack.hcl:17"},
		"no facets":               {thing("reference \"a\" {\nids = self.a\ntype = \"demo_thing\"\nfacets = []\n}"), "No facets", "life", "demo/pack.hcl:16"},
		"edge from an edge":       {thing("edge \"a\" {\nfrom = edge(\"routes\", \"in\")\nto = self\n}"), "Invalid edge", "ancestors", "demo/pack.hcl:13"},
		"bucket name":             {thing("bucket \"A#\" {\nlimit = 1\n}"), "Invalid bucket name", `"addresses"`, "demo/pack.hcl:13"},
		"bucket of nothing":       {thing("bucket \"a\" {\n}"), "Empty bucket", "limit = ...", "demo/pack.hcl:13"},
		"duplicate bucket":        {thing("bucket \"a\" {\nlimit = 1\n}\nbucket \"a\" {\nuse = 1\n}"), "Duplicate bucket", "another name", "demo/pack.hcl:16"},
		"bucket of an old world":  {thing("bucket \"a\" {\nlimit = selv.a\n}"), "Unknown variable", `Did you mean "self"?`, "demo/pack.hcl:14"},
		"consumes nothing":        {thing("consumes \"a\" {\nof = self\n}"), "Missing required argument", "amount", "demo/pack.hcl:13"},
		"consumes of nobody":      {thing("consumes \"a\" {\namount = 1\n}"), "Missing required argument", `"of"`, "demo/pack.hcl:13"},
		"consumes name":           {thing("consumes \"a b\" {\nof = self\namount = 1\n}\nbucket \"a\" {\nlimit = 1\n}"), "Invalid consumes name", "letters", "demo/pack.hcl:13"},
		"duplicate consumes":      {thing("bucket \"a\" {\nlimit = 1\n}\nconsumes \"a\" {\nof = self\namount = 1\n}\nconsumes \"a\" {\nof = self\namount = 2\n}"), "Duplicate consumes", `bucket = "a"`, "demo/pack.hcl:20"},
		"consumes of the realm":   {thing("consumes \"a\" {\nof = realm\namount = 1\n}"), "Invalid owner", "realm has no buckets", "demo/pack.hcl:14"},
		"consumes of an edge":     {thing("consumes \"a\" {\nof = edge(\"routes\", \"in\")\namount = 1\n}"), "Invalid owner", "before and after", "demo/pack.hcl:14"},
		"consumes of a text":      {thing("consumes \"a\" {\nof = \"self\"\namount = 1\n}"), "Invalid owner", `object("type", id)`, "demo/pack.hcl:14"},
		"consumes of any object":  {thing("consumes \"a\" {\nof = object(self.type, self.id)\namount = 1\n}"), "Invalid owner", `object("type", id)`, "demo/pack.hcl:14"},
		"consumes of no ref":      {thing("consumes \"a\" {\nof = ref(\"b\")\namount = 1\n}"), "Unknown reference", `"b"`, "demo/pack.hcl:14"},
		"consumes of no bucket":   {thing("bucket \"cores\" {\nlimit = 1\n}\nconsumes \"core\" {\nof = self\namount = 1\n}"), "Unknown bucket", `Did you mean "cores"?`, "demo/pack.hcl:16"},
		"consumes of no type":     {thing("consumes \"a\" {\nof = object(\"demo_thin\", self.id)\namount = 1\n}"), "Unknown bucket owner", `Did you mean "demo_thing"?`, "demo/pack.hcl:13"},
		"consumes of the parent":  {thing("consumes \"a\" {\nof = parent\namount = 1\n}"), "Unknown bucket owner", `"realm"`, "demo/pack.hcl:13"},
		"consumes too far up":     {thing("consumes \"a\" {\nof = ancestor(2)\namount = 1\n}"), "No such ancestor", "1 nodes above", "demo/pack.hcl:10"},
		"consumes by a bad id":    {thing("consumes \"a\" {\nof = object(\"demo_thing\", selv.id)\namount = 1\n}"), "Unknown variable", `Did you mean "self"?`, "demo/pack.hcl:14"},
		"consumes some":           {thing("bucket \"a\" {\nlimit = 1\n}\nconsumes \"a\" {\nof = self\namount = selv.a\n}"), "Unknown variable", `Did you mean "self"?`, "demo/pack.hcl:18"},
		"object as a target":      {thing("on \"update\" {\ntarget \"a\" {\nnode = object(\"demo_thing\", self.id)\nmode = \"X\"\n}\n}"), "Invalid node", "consumes only", "demo/pack.hcl:15"},
		"object below an edge":    {thing("on \"update\" {\ntarget \"a\" {\nnode = edge(\"routes\", \"in\", object(\"demo_thing\", self.id))\nmode = \"X\"\n}\n}"), "Invalid node", "starts at", "demo/pack.hcl:15"},
		"terminal":                {thing("terminal = selv.done"), "Unknown variable", `Did you mean "self"?`, "demo/pack.hcl:13"},
		"terminal of the pack":    {strings.Replace(head, "  realm", "  terminal = done\n  realm", 1), "Unknown variable", `"done"`, "demo/pack.hcl:5"},
		"import id of a state":    {thing("import_id = self.id"), "Unknown variable", "id, provider, local", "demo/pack.hcl:13"},
		"volatile":                {thing("volatile = [self.id]"), "Not a plain string", "quoted strings", "demo/pack.hcl:13"},
		"lands":                   {thing(`lands = "soon"`), "Invalid lands", `"90s"`, "demo/pack.hcl:13"},
		"lands before":            {thing(`lands = "-1s"`), "Invalid lands", "above 0", "demo/pack.hcl:13"},
		"lands as a number":       {thing(`lands = 5`), "Invalid lands", `"90s"`, "demo/pack.hcl:13"},
		"timeout of a month":      {thing(`timeout = "720h"`), "Invalid timeout", "a week", "demo/pack.hcl:13"},
		"timeout of the pack":     {strings.Replace(head, "  realm", "  timeout = \"0s\"\n  realm", 1), "Invalid timeout", "above 0", "demo/pack.hcl:5"},
		"error name":              {head + "error \"a b\" {\nmatch = [\"x\"]\ndefinite = true\n}\n", "Invalid error name", "letters", "demo/pack.hcl:10"},
		"error without a match":   {head + "error \"a\" {\ndefinite = true\n}\n", "Empty error", "match = ", "demo/pack.hcl:10"},
		"error of no certainty":   {head + "error \"a\" {\nmatch = [\"x\"]\n}\n", "Missing required argument", "definite", "demo/pack.hcl:10"},
		"error that may be":       {head + "error \"a\" {\nmatch = [\"x\"]\ndefinite = \"maybe\"\n}\n", "Not true or false", "definite", "demo/pack.hcl:12"},
		"error of no text":        {head + "error \"a\" {\nmatch = []\ndefinite = true\n}\n", "Empty list", "match", "demo/pack.hcl:11"},
		"error of an empty text":  {head + "error \"a\" {\nmatch = [\"x\", \"\"]\ndefinite = true\n}\n", "Not a plain string", "none of them empty", "demo/pack.hcl:11"},
		"error pattern":           {head + "error \"a\" {\nregex = [\"(\"]\ndefinite = true\n}\n", "Invalid regular expression", "RE2", "demo/pack.hcl:11"},
		"error of everything":     {head + "error \"a\" {\nregex = [\"x*\"]\ndefinite = true\n}\n", "Invalid regular expression", "matches every error", "demo/pack.hcl:11"},
		"codes from nowhere":      {head + "error \"a\" {\ncodes = [\"X\"]\ndefinite = true\n}\n", "No error_code", "pack block", "demo/pack.hcl:11"},
		"error code of no group":  {strings.Replace(head, "  realm", "  error_code = \"[A-Z]+\"\n  realm", 1), "Invalid error_code", "(?P<code>...)", "demo/pack.hcl:5"},
		"error code":              {strings.Replace(head, "  realm", "  error_code = \"(?P<code>\"\n  realm", 1), "Invalid regular expression", "RE2", "demo/pack.hcl:5"},
		"duplicate error":         {head + strings.Repeat("error \"a\" {\nmatch = [\"x\"]\ndefinite = true\n}\n", 2), "Duplicate error", "another name", "demo/pack.hcl:14"},
		"class of an error":       {thing("error \"a\" {\nmatch = [\"x\"]\nclass = \"full\"\ndefinite = true\n}"), "Invalid class", `"capacity"`, "demo/pack.hcl:15"},
		"table name":              {head + "table \"a b\" {\nrows = { a = 1 }\n}\n", "Invalid table name", "letters", "demo/pack.hcl:10"},
		"duplicate table":         {head + strings.Repeat("table \"a\" {\nrows = { a = 1 }\n}\n", 2), "Duplicate table", "demo/pack.hcl:10", "demo/pack.hcl:13"},
		"table without rows":      {head + "table \"a\" {\n}\n", "Missing required argument", "rows", "demo/pack.hcl:10"},
		"table of no rows":        {head + "table \"a\" {\nrows = {}\n}\n", "Invalid rows", "at least one row", "demo/pack.hcl:11"},
		"table that is a list":    {head + "table \"a\" {\nrows = [1]\n}\n", "Invalid rows", "{ small", "demo/pack.hcl:11"},
		"table that is null":      {head + "table \"a\" {\nrows = null\n}\n", "Invalid rows", "at least one row", "demo/pack.hcl:11"},
		"table of unlike rows":    {head + "table \"a\" {\nrows = { a = { n = 1 }, b = { m = 1 } }\n}\n", "Invalid rows", "same columns", "demo/pack.hcl:11"},
		"table of variables":      {head + "table \"a\" {\nrows = { a = self.id }\n}\n", "Variables not allowed", "", "demo/pack.hcl:11"},
		"unknown table":           {thing("name = table.b[self.name]") + "table \"a\" {\nrows = { a = 1 }\n}\n", "Unknown table", `Did you mean "a"?`, "demo/pack.hcl:13"},
		"unknown column":          {thing("name = table.a[\"a\"].m") + "table \"a\" {\nrows = { a = { n = 1 } }\n}\n", "Unsupported attribute", `"m"`, "demo/pack.hcl:13"},
		"no prefix":               {thing("name = usable_addresses(\"10.0.0.0\", 5)"), "Invalid function argument", "10.0.0.0/24", "demo/pack.hcl:13"},
		"no reserve":              {thing("name = usable_addresses(\"10.0.0.0/24\", -5)"), "Invalid function argument", "whole number", "demo/pack.hcl:13"},
		"nested too deeply":       {thing("name = " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200)), "Nested too deeply", "100", "demo/pack.hcl:13"},
	} {
		e, diags := ruleengine.LoadPacks(packFS(c.src))
		if !diags.HasErrors() || e != nil {
			t.Errorf("%s: loads, with %v", name, diags)
			continue
		}
		d := diags[0]
		if d.Summary != c.summary || !strings.Contains(d.Detail, c.detail) || d.Subject == nil || !strings.HasPrefix(d.Subject.String()+",", c.at+",") {
			t.Errorf("%s: got %q at %s:\n  %s\nwant %q at %s: %s", name, d.Summary, d.Subject, d.Detail, c.summary, c.at, c.detail)
		}
		for i, other := range diags[1:] {
			if other.Summary == d.Summary && *other.Subject == *d.Subject {
				t.Errorf("%s: diagnostic %d says the same again", name, i+1)
			}
		}
	}
}

func TestAFileThatIsTooLarge(t *testing.T) {
	t.Parallel()
	_, diags := ruleengine.LoadPacks(packFS(head + strings.Repeat("# much ado\n", 100_000)))
	if len(diags) != 1 || diags[0].Summary != "Rule pack cannot be read" || diags[0].Subject.Filename != "demo/pack.hcl" {
		t.Errorf("diagnostics: %v", diags)
	}
}

func TestAFolderThatCannotBeRead(t *testing.T) {
	t.Parallel()
	_, diags := ruleengine.LoadPacks(brokenFS{})
	if len(diags) != 1 || diags[0].Summary != "Rule pack cannot be read" {
		t.Errorf("diagnostics: %v", diags)
	}
}

// TestFolderOfAPack: an author who has several folders is told which one.
func TestFolderOfAPack(t *testing.T) {
	t.Parallel()
	good := ruleengine.Folder("built-in", packFS(thing("")))
	for name, c := range map[string]struct {
		fsys fs.FS
		want string // in the whole text of the diagnostic
	}{
		"syntax":     {ruleengine.Folder("~/my rules", packFS("pack {")), "~/my rules/demo/pack.hcl:1,6"},
		"slash":      {ruleengine.Folder("./rules/", packFS("pack {")), "./rules/demo/pack.hcl:1,6"},
		"root":       {ruleengine.Folder("/", packFS("pack {")), "/demo/pack.hcl:1,6"},
		"no pack":    {ruleengine.Folder("rules", packFS("")), "rules/demo/pack.hcl:1,1"},
		"meaning":    {ruleengine.Folder("rules", packFS(thing("name = selv.name"))), "rules/demo/pack.hcl:13,8"},
		"too deep":   {ruleengine.Folder("rules", packFS(strings.Repeat("(", 200))), "rules/demo/pack.hcl:1,101"},
		"too large":  {ruleengine.Folder("rules", packFS(strings.Repeat("#\n", 1<<20))), "Reading rules/demo/pack.hcl failed"},
		"unreadable": {ruleengine.Folder("rules", brokenFS{}), "Reading rules failed"},
		"other pack": {ruleengine.Folder("rules", packFS(thing(""))), "at built-in/demo/pack.hcl:2"},
		"nameless":   {packFS("pack {"), "demo/pack.hcl:1,6"},
	} {
		_, diags := ruleengine.LoadPacks(good, c.fsys)
		if len(diags) == 0 || !strings.Contains(diags[0].Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, diags, c.want)
		}
		if len(diags) > 0 && name == "nameless" && !strings.HasPrefix(diags[0].Error(), c.want) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

type brokenFS struct{}

func (brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// A pack may be spread over files and folders; other files are not read.
func TestPacksOfAFileSystem(t *testing.T) {
	t.Parallel()
	file := func(src string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(src)} }
	second := strings.NewReplacer(`pack "p"`, `pack "q"`, "*/example/demo", "*/example/other").Replace(head)
	e, diags := ruleengine.LoadPacks(fstest.MapFS{
		"demo/pack.hcl":       file(head),
		"demo/more/thing.hcl": file(strings.TrimPrefix(thing(""), head)),
		"demo/README.md":      file("{{{"),
		"other.hcl":           file(second),
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := []ruleengine.PackInfo{
		{Name: "q", Version: "1.0.0", Provider: "*/example/other", Types: []string{}},
		{Name: "p", Version: "1.0.0", Provider: "*/example/demo", Types: []string{"demo_thing"}},
	}
	if diff := cmp.Diff(want, e.Packs()); diff != "" {
		t.Errorf("packs (-want +got):\n%s", diff)
	}
}

func TestPacksThatContradict(t *testing.T) {
	t.Parallel()
	other := strings.Replace(thing(""), `pack "p"`, `pack "q"`, 1)
	load := func(second string) []string {
		_, diags := ruleengine.LoadPacks(packFS(thing("")), packFS(second))
		var summaries []string
		for _, d := range diags {
			summaries = append(summaries, d.Summary)
		}
		return summaries
	}
	if got := load(other); !slices.Equal(got, []string{"Duplicate rule"}) {
		t.Errorf("two packs for one provider: %v", got)
	}
	if got := load(strings.Replace(other, "*/example", "registry.terraform.io/*", 1)); !slices.Equal(got, []string{"Duplicate rule"}) {
		t.Errorf("two patterns that overlap: %v", got)
	}
	if got := load(strings.Replace(other, "*/example", "*/another", 1)); got != nil {
		t.Errorf("two providers: %v", got)
	}
	if got := load(strings.Replace(thing(""), "*/example", "*/another", 1)); !slices.Equal(got, []string{"Duplicate pack"}) {
		t.Errorf("two packs of one name: %v", got)
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	e := demo(t)
	for _, c := range []struct {
		provider, resourceType string
		want                   bool
	}{
		{demoSource, "demo_box", true},
		{"registry.opentofu.org/Example/demo", "demo_box", true},
		{demoSource, "demo_hat", false},
		{"registry.terraform.io/else/demo", "demo_box", false},
		{"example/demo", "demo_box", false},
		{"", "demo_box", false},
	} {
		if got := e.Covers(c.provider, c.resourceType); got != c.want {
			t.Errorf("Covers(%q, %q) = %v", c.provider, c.resourceType, got)
		}
	}
}

// FuzzLoadPack loads any text as a pack: it must give a pack or diagnostics
// that name a place, and an engine that loaded must not panic.
func FuzzLoadPack(f *testing.F) {
	f.Add(testPack)
	f.Add(stockPack)
	f.Add(head)
	f.Add(thing("on \"write\" {\ntarget \"a\" {\nnode = edge(\"routes\", \"in\", parent)\nmode = \"X\"\nwhen = planned.a != prior.a\n}\nguard \"version\" {\nnode = self\n}\n}"))
	f.Add(thing("reference \"a\" {\nids = [for x in self.a : x.id if x != null]\ntype = \"demo_thing\"\nfacets = [\"life\"]\n}"))
	f.Add(thing("name = arm_scope(self.id, \"subnets\")\nknown_after_create = true"))
	f.Add("pack \"\" {\n}\nresource \"\" {\n}\n")
	f.Fuzz(func(t *testing.T, src string) {
		e, diags := ruleengine.LoadPacks(packFS(src))
		if (e == nil) != diags.HasErrors() {
			t.Fatalf("engine %v with diagnostics %v", e, diags)
		}
		for _, d := range diags {
			if d.Subject == nil || d.Subject.Filename == "" || d.Summary == "" {
				t.Fatalf("a diagnostic without a place: %v", d)
			}
		}
		if e == nil {
			return
		}
		for _, pack := range e.Packs() {
			for _, resourceType := range pack.Types {
				op := operation(t, resourceType, "prior {\nid = \"a\"\n}\nplanned {\nid = unknown\nname = \"b\"\n}\nsensitive = [\"box\"]\n")
				op.Provider = strings.ReplaceAll(pack.Provider, "*", "x")
				// Errors are fine: a made-up rule seldom fits made-up values.
				e := e.WithEnvironment(noEnvironment)
				_, _ = e.Lower(t.Context(), op, nil)
				seen, _, _ := e.See(ruleengine.Object{Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: op.Type, State: op.Prior, Sensitive: op.Sensitive})
				_, _ = e.ReadBack(op.Provider, op.ProviderConfig, seen.Observation.Decl)
				_, _, _ = e.Refusal(op.Provider, op.Type, []string{"[FULL] a", src})
			}
		}
	})
}
