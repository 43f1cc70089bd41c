// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"crypto/x509"
	"os"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
)

// TestRenewedCertificate: a new certificate in place of the old one is used
// without a restart, and one that cannot be used changes nothing.
func TestRenewedCertificate(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	certFile, keyFile := ca.Issue("old.example", time.Hour)
	p, err := loadPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	name := func() string {
		t.Helper()
		cert, err := p.certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(cert.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.DNSNames[0]
	}
	age := 0
	replace := func(file string, by []byte) {
		t.Helper()
		if err := os.WriteFile(file, by, 0o600); err != nil {
			t.Fatal(err)
		}
		age++
		if at := time.Now().Add(time.Duration(age) * time.Hour); os.Chtimes(file, at, at) != nil {
			t.Fatal("cannot set the time of a file")
		}
	}
	newCert, newKey := ca.Issue("new.example", time.Hour)
	cert, err := os.ReadFile(newCert)
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(newKey)
	if err != nil {
		t.Fatal(err)
	}
	replace(certFile, cert) // the key does not fit yet
	if got := name(); got != "old.example" {
		t.Errorf("it was looked at again at once: %s", got)
	}
	p.looked = time.Time{}
	if got := name(); got != "old.example" {
		t.Errorf("half a pair is in use: %s", got)
	}
	replace(keyFile, key)
	p.looked = time.Time{}
	if got := name(); got != "new.example" {
		t.Errorf("the renewed certificate is not in use: %s", got)
	}
	replace(certFile, []byte("nothing"))
	p.looked = time.Time{}
	if got := name(); got != "new.example" {
		t.Errorf("a spoilt file is in use: %s", got)
	}
}
