// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// BenchmarkAppendTo is what one projection costs in a state as small as those
// that are explored: 8 objects, 3 facets, 3 sessions, 3 transactions.
func BenchmarkAppendTo(b *testing.B) {
	w := newWorld(b, "r/h", admission.Queue)
	w.watch = nil
	for id, o := range map[admission.TxID]op{
		"t": slotWrite(w, "r/h/net/secret"), "u": change(admission.Update, "r/g/vm"),
		"v": change(admission.Read, "r/h/net/s1", want(graph.FacetOf("r/g/vm", graph.Life), mode.S, "dependency")),
	} {
		_ = w.submit(id, o.request(map[admission.TxID]string{"t": "pal", "u": "me", "v": "root-h"}[id]))
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = w.lens.AppendTo(buf[:0], w.state)
	}
}
