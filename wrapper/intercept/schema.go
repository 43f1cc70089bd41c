// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "github.com/zclconf/go-cty/cty"

// Schema is what the proxy keeps of one schema block: the type its values
// have on the wire, and which attributes are secret.
type Schema struct {
	// Type is the object type implied by the block.
	Type cty.Type
	// Sensitive holds the paths marked sensitive by the provider.
	Sensitive cty.PathSet
	// WriteOnly holds the paths that never reach the state.
	WriteOnly cty.PathSet
	// Version is the schema version of the resource type.
	Version int64
}
