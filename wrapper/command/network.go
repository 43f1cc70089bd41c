// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// networkScheme begins the addresses that other machines can reach.
const networkScheme = "tcp://"

// onNetwork says whether a coordinator is reached over the network.
func onNetwork(address string) bool { return strings.HasPrefix(address, networkScheme) }

// exposedError is a daemon that the network could reach, and that lacks what
// keeps others out.
type exposedError struct {
	// Listen is the address, Missing are the options.
	Listen  string
	Missing []string
	// Host is the name of this machine.
	Host string
}

func (e *exposedError) Error() string {
	return fmt.Sprintf("%s is open to the network: %s missing", e.Listen, strings.Join(e.Missing, ", "))
}

// secured makes sure that an address on the network is served with TLS and a
// token, in a file or in the environment, and a socket without what it has no use
// for.
func (c serveCommand) secured(host, token string) error {
	options := []struct{ name, value string }{{"-tls-cert", c.TLSCert}, {"-tls-key", c.TLSKey}, {"-token-file", cmp.Or(c.TokenFile, token)}}
	open := onNetwork(c.Listen)
	var missing []string
	for _, o := range options {
		switch {
		case open && o.value == "":
			missing = append(missing, o.name)
		case !open && o.value != "":
			return &arguments.UsageError{Name: o.name, Reason: "it is for -listen=tcp://HOST:PORT; a socket is this user's alone"}
		}
	}
	if missing != nil {
		return &exposedError{Listen: c.Listen, Missing: missing, Host: reachable(c.Listen, host)}
	}
	return nil
}

// reachable is the host under which others find a listener: the one that it
// listens on, or this machine's name where it listens on all of its addresses.
func reachable(address, host string) string {
	name, _, err := net.SplitHostPort(strings.TrimPrefix(address, networkScheme))
	if err != nil || name == "" {
		return host
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() {
		return host
	}
	return name
}

// alternative is a host as a certificate names it.
func alternative(host string) string {
	if net.ParseIP(host) != nil {
		return "IP:" + host
	}
	return "DNS:" + host
}

func explainExposed(e *exposedError) views.Problem {
	return views.Problem{
		Summary: "A coordinator on the network needs TLS and a token",
		Detail: fmt.Sprintf("%s can be reached by others, so it is served with a certificate and a token only. Missing: %s.\n\n"+
			"To make a token:\n\n"+
			"  (umask 077; openssl rand -hex 32 > weaver-token)\n\n"+
			"To make a certificate that vouches for itself, where you have no authority of your own:\n\n"+
			"  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \\\n"+
			"    -keyout weaver-key.pem -out weaver-ca.pem -subj \"/CN=%s\" -addext \"subjectAltName=%s\"\n\n"+
			"Then:\n\n"+
			"  tfweaver serve -listen=%s -tls-cert=weaver-ca.pem -tls-key=weaver-key.pem -token-file=weaver-token",
			e.Listen, strings.Join(e.Missing, ", "), e.Host, alternative(e.Host), e.Listen),
	}
}

// invitation is what a daemon says once it serves: how runs find it.
func (c serveCommand) invitation(address, host string) string {
	if !onNetwork(address) {
		return fmt.Sprintf("Point runs at it with -weaver-coordinator=%s or TFWEAVER_COORDINATOR.\n", address)
	}
	at := address
	if _, port, err := net.SplitHostPort(strings.TrimPrefix(address, networkScheme)); err == nil {
		at = networkScheme + net.JoinHostPort(reachable(c.Listen, host), port)
	}
	return fmt.Sprintf("To share it, put this into .tfweaver.hcl at the root of each repository, with the certificate beside it:\n\n%s\n"+
		"and give runs %s as %s.\n", settingsExample(at, filepath.Base(c.TLSCert)), c.secret(), arguments.TokenVariable)
}

// secret says which token runs have to show.
func (c serveCommand) secret() string {
	if c.TokenFile == "" {
		return "the token of this process's environment"
	}
	return "the content of " + c.TokenFile
}
