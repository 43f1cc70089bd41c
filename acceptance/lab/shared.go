// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// Shared is a coordinator on the network, for workspaces elsewhere.
type Shared struct {
	*Run
	// Address is tcp://HOST:PORT.
	Address string
	// CA is the certificate, PEM, that vouches for the coordinator.
	CA string
	// Token is what runs have to show.
	Token string
	// Dir is where it keeps its journal.
	Dir string
}

// serving is what a coordinator on the network says once it serves.
var serving = regexp.MustCompile(`Serving (tcp://\S+),`)

// StartShared starts a coordinator that serves the loopback network with a
// certificate and a token that are made for it, and waits until it serves.
func (e *Experiment) StartShared(ctx context.Context) (*Shared, error) {
	cert, key, err := selfSigned(net.IPv4(127, 0, 0, 1))
	if err != nil {
		return nil, err
	}
	s := &Shared{CA: string(cert), Token: rand.Text() + rand.Text(), Dir: e.path("shared")}
	args := []string{"serve", "-listen=tcp://127.0.0.1:0", "-dir=" + s.Dir}
	for option, text := range map[string][]byte{"tls-cert": cert, "tls-key": key, "token-file": []byte(s.Token + "\n")} {
		file := e.path(option)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, fmt.Errorf("start the shared coordinator: %w", err)
		}
		args = append(args, "-"+option+"="+file)
	}
	s.Run = newRun(exec.CommandContext(ctx, e.Lab.Binaries.Tfweaver, args...), "shared", "tfweaver serve")
	s.cmd.Dir, s.cmd.Env = e.home, e.environment("shared")
	if err := e.launch(s.Run); err != nil {
		return nil, err
	}
	err = Await(ctx, "the shared coordinator serves", func() (bool, error) {
		if s.Exited() {
			return false, errors.New(tail(s.Said(), 20))
		}
		found := serving.FindStringSubmatch(s.Stderr())
		if found != nil {
			s.Address = found[1]
		}
		return found != nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("start the shared coordinator: %w", err)
	}
	return s, nil
}

// certificateLife is longer than any experiment.
const certificateLife = 24 * time.Hour

// selfSigned is a certificate for an address that vouches for itself, and its key,
// both PEM.
func selfSigned(ip net.IP) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "tfweaver lab"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		IPAddresses: []net.IP{ip}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}
