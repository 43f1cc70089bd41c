// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// lookup is the environment of the CLI.
type lookup interface {
	Lookup(name string) (string, bool)
}

// server is a state server as the configuration describes it. It holds secrets.
type server struct {
	lock, unlock             *url.URL
	lockMethod, unlockMethod string
	username, password       string
	headers                  map[string]string
	// skipVerify takes any certificate; the others are PEM, and empty if not
	// given.
	skipVerify           bool
	ca, certificate, key string
}

// serverOf puts the settings of the http backend together: what the
// configuration says, else what the environment says, else the default, as both
// CLIs do.
func serverOf(settings map[string]any, env lookup) (s server, err error) {
	get := func(name, otherwise string) string {
		if value, ok := settings[name].(string); ok {
			return value
		}
		if value, _ := env.Lookup("TF_HTTP_" + strings.ToUpper(name)); value != "" {
			return value
		}
		return otherwise
	}
	s = server{
		lockMethod: get("lock_method", "LOCK"), unlockMethod: get("unlock_method", "UNLOCK"),
		username: get("username", ""), password: get("password", ""),
		ca: get("client_ca_certificate_pem", ""), certificate: get("client_certificate_pem", ""), key: get("client_private_key_pem", ""),
		headers: headersOf(settings),
	}
	s.skipVerify, _ = settings["skip_cert_verification"].(bool)
	lock, unlock := get("lock_address", ""), get("unlock_address", "")
	if lock == "" {
		return s, unknownf("The http backend has no lock_address, so that nobody can lock the state.")
	}
	if unlock == "" {
		return s, unknownf("The http backend has no unlock_address, so that a lock that is wanted only to ask could not be given back.")
	}
	if s.lock, err = address(lock, "lock_address"); err != nil {
		return s, err
	}
	s.unlock, err = address(unlock, "unlock_address")
	return s, err
}

// address does not repeat what it cannot understand: there may be a password in it.
func address(text, name string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, unknownf("The %s of the http backend is no address of HTTP.", name)
	}
	return u, nil
}

// headersOf are the headers that OpenTofu can be told to send.
func headersOf(settings map[string]any) map[string]string {
	given, _ := settings["headers"].(map[string]any)
	headers := make(map[string]string, len(given))
	for name, value := range given {
		if text, ok := value.(string); ok {
			headers[name] = text
		}
	}
	return headers
}

// authorize adds what the server has to know about who asks.
func (s server) authorize(req *http.Request) {
	req.Header.Set("Content-Type", "application/json")
	for name, value := range s.headers {
		req.Header.Set(name, value)
	}
	if s.username != "" {
		req.SetBasicAuth(s.username, s.password)
	}
}

// client talks to this server alone: it follows no redirection, which may turn
// a request for the lock into something else, or carry it elsewhere.
func (s server) client() (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.skipVerify} //nolint:gosec // as the user has configured it
	if s.ca != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(s.ca)) {
			return nil, unknownf("The client_ca_certificate_pem of the http backend is no certificate.")
		}
	}
	if s.certificate != "" || s.key != "" {
		pair, err := tls.X509KeyPair([]byte(s.certificate), []byte(s.key))
		if err != nil {
			return nil, unknownf("The client_certificate_pem and the client_private_key_pem of the http backend are no pair.")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true,
			// The second request must not find a connection that the first has
			// broken; and net/http must not repeat a request by itself.
			DisableKeepAlives: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// String hides the secrets from logs.
func (s server) String() string {
	if s.lock == nil {
		return "a state server"
	}
	return fmt.Sprintf("the state server at %s", s.lock.Host)
}
