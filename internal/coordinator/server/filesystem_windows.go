// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// SystemFileSystem is what the operating system says.
func SystemFileSystem(dir string) (kind string, network bool, err error) {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`) {
		return "network share", true, nil
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return "", false, fmt.Errorf("volume of %s: %w", dir, err)
	}
	return "drive " + volume, windows.GetDriveType(root) == windows.DRIVE_REMOTE, nil
}
