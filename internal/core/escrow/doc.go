// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package escrow is the accounting of capacity: quotas, addresses of a subnet,
// attachment slots. Calls that change the same count need not exclude each
// other as long as every order and every outcome of theirs keeps the count
// within its limit (O'Neil, The Escrow Transactional Method, 1986). The table
// knows owners and buckets, not sessions, queues or time; those are the
// business of package admission.
//
// # Bounds
//
// What the cloud has in use cannot be known while calls run, only bounded:
//
//	sup = confirmed use + what holds may yet add       (their peak)
//	inf = confirmed use - what running calls may free  (their trough)
//
// Something is admitted if sup + its peak stays within the limit, in all
// buckets at once or in none. It is hopeless if even inf + its peak does not.
// A free is nobody's to spend before it is confirmed.
//
// # Holds
//
// An owner holds an [Order]: calls with signed effects, and which must have
// succeeded before which. A single call is an order of one; a claim is an
// order whose frees will come for certain as far as others may hope; a plan
// reservation is an order whose calls have merely been declared: their
// consumption is held, their frees count for nobody until the calls are
// committed, drawn or run. The need of an order is its peak over all sets of
// calls that can have landed, which are the down-closed subsets of the order;
// it is taken again from the remaining calls whenever one ends. That is why a
// free that is confirmed inside an order stays held for those of its calls
// that need it, and only for those.
//
// # Observations
//
// A read of the cloud says how much was in use at some moment between its
// begin and its arrival. The effects that were under way in between may be in
// that number or not. So confirmed use is itself an interval until a later read
// has begun after they ended: its upper end assumes that consumers were not
// counted and frees were, its lower end the reverse. The same holds for calls
// that still run: the peak of an order takes an ambiguous free as spent, and
// its trough an ambiguous consumer.
//
// # Guarantees
//
// As long as use from outside does not change unobserved, sup is an upper and
// inf a lower bound of what is in use, now and in every future that admits
// nothing new. Only a limit or an observation can bring sup above the limit,
// never a reservation, draw or settlement; the bucket is then overcommitted:
// nothing that consumes is admitted, and nothing is taken back from a holder.
package escrow
