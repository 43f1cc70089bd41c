// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"errors"
	"fmt"
)

// Freeze fails: there is no such signal on Windows.
func (r *Run) Freeze() (thaw func() error, err error) {
	return nil, fmt.Errorf("%s: freeze: %w", r.Name, errors.ErrUnsupported)
}
