// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// endsSoon is how long before the end of its certificate a coordinator warns.
const endsSoon = 14 * 24 * time.Hour

// leaf is the certificate that is shown first.
func (p *pair) leaf() (*x509.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.Leaf != nil {
		return p.current.Leaf, nil
	}
	return x509.ParseCertificate(p.current.Certificate[0])
}

// check refuses a certificate that every client would refuse at the time now,
// and warns of one that some of them will: soon, or for its names.
func (p *pair) check(listen string, now time.Time, log *slog.Logger) error {
	cert, err := p.leaf()
	if err != nil {
		return fmt.Errorf("read the certificate %s: %w", p.certFile, err)
	}
	const date = "2006-01-02 15:04 MST"
	names := append([]string{}, cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case now.After(cert.NotAfter):
		return fmt.Errorf("the certificate %s has expired on %s, and no run would trust it; renew it, or make another", p.certFile, cert.NotAfter.Format(date))
	case now.Before(cert.NotBefore):
		return fmt.Errorf("the certificate %s is valid from %s on, and no run would trust it before; is the clock of this machine right?", p.certFile, cert.NotBefore.Format(date))
	case len(names) == 0:
		return fmt.Errorf("the certificate %s is for no name at all (subjectAltName), and no run would trust it; make one for the name under which runs reach this coordinator", p.certFile)
	}
	if left := cert.NotAfter.Sub(now); left < endsSoon {
		log.Warn("the certificate expires soon; a new file in its place is taken without a restart", "file", p.certFile, "expires", cert.NotAfter.Format(date))
	}
	if host := hostOf(listen); host != "" && cert.VerifyHostname(host) != nil {
		log.Warn("the certificate is not for the host that is listened on; runs must reach this coordinator under a name of the certificate", "listen", listen, "file", p.certFile, "names", strings.Join(names, ", "))
	}
	return nil
}

// hostOf is the host of a tcp:// address; empty where it is all of the machine's.
func hostOf(listen string) string {
	host, _, err := net.SplitHostPort(strings.TrimPrefix(listen, networkScheme))
	if ip := net.ParseIP(host); err != nil || ip != nil && ip.IsUnspecified() {
		return ""
	}
	return host
}
