// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// certificate makes one that vouches for itself, for this machine.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "weaver"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "weaver-ca.pem"), filepath.Join(dir, "weaver-key.pem")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), 0o600)
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})), 0o600)
	return cert, key
}

// heard is an output that is read while it is written.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// daemon is "tfweaver serve" on the network, as its command starts it.
type daemon struct {
	address, ca, token string
	said               *heard
}

var servedAt = regexp.MustCompile(`Serving (tcp://\S+),`)

func serveNetwork(t *testing.T) daemon {
	t.Helper()
	return serveNetworkWith(t, func(r *rig, token string) {
		file := filepath.Join(t.TempDir(), "token")
		write(t, file, token+"\n", 0o600)
		r.Args = append(r.Args, "-token-file="+file)
	})
}

// serveNetworkWith starts it as give has given it its token.
func serveNetworkWith(t *testing.T, give func(r *rig, token string)) daemon {
	t.Helper()
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	d := daemon{ca: cert, token: strings.Repeat("t0ken-of-many", 3), said: &heard{}}
	r := newRig(t, "serve", "-listen=tcp://127.0.0.1:0", "-tls-cert="+cert, "-tls-key="+key, "-dir="+filepath.Join(dir, "journal"))
	give(r, d.token)
	r.Stderr = d.said
	ended := make(chan int, 1)
	go func() { ended <- r.Run(t.Context()) }()
	t.Cleanup(func() {
		select {
		case r.signals <- os.Interrupt:
		default:
		}
		if code := <-ended; code != 0 {
			t.Errorf("serve: exit code %d: %s", code, d.said)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); d.address == ""; time.Sleep(5 * time.Millisecond) {
		if m := servedAt.FindStringSubmatch(d.said.String()); m != nil {
			d.address = m[1]
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not serve: %s", d.said)
		}
	}
	return d
}

// TestTwoHomesShareANetworkCoordinator: two runs that have nothing in common but
// the settings of their repository are coordinated, in CI.
func TestTwoHomesShareANetworkCoordinator(t *testing.T) {
	t.Parallel()
	d := serveNetwork(t)
	for _, text := range []string{"127.0.0.1", "coordinator {", `ca_file   = "weaver-ca.pem"`, "TFWEAVER_TOKEN"} {
		if !strings.Contains(d.said.String(), text) {
			t.Errorf("the daemon does not say %q: %s", text, d.said)
		}
	}
	share := func(r *rig) *rig {
		r.install(t)
		ca, err := os.ReadFile(d.ca)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(r.work, "weaver-ca.pem"), string(ca), 0o600)
		write(t, filepath.Join(r.work, ".tfweaver.hcl"),
			"coordinator {\n  address = \""+d.address+"\"\n  ca_file = \"weaver-ca.pem\"\n  token_env = \"WEAVER_CI\"\n}\n", 0o600)
		r.Env = r.Env.With("CI", "true").With("WEAVER_CI", d.token)
		return r
	}
	first, second := share(newRig(t, "apply", "-no-color")), share(newRig(t, "apply", "-auto-approve"))
	// The first one is open while the second one runs: it waits for an answer.
	in, answer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); answer.Close() })
	out := &heard{}
	first.Stdin, first.Stdout = in, out
	done := make(chan int, 1)
	go func() { done <- first.Run(t.Context()) }()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), "Enter a value"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the first run does not ask: %s, %s", out, first.stderr)
		}
	}
	asked := share(newRig(t, "status", "-json"))
	asked.run(t, 0)
	var status coordinator.Status
	if err := json.Unmarshal(asked.stdout.Bytes(), &status); err != nil || len(status.Sessions) != 1 || !status.Sessions[0].Claimed || status.Embedded {
		t.Errorf("status %s, %v", asked.stdout, err)
	}
	second.run(t, 0)
	if said := second.stderr.String(); !strings.Contains(said, "oordinated with 1 other session") || strings.Contains(said, "this machine only") {
		t.Errorf("the second run: %s", said)
	}
	if _, err := answer.WriteString("yes\n"); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Errorf("the first run: exit code %d: %s", code, first.stderr)
	}
	if strings.Contains(d.said.String()+first.stderr.String()+second.stderr.String()+asked.stdout.String(), d.token) {
		t.Error("the token is told")
	}
}

// TestTokenOfTheEnvironment: a daemon takes its token from the environment where
// no file is named, and tells it to nobody.
func TestTokenOfTheEnvironment(t *testing.T) {
	t.Parallel()
	d := serveNetworkWith(t, func(r *rig, token string) { r.Env = r.Env.With("TFWEAVER_TOKEN", token) })
	for token, code := range map[string]int{d.token: 0, strings.Repeat("x", 40): ExitSetup} {
		r := newRig(t, "status", "-weaver-coordinator="+d.address)
		r.Env = append(r.Env, "TFWEAVER_CA_FILE="+d.ca, "TFWEAVER_TOKEN="+token)
		r.run(t, code)
	}
	if said := d.said.String(); !strings.Contains(said, "environment as TFWEAVER_TOKEN") || strings.Contains(said, d.token) {
		t.Errorf("the daemon says: %s", said)
	}
}

// TestNetworkCoordinatorKeepsOthersOut: without its token and without its
// certificate nobody gets in, or is asked to trust it.
func TestNetworkCoordinatorKeepsOthersOut(t *testing.T) {
	t.Parallel()
	d := serveNetwork(t)
	tests := map[string]struct {
		env  []string
		says string
	}{
		"no token":       {[]string{"TFWEAVER_CA_FILE=" + d.ca}, "TFWEAVER_TOKEN: there is no token in it"},
		"another token":  {[]string{"TFWEAVER_CA_FILE=" + d.ca, "TFWEAVER_TOKEN=" + strings.Repeat("x", 40)}, "knows another token"},
		"no certificate": {[]string{"TFWEAVER_TOKEN=" + d.token}, "-weaver-ca-file"},
		"no such file":   {[]string{"TFWEAVER_TOKEN=" + d.token, "TFWEAVER_CA_FILE=none.pem"}, "none.pem cannot be read: no such file"},
	}
	for name, tt := range tests {
		for _, command := range []string{"apply", "status"} {
			t.Run(name+", "+command, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, command, "-weaver-coordinator="+d.address)
				r.install(t)
				r.Env = append(r.Env, tt.env...)
				r.run(t, ExitSetup)
				said := unboxed(r.stderr.String())
				if !strings.Contains(said, tt.says) || strings.Contains(said, d.token) {
					t.Errorf("%q lacks %q", said, tt.says)
				}
				if (command == "apply") != strings.Contains(said, "Nothing was sent") {
					t.Errorf("%q", said)
				}
			})
		}
	}
}

// TestProvidersGetNoToken: what opens the coordinator is no provider's business.
func TestProvidersGetNoToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.install(t)
	work, err := terraform.Examine(r.work, "", nil, "", "desk")
	if err != nil {
		t.Fatal(err)
	}
	env := r.Env.With("TFWEAVER_TOKEN", "secret").With("WEAVER_CI", "secret").With("KEPT", "1")
	list, _, err := sources(work, terraform.Terraform, env, []string{"TFWEAVER_TOKEN", "WEAVER_CI"}, plugins.NewLogger(io.Discard, ""))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	got := arguments.Environment(list[0].command.Env)
	if strings.Contains(strings.Join(got, "\n"), "secret") || got.Get("KEPT") != "1" {
		t.Errorf("the provider gets %v", got)
	}
}
