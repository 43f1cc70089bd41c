// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"errors"
	"strings"
	"testing"
)

// TestScalarsEnd: a number or a word ends before whatever cannot be part of it,
// and what follows has to belong there.
func TestScalarsEnd(t *testing.T) {
	t.Parallel()
	for doc, ok := range map[string]bool{
		"[1]": true, "[1,2]": true, "[1 ]": true, "[1\n]": true, "[1\t]": true, "[1\r]": true, "[true,null,-1e5]": true,
		"[1:2]": false, "[1}": false, "[1 2]": false, "[1,]": false, "[1": false,
	} {
		r := NewReader(strings.NewReader(doc))
		var last string
		err := r.Array(func() error {
			v, err := r.Value()
			last = string(v)
			return err
		})
		if ok != (err == nil) || !ok && !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %v behind %q", doc, err, last)
		}
	}
}

// TestOnlyNullIsNoArray: a word that begins like null is damage.
func TestOnlyNullIsNoArray(t *testing.T) {
	t.Parallel()
	for doc, ok := range map[string]bool{"null": true, " null ": true, "nil": false, "nulls": false, "n": false} {
		r := NewReader(strings.NewReader(doc))
		err := errors.Join(r.Array(func() error { t.Errorf("%q has an item", doc); return nil }), r.End())
		if ok != (err == nil) || !ok && !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %v", doc, err)
		}
	}
}
