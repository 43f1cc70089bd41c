// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm

import "slices"

// ProvisioningState is where a resource stands in its life.
type ProvisioningState string

// Provisioning states. The first three say that a write is in flight, the last
// three how the latest write ended.
const (
	Creating  ProvisioningState = "Creating"
	Updating  ProvisioningState = "Updating"
	Deleting  ProvisioningState = "Deleting"
	Succeeded ProvisioningState = "Succeeded"
	Failed    ProvisioningState = "Failed"
	Canceled  ProvisioningState = "Canceled"
)

// Resource is the JSON form of every kind. ID, Name, Type, Etag and the
// provisioning state are written by the cloud and ignored in requests, so a
// client may send back what it read.
type Resource struct {
	ID         string            `json:"id,omitempty"`
	Name       string            `json:"name,omitempty"`
	Type       string            `json:"type,omitempty"`
	Etag       string            `json:"etag,omitempty"`
	Location   string            `json:"location,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	SKU        *SKU              `json:"sku,omitempty"`
	Properties Properties        `json:"properties"`
}

// SKU is the product variant of a public IP address.
type SKU struct {
	Name string `json:"name"`
}

// Properties is the union of the properties of all kinds. A property that does
// not belong to the kind of a resource is refused in a request.
type Properties struct {
	ProvisioningState ProvisioningState `json:"provisioningState,omitempty"`
	// UniqueID names one life of the object: an object that is deleted and created
	// again under the same id has another one.
	UniqueID string `json:"uniqueId,omitempty"`

	// Virtual network.
	AddressSpace *AddressSpace `json:"addressSpace,omitempty"`

	// Subnet.
	AddressPrefix    string            `json:"addressPrefix,omitempty"`
	ServiceEndpoints []ServiceEndpoint `json:"serviceEndpoints,omitempty"`

	// UsedAddresses is how many addresses of a subnet its interfaces have, without
	// those that the cloud keeps for itself; counted by the cloud.
	UsedAddresses *int `json:"usedAddresses,omitempty"`

	// Subnet and network interface.
	NetworkSecurityGroup *Reference `json:"networkSecurityGroup,omitempty"`

	// Network interface. PrivateIPAddress is chosen by the cloud.
	Subnet           *Reference `json:"subnet,omitempty"`
	PublicIPAddress  *Reference `json:"publicIPAddress,omitempty"`
	PrivateIPAddress string     `json:"privateIPAddress,omitempty"`

	// Public IP address, chosen by the cloud.
	IPAddress string `json:"ipAddress,omitempty"`

	// Security rule.
	Priority             int    `json:"priority,omitempty"`
	Direction            string `json:"direction,omitempty"`
	Access               string `json:"access,omitempty"`
	Protocol             string `json:"protocol,omitempty"`
	SourceAddressPrefix  string `json:"sourceAddressPrefix,omitempty"`
	DestinationPortRange string `json:"destinationPortRange,omitempty"`

	// Managed disk: its size in GiB, and on how many virtual machines it may be
	// at once (1 if not said).
	DiskSizeGB int `json:"diskSizeGB,omitempty"`
	MaxShares  int `json:"maxShares,omitempty"`
	// AttachedMachines are the machines that have the disk, sorted by id; known to
	// the cloud.
	AttachedMachines []Reference `json:"attachedMachines,omitempty"`

	// Virtual machine. Its image can be chosen only when it is created.
	Image             string      `json:"image,omitempty"`
	VMSize            string      `json:"vmSize,omitempty"`
	NetworkInterfaces []Reference `json:"networkInterfaces,omitempty"`
	DataDisks         []Reference `json:"dataDisks,omitempty"`

	// Policy document: all its statements, in order.
	Statements []string `json:"statements,omitempty"`

	// Account attachment: what is attached to the account.
	Target string `json:"target,omitempty"`

	// Function. Revision counts its writes and those of its permissions; the
	// cloud keeps it.
	Runtime  string `json:"runtime,omitempty"`
	Revision int    `json:"revision,omitempty"`

	// Permission of a function.
	Principal string `json:"principal,omitempty"`
	Action    string `json:"action,omitempty"`

	// Quota, in virtual processors. CurrentValue is what all machines take of it,
	// running or not; counted by the cloud.
	Limit        *int `json:"limit,omitempty"`
	CurrentValue *int `json:"currentValue,omitempty"`
}

// AddressSpace is the list of IPv4 prefixes of a virtual network.
type AddressSpace struct {
	AddressPrefixes []string `json:"addressPrefixes"`
}

// ServiceEndpoint opens a subnet to one platform service.
type ServiceEndpoint struct {
	Service string `json:"service"`
}

// Reference points to another resource by id.
type Reference struct {
	ID string `json:"id"`
}

// RefID is the id behind a reference, empty for none.
func RefID(r *Reference) string {
	if r == nil {
		return ""
	}
	return r.ID
}

// NewReference is a reference to id, nil for an empty one.
func NewReference(id string) *Reference {
	if id == "" {
		return nil
	}
	return &Reference{ID: id}
}

// NewReferences are references to ids, nil for none.
func NewReferences(ids []string) []Reference {
	var rs []Reference
	for _, id := range ids {
		rs = append(rs, Reference{ID: id})
	}
	return rs
}

// Clone copies the resource so that neither copy sees changes of the other.
func (r Resource) Clone() Resource {
	if r.Tags != nil {
		tags := make(map[string]string, len(r.Tags))
		for k, v := range r.Tags {
			tags[k] = v
		}
		r.Tags = tags
	}
	r.SKU = clonePointer(r.SKU)
	p := &r.Properties
	if p.AddressSpace != nil {
		p.AddressSpace = &AddressSpace{AddressPrefixes: slices.Clone(p.AddressSpace.AddressPrefixes)}
	}
	p.ServiceEndpoints = slices.Clone(p.ServiceEndpoints)
	p.NetworkSecurityGroup = clonePointer(p.NetworkSecurityGroup)
	p.Subnet = clonePointer(p.Subnet)
	p.PublicIPAddress = clonePointer(p.PublicIPAddress)
	p.NetworkInterfaces = slices.Clone(p.NetworkInterfaces)
	p.DataDisks = slices.Clone(p.DataDisks)
	p.AttachedMachines = slices.Clone(p.AttachedMachines)
	p.Statements = slices.Clone(p.Statements)
	p.UsedAddresses = clonePointer(p.UsedAddresses)
	p.Limit, p.CurrentValue = clonePointer(p.Limit), clonePointer(p.CurrentValue)
	return r
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// ResourceList is the answer to a read of a collection, sorted by id.
type ResourceList struct {
	Value []Resource `json:"value"`
}
