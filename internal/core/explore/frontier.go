// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

// deepest bounds the mishaps of a history: those that a configuration allows,
// and one that a batch may add to a decision which is one already.
const deepest = 4

// frontier are the worlds that were seen and not expanded yet, by the mishaps in
// their histories. The search deepens iteratively: it takes all histories without
// a mishap first, then those with one, and so on, so that what it leaves out
// when its budget ends are histories with many.
//
// A search that is cut short depth-first has seen one corner of the space, and
// one that is cut short breadth-first none of its ends. So three worlds of four
// are the latest, which leads to ends, and the fourth is any, which spreads.
type frontier struct {
	open   [deepest + 1][]uint32
	level  int // of mishaps; those below are done
	chance draw
	turn   uint8
}

// reset empties the frontier and keeps its room.
func (f *frontier) reset() {
	for i := range f.open {
		f.open[i] = f.open[i][:0]
	}
	f.level, f.chance, f.turn = 0, 0, 0
}

// add puts a world into the frontier.
func (f *frontier) add(at uint32, faults uint8) {
	l := max(f.level, min(int(faults), deepest))
	f.open[l] = append(f.open[l], at)
}

// take takes a world of the level out of the frontier, if there is one.
func (f *frontier) take() (uint32, bool) {
	list := f.open[f.level]
	last := len(list) - 1
	if last < 0 {
		return 0, false
	}
	if f.turn++; f.turn%4 == 0 {
		i := f.chance.below(last + 1)
		list[i], list[last] = list[last], list[i]
	}
	f.open[f.level] = list[:last]
	return list[last], true
}

// deepen goes on to the next level, and says whether there is one.
func (f *frontier) deepen() bool {
	if f.level == deepest {
		return false
	}
	f.level++
	return true
}
