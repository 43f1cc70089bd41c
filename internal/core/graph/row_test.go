// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/core/document"
)

// filled is a node of which every field is set, numbers and texts all different.
func filled() Node {
	var n Node
	next := 0
	var fill func(reflect.Value)
	fill = func(v reflect.Value) {
		next++
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0))
			fill(v.Index(1))
		case reflect.String:
			v.SetString(fmt.Sprint("text ", next))
		case reflect.Int64:
			v.SetInt(-int64(next))
		case reflect.Uint64:
			v.SetUint(uint64(next))
		}
	}
	fill(reflect.ValueOf(&n).Elem())
	return n
}

// TestRowsAreJSON: nodes are written as encoding/json writes them, and read back
// without it where they are plain, else with it.
func TestRowsAreJSON(t *testing.T) {
	t.Parallel()
	full := filled()
	for name, x := range map[string]struct {
		change func(*Node)
		plain  bool
	}{
		"full":       {func(*Node) {}, true},
		"empty":      {func(n *Node) { *n = Node{} }, true},
		"no history": {func(n *Node) { n.History = nil }, true},
		"quotes":     {func(n *Node) { n.Address = `x["a\b"]` }, true},
		"unicode":    {func(n *Node) { n.Owner = "Zoë" }, true},
		"html":       {func(n *Node) { n.History[1].Result = "<&>" }, true},
		"a bell":     {func(n *Node) { n.Type = "a\b\r\x07" }, false},
		"control":    {func(n *Node) { n.Type = "a\nb\x7f" }, true},
		"invalid":    {func(n *Node) { n.Digest = "\xff" }, true},
	} {
		n := full
		n.History = append([]Change(nil), full.History...)
		x.change(&n)
		want, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		got := appendNode(nil, &n)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: wrote\n%s\nnot\n%s", name, got, want)
		}
		var back, again Node
		if err := json.Unmarshal(got, &again); err != nil {
			t.Fatal(err)
		}
		if plain := parseNode(got, &back, words{}); plain != x.plain {
			t.Errorf("%s is plain: %t", name, plain)
		} else if d := cmp.Diff(again, back); plain && d != "" {
			t.Errorf("%s: read\n%s", name, d)
		}
	}
}

// TestNotPlain: what is not as row writes it is left to encoding/json.
func TestNotPlain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{`, `}`, `{}`, `null`, `[]`, `{"id":"a"`, `{"id":"a"}x`, `{"id": "a"}`, `{"id":"a",}`, `{"id":7}`, `{"ID":"a"}`,
		`{"id":"a","version":-1}`, `{"id":"a","version":1.5}`, `{"id":"a","version":99999999999999999999}`, `{"id":"a","history":[]}`,
		`{"id":"a","history":null}`, `{"id":"a","history":[{"at":1,"more":2}]}`, `{"id":"a","history":]}`, `{"id":"a","more":1}`,
	} {
		if parseNode([]byte(text), &Node{}, words{}) {
			t.Errorf("%s is plain", text)
		}
		var want Node
		wrong := strict([]byte(`{"nodes":[`+text+`]}`), &struct {
			Nodes []*Node `json:"nodes"`
		}{[]*Node{&want}}) != nil
		err := New().ReadJSON(document.NewReader(bytes.NewReader([]byte(`{"nodes":[` + text + `]}`))))
		if wrong && err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// TestTextsAreJSON: strings are written as encoding/json writes them, and read as
// it reads them, or left to it.
func TestTextsAreJSON(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", `"`, `\`, `a["b\c"]`, "\u2028<", "Zoë 😀", "\xff", "\x00", "\n\t", "\x7f"} {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := document.AppendText([]byte("before"), s); string(got) != "before"+string(want) {
			t.Errorf("%q is written %s, not %s", s, got, want)
		}
	}
	for _, text := range []string{
		`""`, `"\u0041"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u12"`, `"\u+123"`, `"\x"`, `"\`, `"\"`, `"`, `"a\/b\\"`, "\"\xff\"", "\"\n\"", `"ë\"😀"`, `"\b\f\r"`,
	} {
		var want string
		err := json.Unmarshal([]byte(text), &want)
		p := parse{rest: []byte(text), words: words{}, ok: true}
		if got := p.text(); p.ok && (err != nil || got != want || len(p.rest) > 0) {
			t.Errorf("%s is read as %q, not %q, %v", text, got, want, err)
		}
	}
}
