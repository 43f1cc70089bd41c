// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

func (f *Finding) Script() string { return "" }
