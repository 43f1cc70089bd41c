// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// certain says whether the two ends could not agree to talk at all.
func certain(err error) bool {
	var unverified *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &unverified) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &authority)
}

// reason says why a request failed, without its address: that may hold a secret,
// and so may the words of a proxy.
func reason(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v", answerLimit)
	case errors.As(err, &dns):
		return "its name is not known"
	case certain(err):
		return "no secure connection: the certificate of one side is not accepted by the other"
	case errors.As(err, &op):
		return op.Op + " fails: " + op.Err.Error()
	}
	var address *url.Error
	if errors.As(err, &address) {
		return fmt.Sprintf("the request fails (%T)", address.Err)
	}
	return fmt.Sprintf("the request fails (%T)", err)
}

// status is an HTTP status as people write it.
func status(code int) string {
	if name := http.StatusText(code); name != "" {
		return fmt.Sprintf("%d %s", code, name)
	}
	return fmt.Sprint(code)
}
