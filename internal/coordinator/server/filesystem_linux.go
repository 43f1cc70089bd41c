// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkMagic names the file systems between machines by their number in
// statfs(2). The package unix has no names for some of them.
func networkMagic(magic int64) (string, bool) {
	switch uint32(magic) {
	case unix.NFS_SUPER_MAGIC:
		return "nfs", true
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "cifs", true
	case unix.V9FS_MAGIC:
		return "9p", true
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs", true
	case unix.CODA_SUPER_MAGIC:
		return "coda", true
	case 0x00C36400:
		return "ceph", true
	case 0x0BD00BD0:
		return "lustre", true
	case 0x01161970:
		return "gfs2", true
	case 0x7461636F:
		return "ocfs2", true
	case 0x47504653:
		return "gpfs", true
	}
	return "", false
}

// networkFUSE are programs behind FUSE that bring files from other machines.
// Many others, such as those of containers, keep them on this one.
func networkFUSE(kind string) bool {
	name, ok := strings.CutPrefix(kind, "fuse.")
	return ok && slices.Contains([]string{
		"sshfs", "glusterfs", "ceph", "ceph-fuse", "s3fs", "s3ql", "gcsfuse", "goofys", "mountpoint-s3", "rclone", "blobfuse", "blobfuse2",
		"juicefs", "moosefs", "mfs", "lizardfs", "seaweedfs", "davfs", "davfs2", "curlftpfs", "nfs-ganesha", "smbnetfs", "cvmfs2", "vmhgfs-fuse",
	}, strings.ToLower(name))
}

// SystemFileSystem is what the operating system says.
func SystemFileSystem(dir string) (kind string, network bool, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", false, fmt.Errorf("statfs %s: %w", dir, err)
	}
	magic := int64(fs.Type) //nolint:unconvert // narrower on some machines
	if kind, ok := networkMagic(magic); ok {
		return kind, true, nil
	}
	if uint32(magic) != unix.FUSE_SUPER_MAGIC {
		return fmt.Sprintf("%#x", uint32(magic)), false, nil
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", false, fmt.Errorf("stat %s: %w", dir, err)
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "fuse", false, err
	}
	defer mounts.Close()
	device := uint64(st.Dev) //nolint:unconvert // narrower on some machines
	kind = mountType(mounts, fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device)))
	return kind, networkFUSE(kind), nil
}

// mountType finds the type of the mount with a device number in the text of
// proc(5) mountinfo; "fuse" when it is not there.
func mountType(mounts io.Reader, device string) string {
	lines := bufio.NewScanner(mounts)
	for lines.Scan() {
		place, kind, ok := strings.Cut(lines.Text(), " - ")
		fields, types := strings.Fields(place), strings.Fields(kind)
		if ok && len(fields) > 2 && fields[2] == device && len(types) > 0 {
			return types[0]
		}
	}
	return "fuse"
}
