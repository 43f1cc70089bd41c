// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"fmt"
	"net/http"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// checkMachine refuses more disks or interfaces than the size of a machine
// takes, one of them twice, an interface that another machine has, and another
// image.
func (c *Cloud) checkMachine(ch *change) *arm.Error {
	if ch.id.Kind != arm.VirtualMachine || ch.after == nil {
		return nil
	}
	p := ch.after.Properties
	size, _ := arm.SizeByName(p.VMSize) // checked with the content
	if n := len(p.DataDisks); n > size.MaxDataDisks {
		return notAllowed("a machine of size %s takes %d data disks at most, not %d", size.Name, size.MaxDataDisks, n)
	}
	if n := len(p.NetworkInterfaces); n > size.MaxInterfaces {
		return notAllowed("a machine of size %s takes %d network interfaces at most, not %d", size.Name, size.MaxInterfaces, n)
	}
	if ch.object != nil && ch.object.res.Properties.Image != p.Image {
		e := notAllowed("the image of a machine is chosen when it is created: %q cannot become %q", ch.object.res.Properties.Image, p.Image)
		e.Code = arm.CodePropertyChangeNotAllowed
		return e
	}
	seen := make(map[string]bool)
	for _, r := range references(p) {
		if seen[refKey(r.to)] {
			return badRequest(arm.CodeInvalidRequestContent, "%s is named twice", r.to.ID)
		}
		seen[refKey(r.to)] = true
	}
	for _, to := range p.NetworkInterfaces {
		for _, user := range c.users(refKey(&to)) {
			if user != ch.object {
				return badRequest(arm.CodeInUseNetworkInterface, "the network interface %s is already used by %s", to.ID, user.id)
			}
		}
	}
	return nil
}

// checkShares keeps the machines a disk is attached to within its maxShares. A
// machine counts from the acceptance of the write that attaches the disk to the
// acceptance of the one that detaches it, or the end of the machine's deletion.
func (c *Cloud) checkShares(ch *change) *arm.Error {
	switch {
	case ch.after == nil:
	case ch.id.Kind == arm.ManagedDisk:
		if n := len(c.users(ch.id.Key())); n > ch.after.Properties.MaxShares {
			return sharesExceeded(ch.id, ch.after.Properties.MaxShares, n)
		}
	case ch.id.Kind == arm.VirtualMachine:
		for _, to := range ch.after.Properties.DataDisks {
			disk := c.objects[refKey(&to)]
			n := 1
			for _, user := range c.users(disk.id.Key()) {
				if user != ch.object {
					n++
				}
			}
			if n > disk.res.Properties.MaxShares {
				return sharesExceeded(disk.id, disk.res.Properties.MaxShares, n)
			}
		}
	}
	return nil
}

func sharesExceeded(disk arm.ID, limit, wanted int) *arm.Error {
	return &arm.Error{
		HTTPStatus: http.StatusConflict, Code: arm.CodeDiskMaxSharesExceeded,
		Message: fmt.Sprintf("the disk %s may be attached to %d virtual machines at once (maxShares), not to %d", disk, limit, wanted),
	}
}

func notAllowed(format string, args ...any) *arm.Error {
	return &arm.Error{HTTPStatus: http.StatusConflict, Code: arm.CodeOperationNotAllowed, Message: fmt.Sprintf(format, args...)}
}
