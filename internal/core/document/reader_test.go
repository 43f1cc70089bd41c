// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestPieces: walking through a document gives the texts of its values, however
// the input comes in.
func TestPieces(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<17)
	doc := `{ "a" : [1, -2.5e3,"t\"]x\\", {"b":[{}]},[] , null,true],
		"c":{"d":"e}"},"n":17 ,"none":null,"big":"` + big + `","last":-3}` + "\n "
	for name, r := range map[string]*Reader{
		"whole": NewReader(strings.NewReader(doc)), "bytes": NewReader(iotest.OneByteReader(strings.NewReader(doc))),
	} {
		var got []string
		value := func() error {
			v, err := r.Value()
			got = append(got, string(v))
			return err
		}
		err := r.Object(func(key string) error {
			got = append(got, key)
			if key == "a" || key == "none" {
				return r.Array(value)
			}
			return value()
		})
		if err = errors.Join(err, r.End()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := []string{
			"a", "1", "-2.5e3", `"t\"]x\\"`, `{"b":[{}]}`, "[]", "null", "true",
			"c", `{"d":"e}"}`, "n", "17", "none", "big", `"` + big + `"`, "last", "-3",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "[", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a" 1}`, `{"a":1,}`, `{,}`, `{a:1}`, `["a":1]`, `{"a":1}x`, `{"a":"`} {
		r := NewReader(strings.NewReader(doc))
		err := r.Object(func(string) error {
			_, err := r.Value()
			return err
		})
		if err = errors.Join(err, r.End()); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// FuzzValue: what encoding/json takes for one value is one value here.
func FuzzValue(f *testing.F) {
	for i, s := range []string{`{"a":[1,"\\\"",{}]}`, "17", `""`, "[[],[]]", "null"} {
		f.Add([]byte(s), byte(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, _ byte) {
		if !json.Valid(text) {
			return
		}
		r := NewReader(bytes.NewReader(fmt.Appendf(nil, "[%s , 1]", text)))
		var got [][]byte
		err := r.Array(func() error {
			v, err := r.Value()
			got = append(got, bytes.Clone(v))
			return err
		})
		if err != nil || len(got) != 2 || !bytes.Equal(got[0], bytes.TrimSpace(text)) {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
	})
}
