// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-version"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func examine(t *testing.T, base, chdir string, env arguments.Environment, state string) Workdir {
	t.Helper()
	w, err := Examine(base, chdir, env, state, "desk")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// folder is a new one, by its real name.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestExamineLocal(t *testing.T) {
	t.Parallel()
	base := folder(t)
	got := examine(t, base, "", nil, "")
	want := Workdir{
		Root: base, DataDir: filepath.Join(base, ".terraform"), Workspace: "default", Backend: "local",
		Origin: "local:desk:" + filepath.Join(base, "terraform.tfstate"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Examine (-want +got):\n%s", diff)
	}
	if got.Remote() {
		t.Error("a local backend is remote")
	}
}

func TestExamineFollowsTheCommandLine(t *testing.T) {
	t.Parallel()
	base := folder(t)
	data := filepath.Join(base, "net", "data")
	write(t, filepath.Join(data, "environment"), "blue\n")
	env := arguments.Environment{"TF_DATA_DIR=data"}
	got := examine(t, base, "net", env, "")
	want := Workdir{
		Root: filepath.Join(base, "net"), DataDir: data, Workspace: "blue", Backend: "local",
		Origin: "local:desk:" + filepath.Join(base, "net", "terraform.tfstate.d", "blue", "terraform.tfstate"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Examine (-want +got):\n%s", diff)
	}
	if w := examine(t, base, "net", env.With("TF_WORKSPACE", "green"), ""); w.Workspace != "green" {
		t.Errorf("workspace %s, want that of TF_WORKSPACE", w.Workspace)
	}
	if w := examine(t, base, "net", env, "my.tfstate"); w.Origin != "local:desk:"+filepath.Join(base, "net", "my.tfstate") {
		t.Errorf("origin %s does not follow -state", w.Origin)
	}
}

func TestOriginOfARemoteState(t *testing.T) {
	t.Parallel()
	origin := func(config string) string {
		base := t.TempDir()
		write(t, filepath.Join(base, ".terraform", "terraform.tfstate"), `{"version":3,"backend":{"type":"s3","config":`+config+`,"hash":1}}`)
		w := examine(t, base, "", nil, "")
		if w.Backend != "s3" {
			t.Errorf("backend %s", w.Backend)
		}
		return w.Origin
	}
	one := origin(`{"bucket":"b","key":"k","secret_key":"s1","token":null}`)
	if other := origin(`{"key":"k","bucket":"b","secret_key":"s2"}`); other != one {
		t.Errorf("another credential makes another state: %s, %s", one, other)
	}
	if other := origin(`{"bucket":"b","key":"k2"}`); other == one {
		t.Error("two keys are one state")
	}
	if other := origin(`{"bucket":"b","key":"k","profile":"p","region":"eu-1","max_retries":9,"use_lockfile":true}`); other != one {
		t.Error("how the state is got at makes another state")
	}
	if other := origin(`{"bucket":"b","key":"k","endpoints":{"s3":"https://minio","sts":"https://sts"}}`); other == one {
		t.Error("two services are one state")
	}
}

// originOf is the origin of a state of a backend, for an environment.
func originOf(t *testing.T, backend, config string, env ...string) string {
	t.Helper()
	base := t.TempDir()
	write(t, filepath.Join(base, ".terraform", "terraform.tfstate"), `{"version":3,"backend":{"type":"`+backend+`","config":`+config+`,"hash":1}}`)
	return examine(t, base, "", env, "").Origin
}

func TestOriginWithoutCredentials(t *testing.T) {
	t.Parallel()
	for name, same := range map[string][]string{
		"address": {
			originOf(t, "pg", `{"conn_str":"postgres://u:p1@db/x"}`), originOf(t, "pg", `{"conn_str":"postgres://u2:p2@db/x"}`),
			originOf(t, "pg", `{"conn_str":null}`, "PG_CONN_STR=postgres://u3:p3@db/x"),
		},
		"words":         {originOf(t, "pg", `{"conn_str":"host=db user=u password=p1"}`), originOf(t, "pg", `{"conn_str":"host=db user=v password=p2"}`)},
		"an unknown":    {originOf(t, "newest", `{"where":"w","api_token":"s1"}`), originOf(t, "newest", `{"where":"w","api_token":"s2"}`)},
		"in a cluster":  {originOf(t, "kubernetes", `{"secret_suffix":"s","token":"t"}`), originOf(t, "kubernetes", `{"secret_suffix":"s","config_path":"/home/bob/.kube/config"}`)},
		"of an account": {originOf(t, "azurerm", `{"storage_account_name":"a","container_name":"c","key":"k","sas_token":"s"}`), originOf(t, "azurerm", `{"storage_account_name":"a","container_name":"c","key":"k","use_oidc":true}`)},
	} {
		for _, other := range same[1:] {
			if other != same[0] {
				t.Errorf("%s: one state has two names: %v", name, same)
			}
		}
	}
	for name, pair := range map[string][2]string{
		"two databases":                    {originOf(t, "pg", `{"conn_str":"postgres://u:p@db/x"}`), originOf(t, "pg", `{"conn_str":"postgres://u:p@db/y"}`)},
		"two databases of the environment": {originOf(t, "pg", `{}`, "PG_CONN_STR=postgres://db/x"), originOf(t, "pg", `{}`, "PG_CONN_STR=postgres://db/y")},
		"two schemas":                      {originOf(t, "pg", `{"conn_str":"c","schema_name":"a"}`), originOf(t, "pg", `{"conn_str":"c","schema_name":"b"}`)},
		"two secrets":                      {originOf(t, "kubernetes", `{"secret_suffix":"s"}`), originOf(t, "kubernetes", `{"secret_suffix":"t"}`)},
		"two workspaces":                   {originOf(t, "gcs", `{"bucket":"b"}`), originOf(t, "gcs", `{"bucket":"b"}`, "TF_WORKSPACE=blue")},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s are one state: %s", name, pair[0])
		}
	}
}

// TestOneFileIsOneState: a folder has one state, by whatever way it is reached.
func TestOneFileIsOneState(t *testing.T) {
	t.Parallel()
	base := folder(t)
	write(t, filepath.Join(base, "real", "net", "main.tf"), "")
	if err := os.Symlink(filepath.Join(base, "real"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	want := "local:desk:" + filepath.Join(base, "real", "net", "terraform.tfstate")
	for _, w := range []Workdir{
		examine(t, filepath.Join(base, "link", "net"), "", nil, ""),
		examine(t, base, "link/net", nil, ""),
		examine(t, filepath.Join(base, "real"), "net", nil, "../net/terraform.tfstate"),
	} {
		if w.Origin != want {
			t.Errorf("origin %s, want %s", w.Origin, want)
		}
	}
}

func TestExamineRefusesNonsense(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	write(t, filepath.Join(base, ".terraform", "terraform.tfstate"), "{")
	if _, err := Examine(base, "", nil, "", "desk"); err == nil {
		t.Error("a broken file of the backend is accepted")
	}
}

func TestWhereABackendKeepsItsState(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	write(t, filepath.Join(base, ".terraform", "terraform.tfstate"),
		`{"backend":{"type":"local","config":{"path":"deep/net.tfstate","workspace_dir":null}}}`)
	w, err := Examine(base, "", nil, "", "desk")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := w.BackendSettings()
	if err != nil || settings["path"] != "deep/net.tfstate" {
		t.Errorf("settings %v, %v", settings, err)
	}
	for given, want := range map[string]string{"": "deep/net.tfstate", "other.tfstate": "other.tfstate"} {
		if got, err := w.LocalState(given); err != nil || got != filepath.Join(base, filepath.FromSlash(want)) {
			t.Errorf("state with -state=%q: %q, %v", given, got, err)
		}
	}
}

func TestAStateBehindHTTPIsItsAddress(t *testing.T) {
	t.Parallel()
	origin := func(config string, env ...string) string {
		base := t.TempDir()
		write(t, filepath.Join(base, ".terraform", "terraform.tfstate"), `{"backend":{"type":"http","config":{`+config+`}}}`)
		w, err := Examine(base, "", env, "", "desk")
		if err != nil {
			t.Fatal(err)
		}
		return w.Origin
	}
	want := origin(`"address":"https://states.example.org/net"`)
	for _, same := range []string{
		origin(`"address":null`, "TF_HTTP_ADDRESS=https://states.example.org/net"),
		origin(`"address":"https://alice:pass@states.example.org/net","retry_max":9,"headers":{"X-Api":"of alice"}`, "TF_HTTP_ADDRESS=https://elsewhere"),
	} {
		if same != want {
			t.Errorf("%s is another state than %s", same, want)
		}
	}
	for _, other := range []string{origin(`"address":"https://states.example.org/db"`), origin(`"address":null`, "TF_HTTP_ADDRESS=https://states.example.org/db")} {
		if other == want {
			t.Errorf("%s is the same state", other)
		}
	}
}

func TestRemoteBackends(t *testing.T) {
	t.Parallel()
	for backend, want := range map[string]bool{"cloud": true, "remote": true, "s3": false} {
		if got := (Workdir{Backend: backend}).Remote(); got != want {
			t.Errorf("%s: %v", backend, got)
		}
	}
}

func TestTakesVariablesWithPlan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		product Product
		version string
		want    bool
	}{
		{Terraform, "1.9.8", false},
		{Terraform, "1.10.0-rc1", true},
		{Terraform, "1.11.4", true},
		{OpenTofu, "1.10.5", false},
		{OpenTofu, "1.12.6", true},
	}
	for _, tt := range tests {
		if got := TakesVariablesWithPlan(tt.product, version.Must(version.NewVersion(tt.version))); got != tt.want {
			t.Errorf("%s %s: %v", tt.product, tt.version, got)
		}
	}
}
