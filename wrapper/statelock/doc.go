// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package statelock finds out who holds Terraform's own lock of a state.
//
// A CLI that cannot get the lock shows "Lock Info", and whose data that is
// depends on the backend. Seen with Terraform 1.11.4 and OpenTofu 1.12.6, a lock
// held by somebody else:
//
//	local, both       the data are the holder's: ID, Who, Operation, Created
//	http, Terraform   "HTTP remote state already locked: ID=" and the holder's ID;
//	                  the data below are the requester's own, with an ID that the
//	                  requester made up: no "force-unlock" of it can work
//	http, OpenTofu    the same line, and below the holder's data
//
// Both CLIs keep the lock of a local state in the same two ways: an fcntl lock of
// the whole state file (LockFileEx on Windows), which ends with its process, and
// beside it the file ".NAME.lock.info" with the holder's data, which a killed CLI
// leaves behind. With -state-out the lock is that of the file written to. The
// data are one JSON object; the times are RFC 3339, in UTC:
//
//	{"ID":"...","Operation":"OperationTypeApply","Info":"","Who":"user@host",
//	 "Version":"1.11.4","Created":"...","Path":"terraform.tfstate"}
//
// A state behind HTTP can be asked in one way only: by wanting the lock. So that
// is done, with data that say that this only asks, in one request. Whoever holds
// the lock is in the answer of a server that refuses (409 or 423). If nobody
// does, the lock is given back at once; somebody who wants it in that moment is
// turned away, and with -lock-timeout tries again. Asking is not broken off when
// its context ends, only bounded, because a broken-off request may have got the
// lock; and if an answer is lost, the lock is wanted once more with the same ID,
// which tells whose it is. UNLOCK is only ever sent with the ID of a lock that
// the server has confirmed to be that of the question: there are servers that
// take any UNLOCK for the holder's, and Terraform's "force-unlock" sends none at
// all (an empty body; OpenTofu sends the ID).
//
// The holder's data are what a stranger wrote. They are bounded, and control
// characters are taken out, before anybody gets to see them.
package statelock
