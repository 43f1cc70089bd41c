// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package mutants seeds faults into the code, one patch at a time, and asks the
// tests to find each. An invariant that no fault can break is not checked by
// anything.
//
// The patches beside this file are the project's own: faults of the protocol. A
// [Runner] tries any others in the same way; the program cmd/mutants runs it, and
// the README says how. A patch is what git diff prints, with or without prefixes,
// or diff -u, against the root of the repository.
//
// What found a patch stands beside it in NAME.found, written by -record: the test,
// and what that said. Where that is a counterexample of the explorer, the first
// line says so, and the history and its script follow in full; see [Story].
// Anything else is shortened at its end, and says by how much.
//
// A patch may begin with lines that say what the fault is (Mutant), the package
// whose tests find it (Package, below internal/core), which of them (Run), and where
// the explorer's runs have to begin for it (Seed).
// That is only the quick way: a fault that those do not find goes through all
// stages, as one without such a head does, and only then has it survived. A patch
// that cannot be tried, or that changes no code of the core, is unfit: nothing is
// known of it.
//
// The repository itself is never written to, but for the notes. All is done in
// temporary folders, which go when the program ends; those of a program that was
// killed go when it is run again, and what it has started ends with it.
package mutants
