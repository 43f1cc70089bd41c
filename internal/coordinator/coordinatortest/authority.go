// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinatortest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Token is long enough to be a coordinator's.
const Token = "0123456789abcdef0123456789abcdef"

// Authority issues certificates in a test. Its files go with the test.
type Authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// CAFile is the PEM file with the authority's certificate.
	CAFile string
}

// NewAuthority makes an authority that nobody knows yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir(), key: newKey(t)}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "tests"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert = a.sign(template, template, &a.key.PublicKey, time.Hour)
	a.CAFile = a.write("ca.pem", "CERTIFICATE", a.cert.Raw)
	return a
}

// Issue makes a certificate for a host, which ends after some time, or has ended
// when that is negative. It returns the files of the certificate and its key.
func (a *Authority) Issue(host string, left time.Duration) (certFile, keyFile string) {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	cert := a.sign(template, a.cert, &key.PublicKey, left)
	return a.write("cert.pem", "CERTIFICATE", cert.Raw), a.write("key.pem", "PRIVATE KEY", a.secret(key))
}

// SelfSigned makes a certificate for a host that vouches for itself, as people
// make it who have no authority. Its file is the one to trust, too.
func SelfSigned(t testing.TB, host string) (certFile, keyFile string) {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir(), key: newKey(t)}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.ParseIP(host)},
	}
	cert := a.sign(template, template, &a.key.PublicKey, time.Hour)
	return a.write("cert.pem", "CERTIFICATE", cert.Raw), a.write("key.pem", "PRIVATE KEY", a.secret(a.key))
}

func (a *Authority) secret(key *ecdsa.PrivateKey) []byte {
	a.t.Helper()
	data, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return data
}

// Secret writes a private file with the token.
func (a *Authority) Secret(token string) string {
	a.t.Helper()
	path := filepath.Join(a.t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

func (a *Authority) sign(template, parent *x509.Certificate, public *ecdsa.PublicKey, left time.Duration) *x509.Certificate {
	a.t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-24*time.Hour), time.Now().Add(left)
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

func (a *Authority) write(name, kind string, data []byte) string {
	a.t.Helper()
	dir, err := os.MkdirTemp(a.dir, "pem")
	if err != nil {
		a.t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
