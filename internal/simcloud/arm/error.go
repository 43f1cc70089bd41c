// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm

import (
	"fmt"
	"net/http"
	"time"
)

// Code is the machine-readable reason of an error.
type Code string

// Error codes of the cloud, spelled as Azure spells them where it has one.
const (
	// CodeOperationNotAllowed is the answer to a quota that would be exceeded, to a
	// virtual machine with more disks or interfaces than its size takes, and to the
	// deletion of an attached disk. The message says which.
	CodeOperationNotAllowed Code = "OperationNotAllowed"
	// CodeConcurrentModification is the answer to a second write of a type of which
	// the account takes one at a time.
	CodeConcurrentModification Code = "ConcurrentModification"
	// CodeResourceConflict is the answer to a write of a function, or of one of its
	// permissions, while another one is in flight.
	CodeResourceConflict Code = "ResourceConflict"
	// CodeDiskMaxSharesExceeded is the answer to an attachment of a disk to more
	// virtual machines than it may be shared by.
	CodeDiskMaxSharesExceeded Code = "DiskMaxSharesExceeded"
	// CodePropertyChangeNotAllowed is the answer to a change of what is chosen when
	// an object is created.
	CodePropertyChangeNotAllowed Code = "PropertyChangeNotAllowed"
	CodeInUseNetworkInterface    Code = "NicInUse"

	CodeAnotherOperationInProgress Code = "AnotherOperationInProgress"
	CodeSuperseded                 Code = "CanceledAndSupersededDueToAnotherOperation"
	CodeResourceGroupBeingDeleted  Code = "ResourceGroupBeingDeleted"
	CodeResourceGroupNotFound      Code = "ResourceGroupNotFound"
	CodeParentResourceNotFound     Code = "ParentResourceNotFound"
	CodeResourceNotFound           Code = "ResourceNotFound"
	CodeSubscriptionNotFound       Code = "SubscriptionNotFound"
	CodeInvalidResourceReference   Code = "InvalidResourceReference"
	CodeInUseSubnet                Code = "InUseSubnetCannotBeDeleted"
	CodeInUseSecurityGroup         Code = "InUseNetworkSecurityGroupCannotBeDeleted"
	CodeInUsePublicIP              Code = "PublicIPAddressCannotBeDeleted"
	CodeInUsePrefix                Code = "InUsePrefixCannotBeDeleted"
	CodePublicIPTaken              Code = "PublicIPReferencedByMultipleIPConfigs"
	CodeSubnetIsFull               Code = "SubnetIsFull"
	CodeSubnetRangesOverlap        Code = "NetcfgSubnetRangesOverlap"
	CodeInvalidSubnet              Code = "NetcfgInvalidSubnet"
	CodeInvalidAddressPrefix       Code = "InvalidAddressPrefixFormat"
	CodeRuleConflict               Code = "SecurityRuleConflict"
	CodeInvalidLocation            Code = "InvalidResourceLocation"
	CodeInvalidRequestContent      Code = "InvalidRequestContent"
	CodeRequestTooLarge            Code = "RequestContentTooLarge"
	CodeInvalidResourceID          Code = "InvalidResourceId"
	CodePreconditionFailed         Code = "PreconditionFailed"
	CodePreconditionRequired       Code = "PreconditionRequired"
	CodeTooManyRequests            Code = "TooManyRequests"
	CodeUnauthenticated            Code = "InvalidAuthenticationToken"
	CodeMethodNotAllowed           Code = "MethodNotAllowed"
	CodeInternal                   Code = "InternalServerError"
	// CodeRequestDropped is in the activity log only: the call was lost on its way.
	CodeRequestDropped Code = "RequestDropped"
)

// Error is an answer of the cloud that is no success: a refused call, or the
// end of an operation that was accepted and then failed.
type Error struct {
	// HTTPStatus is the status of the answer, 0 when the error is the outcome
	// of an asynchronous operation.
	HTTPStatus int `json:"-"`
	Code       Code
	Message    string
	// Target is the id of the resource the call was about.
	Target string
	// Blocking is the id of the operation in flight that caused the refusal.
	Blocking string
	// RetryAfter is how long the cloud asks to wait; zero when it does not say.
	RetryAfter time.Duration
}

// Error gives code, message and target in one line.
func (e *Error) Error() string {
	status := ""
	if e.HTTPStatus != 0 {
		status = fmt.Sprintf(" (%d %s)", e.HTTPStatus, http.StatusText(e.HTTPStatus))
	}
	if e.Target == "" {
		return fmt.Sprintf("%s%s: %s", e.Code, status, e.Message)
	}
	return fmt.Sprintf("%s%s: %s [%s]", e.Code, status, e.Message, e.Target)
}

// ErrorBody is the JSON form of an error.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail is one reason within an ErrorBody.
type ErrorDetail struct {
	Code    Code          `json:"code"`
	Message string        `json:"message"`
	Target  string        `json:"target,omitempty"`
	Details []ErrorDetail `json:"details,omitempty"`
}

// Body is the error in its JSON form. A blocking operation becomes a detail.
func (e *Error) Body() ErrorBody {
	body := ErrorBody{Error: ErrorDetail{Code: e.Code, Message: e.Message, Target: e.Target}}
	if e.Blocking != "" {
		body.Error.Details = []ErrorDetail{{Code: e.Code, Message: "operation in flight: " + e.Blocking, Target: e.Blocking}}
	}
	return body
}

// OperationStatus is the JSON answer to a poll of an asynchronous operation.
type OperationStatus struct {
	Name      string       `json:"name"`
	Status    string       `json:"status"`
	StartTime time.Time    `json:"startTime"`
	EndTime   *time.Time   `json:"endTime,omitempty"`
	Error     *ErrorDetail `json:"error,omitempty"`
}

// Statuses of an operation that is polled.
const (
	OperationInProgress = "InProgress"
	OperationSucceeded  = "Succeeded"
	OperationFailed     = "Failed"
	OperationCanceled   = "Canceled"
)

// Header names of the API.
const (
	// HeaderActor carries the name of the calling actor.
	HeaderActor = "X-Simcloud-Actor"
	// HeaderRequestID carries the id the client gives to one call.
	HeaderRequestID = "X-Request-Id"
	// HeaderCorrelationID ties the calls of one run together.
	HeaderCorrelationID = "X-Ms-Correlation-Request-Id"
	// HeaderSession carries a name for the session the call is made in, for the
	// activity log only.
	HeaderSession = "X-Simcloud-Session"
	// HeaderAsyncOperation carries the URL to poll after a write.
	HeaderAsyncOperation = "Azure-AsyncOperation"
)

// DefaultSubscription is the subscription a cloud has when none is configured.
const DefaultSubscription = "00000000-0000-0000-0000-000000000000"
