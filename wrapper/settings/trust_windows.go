// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package settings

import "io/fs"

// trusted leaves it to the folders' access lists who may put files there: the
// ones above a user's folders are not open to everybody.
func trusted(fs.FileInfo, string) bool { return true }
