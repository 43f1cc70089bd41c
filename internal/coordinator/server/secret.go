// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	// MinToken is the least length of a token in bytes.
	MinToken = 32
	// maxToken bounds what is read of a token's file, maxKeyFile of a key's.
	maxToken   = 4096
	maxKeyFile = 1 << 20
	// minVariety is the least number of different characters in a token: a
	// random one has more, whatever its alphabet.
	minVariety = 8
)

// missing names what there is not; empty when all is there.
func (s Security) missing() string {
	var list []string
	if s.CertFile == "" {
		list = append(list, "a certificate")
	}
	if s.KeyFile == "" {
		list = append(list, "the certificate's key")
	}
	if s.TokenFile == "" && s.Token == "" {
		list = append(list, "a token")
	}
	return strings.Join(list, ", ")
}

// token is the token, checked.
func (s Security) token() (string, error) {
	switch {
	case s.Token != "" && s.TokenFile != "":
		return "", errors.New("there are two tokens, one in a file and one in the environment; give one")
	case s.Token != "":
		return checkToken("the token in the environment", s.Token)
	case s.TokenFile == "":
		return "", fmt.Errorf("a token is needed, in a file that only you can read; make one with: (umask 077; openssl rand -hex %d >token)", MinToken)
	}
	text, err := readSecret(s.TokenFile, maxToken)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return checkToken("the token in "+s.TokenFile, string(text))
}

// checkToken takes the line's end off, and refuses what could be guessed or
// cannot be sent.
func checkToken(what, text string) (string, error) {
	token := strings.TrimSpace(text)
	if len(token) < MinToken {
		return "", fmt.Errorf("%s has %d bytes and needs %d; make one with: (umask 077; openssl rand -hex %d >token)", what, len(token), MinToken, MinToken)
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("%s has characters that cannot be sent; use printable ASCII without spaces, one token only", what)
		}
	}
	if variety(token) < minVariety {
		return "", fmt.Errorf("%s repeats a few characters and can be guessed; make one with: (umask 077; openssl rand -hex %d >token)", what, MinToken)
	}
	return token, nil
}

// variety is the number of different characters.
func variety(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// readSecret reads a file of at most limit bytes that nobody else may read.
func readSecret(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); make it private with: chmod 600 %s", path, perm, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is no such secret: it has more than %d bytes", path, limit)
	}
	return data, nil
}

// reloadEvery is how often it is looked whether the certificate was replaced.
const reloadEvery = time.Minute

// pair is a certificate with its key. It is read again when its file was
// replaced, so that a short-lived one can be renewed without a restart.
type pair struct {
	certFile, keyFile string

	mu      sync.Mutex
	current *tls.Certificate
	read    time.Time // of the file
	looked  time.Time
}

func loadPair(certFile, keyFile string) (*pair, error) {
	p := &pair{certFile: certFile, keyFile: keyFile}
	if err := p.load(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *pair) load() error {
	info, err := os.Stat(p.certFile)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	chain, err := os.ReadFile(p.certFile)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	key, err := readSecret(p.keyFile, maxKeyFile)
	if err != nil {
		return fmt.Errorf("read the certificate's key: %w", err)
	}
	cert, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return fmt.Errorf("read the certificate %s with the key %s: %w", p.certFile, p.keyFile, err)
	}
	p.current, p.read, p.looked = &cert, info.ModTime(), time.Now()
	return nil
}

// certificate is tls.Config.GetCertificate. A new file that cannot be used
// leaves the old certificate in use.
func (p *pair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) >= reloadEvery {
		p.looked = time.Now()
		if info, err := os.Stat(p.certFile); err == nil && !info.ModTime().Equal(p.read) {
			_ = p.load() // the old one is as good as it was
		}
	}
	return p.current, nil
}
