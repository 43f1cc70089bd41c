// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// sight is what can be seen from outside of what a side has done so far.
type sight struct {
	// Objects are the files of the fixture provider and those that provisioners
	// have written, by name.
	Objects map[string]string
	// Changes are the changes of each object, in their order.
	Changes map[string][]string
	// State is the state file.
	State any
}

func (s *told) sight(one *side) sight {
	s.t.Helper()
	seen := sight{Objects: make(map[string]string), Changes: changes(s.events(one))}
	drawn := &drawing{known: make(map[string]string)}
	seen.State = drawn.state(s.state(one))
	err := filepath.WalkDir(one.objects, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == journal.File {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(one.objects, path)
		seen.Objects[drawn.text(name)] = drawn.text(string(text))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

// state is the text of a side's state file; empty if there is none.
func (s *told) state(one *side) string {
	s.t.Helper()
	return stateText(s.t, one.Workspace)
}

func stateText(t *testing.T, w *lab.Workspace) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// drawing replaces what is drawn anew on each side: the same random text by the
// same name, so that mixing two up is still seen.
type drawing struct{ known map[string]string }

var (
	randomText = regexp.MustCompile(`[A-Z2-7]{24,}`)
	momentText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	uuidText   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

func (d *drawing) text(text string) string {
	text = randomText.ReplaceAllStringFunc(text, d.name)
	text = uuidText.ReplaceAllString(text, "UUID")
	return momentText.ReplaceAllString(text, "MOMENT")
}

func (d *drawing) name(random string) string {
	if d.known[random] == "" {
		d.known[random] = "RANDOM" + string(rune('a'+len(d.known)%26)) + strings.Repeat("'", len(d.known)/26)
	}
	return d.known[random]
}

// state reads a state and leaves nothing out but its lineage, which is drawn
// too, and its serial, which counts how often there was time to write it. What
// providers keep for themselves is decoded.
func (d *drawing) state(text string) any {
	if text == "" {
		return nil
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return text
	}
	delete(all, "lineage")
	delete(all, "serial")
	return d.value("", all)
}

func (d *drawing) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		made := make(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			made[d.text(key)] = d.value(key, v[key])
		}
		return made
	case []any:
		made := []any{}
		for _, element := range v {
			made = append(made, d.value("", element))
		}
		if key == "sensitive_attributes" { // their order is drawn as well
			slices.SortFunc(made, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return made
	case string:
		switch key {
		case "private":
			v = decodedPrivate(v)
		case "deposed": // a key, drawn as well
			v = "KEY"
		}
		return d.text(v)
	default:
		return v
	}
}

// decodedPrivate decodes private data: base64 of JSON with base64 in it.
func decodedPrivate(text string) string {
	outer, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	return regexp.MustCompile(`"[A-Za-z0-9+/=]+"`).ReplaceAllStringFunc(string(outer), func(quoted string) string {
		inner, err := base64.StdEncoding.DecodeString(strings.Trim(quoted, `"`))
		if err != nil || !json.Valid(inner) {
			return quoted
		}
		return string(inner)
	})
}
