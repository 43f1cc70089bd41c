// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/tfweaver/tfweaver/rules"
)

// TestThePagesSayWhatThePackSays: every type has its section, and every bucket,
// every error code and every source of a rule is named.
func TestThePagesSayWhatThePackSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/rules/simcloud.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, resourceType := range load(t).Packs()[0].Types {
		if !strings.Contains(page, "\n## "+resourceType+"\n") {
			t.Errorf("no section about %s", resourceType)
		}
	}
	files, err := fs.Glob(rules.FS(), "simcloud/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		src, err := fs.ReadFile(rules.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range named(string(src)) {
			if !strings.Contains(page, "`"+word+"`") {
				t.Errorf("%s names %s, and the page does not", name, word)
			}
		}
	}
}

// TestTheExamplesOfThePagesAreWellFormed parses every example.
func TestTheExamplesOfThePagesAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../docs/rules/simcloud.md", "../docs/rules/packs.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		examples := example.FindAllSubmatch(text, -1)
		if len(examples) < 5 {
			t.Errorf("%s has %d examples", page, len(examples))
		}
		for _, m := range examples {
			if _, diags := hclsyntax.ParseConfig(m[1], page, hcl.InitialPos); diags.HasErrors() {
				t.Errorf("%v in:\n%s", diags, m[1])
			}
		}
	}
}

var (
	example     = regexp.MustCompile("(?s)```hcl\n(.*?)```")
	bucketBlock = regexp.MustCompile(`(?m)^  bucket "([a-z]+)"`)
	sourceList  = regexp.MustCompile(`(?m)^ +source = "([A-Za-z, ]+)"$`)
	codeList    = regexp.MustCompile(`(?s)codes += \[(.*?)\]`)
	upperCamel  = regexp.MustCompile(`[A-Z][a-z]+[A-Z][A-Za-z]+`)
)

// named are the buckets and error codes that a file of the pack names.
func named(src string) []string {
	var words []string
	for _, m := range bucketBlock.FindAllStringSubmatch(src, -1) {
		words = append(words, m[1])
	}
	for _, re := range []*regexp.Regexp{sourceList, codeList} {
		for _, m := range re.FindAllStringSubmatch(src, -1) {
			words = append(words, upperCamel.FindAllString(m[1], -1)...)
		}
	}
	return words
}
