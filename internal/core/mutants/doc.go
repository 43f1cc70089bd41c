// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package mutants holds seeded faults of the coordination protocol, one patch
// each, and a test that puts every one of them into a copy of the core and asks
// the other tests to find it. An invariant that no fault can break is not
// checked by anything.
//
// A patch begins with three lines: what the fault is, the package whose tests
// have to find it, and which of its tests. A fourth one, Seed, may say where the
// search of explore/runs has to begin so that it finds the fault soon.
//
// Plain go test tries a few of the faults; MUTANTS=all tries all of them,
// MUTANTS=name a single one.
package mutants
