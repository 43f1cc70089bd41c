// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package mutants seeds faults into the code, one patch at a time, and asks the
// tests to find each. An invariant that no fault can break is not checked by
// anything.
//
// The patches beside this file are the project's own: faults of the protocol,
// each with the counterexample that finds it in testdata/admission of package
// admission, or with the test that does. A [Runner] tries any others in the same
// way; the program cmd/mutants runs it.
//
// A patch may begin with lines that say what the fault is (Mutant), the package
// whose tests find it (Package, below internal/core), which of them (Run), and where
// the explorer's runs have to begin for it (Seed).
// That is only the quick way: a fault that those do not find goes through all
// stages, as one without such a head does.
package mutants
