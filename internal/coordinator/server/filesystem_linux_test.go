// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"strings"
	"testing"
)

// TestNetworkMagic uses the numbers of the kernel's headers, not this
// package's names for them.
func TestNetworkMagic(t *testing.T) {
	t.Parallel()
	for magic, want := range map[int64]string{
		0x6969: "nfs", 0xFF534D42: "cifs", 0xFE534D42: "cifs", 0x517B: "cifs", 0x01021997: "9p", 0x5346414F: "afs",
		0x00C36400: "ceph", 0x0BD00BD0: "lustre", int64(int32(-0x00ACB2BE)): "cifs", // as 32-bit machines have it
	} {
		if kind, ok := networkMagic(magic); !ok || kind != want {
			t.Errorf("%#x is %q, %v; want %q", magic, kind, ok, want)
		}
	}
	for name, magic := range map[string]int64{
		"ext4": 0xEF53, "xfs": 0x58465342, "btrfs": 0x9123683E, "tmpfs": 0x01021994, "overlay": 0x794C7630, "zfs": 0x2FC12FC1, "fuse": 0x65735546,
	} {
		if kind, ok := networkMagic(magic); ok {
			t.Errorf("%s is taken for %s", name, kind)
		}
	}
}

func TestFUSE(t *testing.T) {
	t.Parallel()
	const mounts = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
36 22 0:31 / /home/a\040b rw,nosuid shared:7 master:1 - fuse.sshfs a@b:/home rw,user_id=0
37 22 0:32 / /var/lib/c rw - fuse.fuse-overlayfs fuse-overlayfs rw
38 22 0:33 / /mnt/d rw,relatime - fuseblk /dev/vdb rw
`
	for device, want := range map[string]struct {
		kind    string
		network bool
	}{
		"0:31": {"fuse.sshfs", true},
		"0:32": {"fuse.fuse-overlayfs", false},
		"0:33": {"fuseblk", false},
		"0:34": {"fuse", false},
	} {
		kind := mountType(strings.NewReader(mounts), device)
		if kind != want.kind || networkFUSE(kind) != want.network {
			t.Errorf("%s is %s, network %v; want %+v", device, kind, networkFUSE(kind), want)
		}
	}
}
