// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import "time"

// Within is o with another bound on how long a coordinator is looked for.
func (o Options) Within(d time.Duration) Options {
	o.within = d
	return o
}
