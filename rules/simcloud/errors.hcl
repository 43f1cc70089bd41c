# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

# What was accepted has changed something, however it ended.

error "superseded" {
  regex    = ["\\A[^\\n]*\\noperation [^\\n]* was accepted, then: CanceledAndSupersededDueToAnotherOperation"]
  class    = "in_flight"
  definite = false
  why      = "A write of the network was let in and undid the accepted one"
}

error "accepted" {
  regex    = ["\\A[^\\n]*\\noperation [^\\n]* was accepted, then: "]
  definite = false
  why      = "The cloud accepted the call; the operation failed, or its outcome was lost"
}

# What was refused has changed nothing.

error "busy" {
  codes    = ["AnotherOperationInProgress", "ConcurrentModification", "ResourceConflict"]
  class    = "in_flight"
  definite = true
  why      = "Another write was in flight"
}

error "attached" {
  regex    = ["\\A[^\\n]*\\nOperationNotAllowed \\(4[0-9]{2} [^)\\n]*\\): the disk [^\\n]* is attached to "]
  class    = "dependency"
  definite = true
  why      = "A machine has the disk that was to be deleted"
}

error "used" {
  codes = [
    "InUseNetworkSecurityGroupCannotBeDeleted", "InUsePrefixCannotBeDeleted", "InUseSubnetCannotBeDeleted", "NicInUse",
    "PublicIPAddressCannotBeDeleted", "PublicIPReferencedByMultipleIPConfigs", "ResourceGroupBeingDeleted",
  ]
  class    = "dependency"
  definite = true
  why      = "Something else uses the object, or its group is going away"
}

error "missing" {
  codes    = ["InvalidResourceReference", "ParentResourceNotFound", "ResourceGroupNotFound", "ResourceNotFound"]
  class    = "dependency"
  definite = true
  why      = "Something that the object needs is not there"
}

error "full" {
  codes    = ["DiskMaxSharesExceeded", "OperationNotAllowed", "SubnetIsFull"]
  class    = "capacity"
  definite = true
  why      = "There was not enough left of a quota, of addresses, or of slots"
}

error "changed" {
  codes    = ["PreconditionFailed", "PreconditionRequired"]
  class    = "lost_update"
  definite = true
  why      = "The object was changed since it was read"
}

error "taken" {
  codes    = ["NetcfgSubnetRangesOverlap", "SecurityRuleConflict"]
  regex    = ["\\ACannot create simcloud_[a-z_]+: it already exists\\n"]
  class    = "name"
  definite = true
  why      = "Another object has the name, the addresses or the place"
}

error "throttled" {
  codes    = ["TooManyRequests"]
  class    = "throttle"
  definite = true
  why      = "The cloud takes only so many writes in a time"
}

error "invalid" {
  codes = [
    "InvalidAddressPrefixFormat", "InvalidAuthenticationToken", "InvalidRequestContent", "InvalidResourceId",
    "InvalidResourceLocation", "MethodNotAllowed", "NetcfgInvalidSubnet", "PropertyChangeNotAllowed",
    "RequestContentTooLarge", "SubscriptionNotFound",
  ]
  definite = true
  why      = "The cloud did not understand the call, or does not allow it"
}
