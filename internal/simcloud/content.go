// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Bounds of a security rule's priority.
const (
	minPriority = 100
	maxPriority = 4096
)

// checkContent decodes the body of a PUT and checks what can be checked without
// looking at other objects.
func (c *Cloud) checkContent(ch *change) *arm.Error {
	if ch.verb == Delete {
		return nil
	}
	request, err := decodeResource(ch.call.Body)
	if err != nil {
		return badContent(err)
	}
	after, err := accepted(ch.id.Kind, request)
	if err != nil {
		return badContent(err)
	}
	after.ID, after.Name, after.Type = ch.id.String(), ch.id.Name, ch.id.Kind.Type()
	ch.after = &after
	return nil
}

func badContent(err error) *arm.Error {
	return &arm.Error{HTTPStatus: http.StatusBadRequest, Code: arm.CodeInvalidRequestContent, Message: err.Error()}
}

func decodeResource(body []byte) (arm.Resource, error) {
	var r arm.Resource
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return r, fmt.Errorf("the request body is no resource: %w", err)
	}
	if _, err := in.Token(); err != io.EOF {
		return r, fmt.Errorf("the request body goes on after the resource")
	}
	return r, nil
}

// accepted is the request cut down to what its kind has. A property that does
// not belong there is an error; what the cloud itself writes is ignored.
func accepted(kind arm.Kind, request arm.Resource) (arm.Resource, error) {
	request = request.Clone()
	request.ID, request.Name, request.Type, request.Etag = "", "", "", ""
	p := &request.Properties
	p.ProvisioningState, p.UniqueID, p.PrivateIPAddress, p.IPAddress, p.Revision = "", "", "", "", 0
	p.UsedAddresses, p.AttachedMachines, p.CurrentValue = nil, nil, nil
	if kind == arm.ManagedDisk && p.MaxShares == 0 {
		p.MaxShares = 1
	}
	if kind == arm.PublicIPAddress && request.SKU == nil {
		request.SKU = &arm.SKU{Name: "Standard"}
	}
	own := arm.Resource{Properties: ownProperties(kind, request.Properties)}
	if kind.Tracked() {
		own.Location, own.Tags = request.Location, request.Tags
	}
	if kind == arm.PublicIPAddress {
		own.SKU = request.SKU
	}
	if !reflect.DeepEqual(own, request) {
		return own, fmt.Errorf("the request has properties that a %s does not have", kind)
	}
	return own, checkOwn(kind, own)
}

func ownProperties(kind arm.Kind, p arm.Properties) arm.Properties {
	switch kind {
	case arm.VirtualNetwork:
		return arm.Properties{AddressSpace: p.AddressSpace}
	case arm.Subnet:
		return arm.Properties{AddressPrefix: p.AddressPrefix, ServiceEndpoints: p.ServiceEndpoints, NetworkSecurityGroup: p.NetworkSecurityGroup}
	case arm.NetworkInterface:
		return arm.Properties{Subnet: p.Subnet, PublicIPAddress: p.PublicIPAddress, NetworkSecurityGroup: p.NetworkSecurityGroup}
	case arm.SecurityRule:
		return arm.Properties{
			Priority: p.Priority, Direction: p.Direction, Access: p.Access, Protocol: p.Protocol,
			SourceAddressPrefix: p.SourceAddressPrefix, DestinationPortRange: p.DestinationPortRange,
		}
	}
	return ownServiceProperties(kind, p)
}

// ownServiceProperties is ownProperties of the kinds outside the network service.
func ownServiceProperties(kind arm.Kind, p arm.Properties) arm.Properties {
	switch kind {
	case arm.ManagedDisk:
		return arm.Properties{DiskSizeGB: p.DiskSizeGB, MaxShares: p.MaxShares}
	case arm.VirtualMachine:
		return arm.Properties{VMSize: p.VMSize, Image: p.Image, NetworkInterfaces: p.NetworkInterfaces, DataDisks: p.DataDisks}
	case arm.PolicyDocument:
		return arm.Properties{Statements: p.Statements}
	case arm.AccountAttachment:
		return arm.Properties{Target: p.Target}
	case arm.Function:
		return arm.Properties{Runtime: p.Runtime}
	case arm.FunctionPermission:
		return arm.Properties{Principal: p.Principal, Action: p.Action}
	case arm.Quota:
		return arm.Properties{Limit: p.Limit}
	}
	return arm.Properties{}
}

// checkOwn checks required and enumerated properties.
func checkOwn(kind arm.Kind, r arm.Resource) error {
	if kind.Tracked() && r.Location == "" {
		return fmt.Errorf("a %s needs a location", kind)
	}
	switch kind {
	case arm.VirtualNetwork:
		if r.Properties.AddressSpace == nil || len(r.Properties.AddressSpace.AddressPrefixes) == 0 {
			return fmt.Errorf("a virtual network needs at least one address prefix")
		}
	case arm.NetworkInterface:
		if r.Properties.Subnet == nil {
			return fmt.Errorf("a network interface needs a subnet")
		}
	case arm.PublicIPAddress:
		return oneOf("sku", r.SKU.Name, "Basic", "Standard")
	case arm.SecurityRule:
		return checkRuleContent(r.Properties)
	}
	return checkService(kind, r.Properties)
}

// Bounds of a managed disk.
const (
	maxDiskSizeGB = 32_767
	maxDiskShares = 10
)

// checkService is checkOwn of the kinds outside the network service.
func checkService(kind arm.Kind, p arm.Properties) error {
	switch kind {
	case arm.ManagedDisk:
		if p.DiskSizeGB < 1 || p.DiskSizeGB > maxDiskSizeGB {
			return fmt.Errorf("the disk size %d GiB is not in 1..%d", p.DiskSizeGB, maxDiskSizeGB)
		}
		if p.MaxShares < 1 || p.MaxShares > maxDiskShares {
			return fmt.Errorf("maxShares %d is not in 1..%d", p.MaxShares, maxDiskShares)
		}
	case arm.VirtualMachine:
		if _, ok := arm.SizeByName(p.VMSize); !ok {
			return fmt.Errorf("%q is no size of virtual machines", p.VMSize)
		}
	case arm.AccountAttachment:
		return needed(kind, "target", p.Target)
	case arm.Function:
		return needed(kind, "runtime", p.Runtime)
	case arm.FunctionPermission:
		if err := needed(kind, "principal", p.Principal); err != nil {
			return err
		}
		return needed(kind, "action", p.Action)
	case arm.Quota:
		if p.Limit == nil || *p.Limit < 0 {
			return fmt.Errorf("a quota needs a limit that is not negative")
		}
	}
	return nil
}

func needed(kind arm.Kind, what, value string) error {
	if value == "" {
		return fmt.Errorf("a %s needs a %s", kind, what)
	}
	return nil
}

func checkRuleContent(p arm.Properties) error {
	if p.Priority < minPriority || p.Priority > maxPriority {
		return fmt.Errorf("the priority %d is not in %d..%d", p.Priority, minPriority, maxPriority)
	}
	if err := oneOf("direction", p.Direction, "Inbound", "Outbound"); err != nil {
		return err
	}
	if err := oneOf("access", p.Access, "Allow", "Deny"); err != nil {
		return err
	}
	return oneOf("protocol", p.Protocol, "*", "Tcp", "Udp", "Icmp")
}

func oneOf(what, value string, allowed ...string) error {
	for _, a := range allowed {
		if strings.EqualFold(a, value) {
			return nil
		}
	}
	return fmt.Errorf("the %s %q is none of %s", what, value, strings.Join(allowed, ", "))
}
