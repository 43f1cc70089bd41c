// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"encoding/binary"
	"io"

	"github.com/zclconf/go-cty/cty"
)

// The canonical form is a sequence of tagged, length-prefixed items, so that no
// two values share it.
const (
	tagNull      = 'n'
	tagUnknown   = 'u'
	tagSensitive = 's'
	tagText      = 't'
	tagNumber    = 'd'
	tagTrue      = 'T'
	tagFalse     = 'F'
	tagList      = 'l'
	tagMap       = 'm'
	tagEnd       = 'e'
)

// writeCanonical writes the canonical form of the value at path. w is a hash,
// which never fails.
func writeCanonical(w io.Writer, path cty.Path, v cty.Value, secret patterns) {
	if v != cty.NilVal {
		v, _ = v.Unmark()
	}
	switch {
	case secret.match(path):
		writeItem(w, tagSensitive, "")
	case v == cty.NilVal || v.IsNull():
		writeItem(w, tagNull, "")
	case !v.IsKnown():
		writeItem(w, tagUnknown, "")
	case v.Type() == cty.String:
		writeItem(w, tagText, v.AsString())
	case v.Type() == cty.Number:
		writeItem(w, tagNumber, v.AsBigFloat().Text('g', -1))
	case v.Type() == cty.Bool:
		writeItem(w, map[bool]byte{true: tagTrue, false: tagFalse}[v.True()], "")
	case v.CanIterateElements():
		writeElements(w, path, v, secret)
	default: // a capsule, which no provider sends
		writeItem(w, tagUnknown, v.Type().FriendlyName())
	}
}

// writeElements writes a collection. Iteration is in order of keys, and of
// values in a set. Null attributes are left out: a newer provider that adds an
// attribute nobody set has not changed the object.
func writeElements(w io.Writer, path cty.Path, v cty.Value, secret patterns) {
	ty := v.Type()
	keyed := ty.IsObjectType() || ty.IsMapType()
	if keyed {
		writeItem(w, tagMap, "")
	} else {
		writeItem(w, tagList, "")
	}
	for it := v.ElementIterator(); it.Next(); {
		key, element := it.Element()
		step := cty.PathStep(cty.IndexStep{Key: key})
		if ty.IsObjectType() {
			step = cty.GetAttrStep{Name: key.AsString()}
		}
		at := append(path[:len(path):len(path)], step)
		if keyed {
			if element.IsNull() && !secret.match(at) {
				continue
			}
			writeItem(w, tagText, key.AsString())
		}
		writeCanonical(w, at, element, secret)
	}
	writeItem(w, tagEnd, "")
}

func writeItem(w io.Writer, tag byte, text string) {
	head := binary.AppendUvarint([]byte{tag}, uint64(len(text)))
	_, _ = w.Write(append(head, text...)) // a hash never fails
}
