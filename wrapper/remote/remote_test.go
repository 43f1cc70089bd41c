// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func backend(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	text := `{"version":3,"backend":{"type":"cloud","config":` + config + `}}`
	if err := os.WriteFile(filepath.Join(dir, "terraform.tfstate"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLocate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config string
		env    arguments.Environment
		want   Workspace
	}{
		"a cloud block": {
			config: `{"hostname":"tfe.test:8443","organization":"acme","token":null,"workspaces":{"name":"prod","tags":null}}`,
			want:   Workspace{"tfe.test:8443", "acme", "prod"},
		},
		"by tags": {config: `{"organization":"acme","workspaces":{"name":null,"tags":["x"]}}`, want: Workspace{DefaultHost, "acme", "selected"}},
		"by the environment": {
			config: `{"hostname":null,"organization":null,"workspaces":null}`,
			env:    arguments.Environment{"TF_CLOUD_HOSTNAME=tfe.test", "TF_CLOUD_ORGANIZATION=acme"},
			want:   Workspace{"tfe.test", "acme", "selected"},
		},
		"the backend remote":        {config: `{"hostname":"h","organization":"o","workspaces":[{"name":"w","prefix":null}]}`, want: Workspace{"h", "o", "w"}},
		"the backend with a prefix": {config: `{"hostname":"h","organization":"o","workspaces":[{"name":null,"prefix":"p-"}]}`, want: Workspace{"h", "o", "p-selected"}},
		"settings before environment": {
			config: `{"hostname":"h","organization":"o","workspaces":{"name":"w"}}`, env: arguments.Environment{"TF_CLOUD_ORGANIZATION=other"}, want: Workspace{"h", "o", "w"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := Locate(backend(t, tt.config), "selected", tt.env)
			if err != nil || got != tt.want {
				t.Errorf("Locate = %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
	for _, config := range []string{`{"workspaces":{"name":"w"}}`, `{"organization":"o","workspaces":7}`, `7`} {
		if got, _, err := Locate(backend(t, config), "selected", nil); err == nil {
			t.Errorf("%s is %+v", config, got)
		}
	}
	if _, _, err := Locate(t.TempDir(), "selected", nil); err == nil {
		t.Error("a folder without settings names a workspace")
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put(".terraform.d/credentials.tfrc.json", `{"credentials":{"kept.test":{"token":"kept"}}}`)
	config := put("rc", "# credentials \"old.test\" { token = \"no\" }\ncredentials \"Config.test:8443\" {\n  token = \"configured\"\n}\ncredentials \"kept.test\" { token = \"stronger\" }\n")
	asJSON := put("rc.json", `{"credentials":{"config.test:8443":{"token":"configured"}}}`)
	tests := map[string]struct {
		places Places
		host   string
		want   string
	}{
		"a variable":                    {Places{Env: arguments.Environment{"TF_TOKEN_my__own_test=variable"}, ConfigFile: config, Home: home}, "my-own.test", "variable"},
		"the variable of another":       {Places{Env: arguments.Environment{"TF_TOKEN_other_test=variable"}, ConfigFile: config, Home: home}, "my-own.test", ""},
		"the configuration":             {Places{ConfigFile: config, Home: home}, "config.test:8443", "configured"},
		"the configuration in JSON":     {Places{ConfigFile: asJSON}, "config.test:8443", "configured"},
		"what is commented out":         {Places{ConfigFile: config, Home: home}, "old.test", ""},
		"what login has kept":           {Places{Home: home}, "kept.test", "kept"},
		"the configuration is stronger": {Places{ConfigFile: config, Home: home}, "kept.test", "stronger"},
		"with a configuration that is named": {
			Places{Env: arguments.Environment{"TF_CLI_CONFIG_FILE=x"}, Home: home}, "kept.test", "",
		},
		"nowhere": {Places{}, "kept.test", ""},
	}
	for name, tt := range tests {
		if got := tt.places.Token(tt.host); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// api is a service that answers for one workspace with the given attributes.
func api(t *testing.T, attributes map[string]any) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/terraform.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"tfe.v2":"/own/api/"}`)) })
	mux.HandleFunc("/own/api/ping", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/own/api/organizations/acme/workspaces/prod", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.api+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"id": "ws-1", "type": "workspaces", "attributes": attributes}})
	})
	s := httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

func hostname(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "https://") }

func TestAsk(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		attributes map[string]any
		want       Execution
	}{
		"local":                {map[string]any{"execution-mode": "local", "operations": false}, Local},
		"remote":               {map[string]any{"execution-mode": "remote", "operations": true}, Elsewhere},
		"agent":                {map[string]any{"execution-mode": "agent"}, Agent},
		"an old one, remote":   {map[string]any{"operations": true}, Elsewhere},
		"an old one, local":    {map[string]any{"operations": false}, Local},
		"one that comes later": {map[string]any{"execution-mode": "on the moon", "operations": true}, Unknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := api(t, tt.attributes)
			got, err := bounded(t.Context(), s.Client(), Workspace{hostname(s), "acme", "prod"}, "secret")
			if err != nil || got != tt.want {
				t.Errorf("Ask = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// TestAskFails: no failure is more than not knowing, and none shows the token.
func TestAskFails(t *testing.T) {
	t.Parallel()
	s := api(t, map[string]any{"execution-mode": "local"})
	silent := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	other := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	tests := map[string]struct {
		server *httptest.Server
		name   string
		token  string
	}{
		"another token":       {s, "prod", "wrong-secret"},
		"no such workspace":   {s, "gone", "secret"},
		"one that is silent":  {silent, "prod", "secret"},
		"one without the API": {other, "prod", "secret"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			got, err := bounded(ctx, tt.server.Client(), Workspace{hostname(tt.server), "acme", tt.name}, tt.token)
			if err == nil || got != Unknown || strings.Contains(err.Error(), tt.token) {
				t.Errorf("Ask = %q, %v", got, err)
			}
		})
	}
	if got, err := Ask(t.Context(), Workspace{hostname(s), "acme", "prod"}, "secret"); err == nil || got != Unknown {
		t.Errorf("a certificate that nobody vouches for: %q, %v", got, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := backend(t, `{"organization":"acme","workspaces":{"name":"prod"}}`)
	if got, _, err := Find(t.Context(), dir, "default", Places{}); got != Unknown || !errors.Is(err, errNoToken) {
		t.Errorf("without a token: %q, %v", got, err)
	}
	got, _, err := Find(t.Context(), dir, "default", Places{Env: arguments.Environment{"TF_FORCE_LOCAL_BACKEND=1"}})
	if got != Local || err != nil {
		t.Errorf("where the CLI is told to run here: %q, %v", got, err)
	}
}
