// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package plugins finds, checks and runs the real provider processes.
//
// Under TF_REATTACH_PROVIDERS the Terraform CLI treats a provider as started
// by somebody else: it looks neither at the dependency lock file nor at the
// installed package. What the CLI no longer does is done here, in the same
// order: [ReadLockFile] says which version was selected, [Locate] finds the
// package that "terraform init" installed, [Verify] compares it with the
// checksums of the lock file, and [Launch] starts its executable as a go-plugin
// server with mutual TLS.
//
// A [Pool] keeps as few processes as the connections of the CLI allow. [Notes]
// remember on the disk which protocol a verified package speaks, and nothing else
// does. A provider that the user has started is not started again but attached to
// ([Attach]).
package plugins
