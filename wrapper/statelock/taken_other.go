// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package statelock

// lockOf cannot ask here: Windows tells of a lock only to who wants to take it,
// and whoever starts in that moment would be turned away. So the data of the
// holder count, which a killed CLI leaves behind.
func lockOf(string) taken { return cannotTell }
