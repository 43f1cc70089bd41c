// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// workdir is a folder that was initialised with a backend.
func workdir(t *testing.T, backend string) terraform.Workdir {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".terraform", "terraform.tfstate"), backend)
	w, err := terraform.Examine(dir, "", nil, "", "desk")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestOtherBackendsSayWhereToLook(t *testing.T) {
	t.Parallel()
	for want, backend := range map[string]string{
		"s3://states, in env:/blue/net.tfstate.tflock, or in the DynamoDB table locks": `{"type":"s3","config":{"bucket":"states","key":"net.tfstate","dynamodb_table":"locks","secret_key":"` + secret + `"}}`,
		"gs://states/team/blue.tflock":                                  `{"type":"gcs","config":{"bucket":"states","prefix":"team"}}`,
		"blob the configured key in the container c of acct":            `{"type":"azurerm","config":{"container_name":"c","storage_account_name":"acct","access_key":"` + secret + `"}}`,
		"net/state/.lockinfo":                                           `{"type":"consul","config":{"path":"net/state","access_token":"` + secret + `"}}`,
		"lock-tfstate-blue-net":                                         `{"type":"kubernetes","config":{"secret_suffix":"net"}}`,
		"pg_locks, locktype 'advisory') in the schema terraform_remote": `{"type":"pg","config":{"conn_str":"postgres://u:` + secret + `@h/db"}}`,
		"HCP Terraform":                                                 `{"type":"cloud","config":{"token":"` + secret + `"}}`,
		`The backend "new" cannot`:                                      `{"type":"new","config":{}}`,
		"ends in .tflock, or in":                                        `{"type":"oss","config":{}}`,
	} {
		w := workdir(t, `{"backend":`+backend+`}`)
		w.Workspace = "blue"
		_, err := Find(t.Context(), w, "", arguments.Environment{})
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("want %q in\n%v", want, err)
		}
	}
}

func TestFindAsksTheServerOfTheConfiguration(t *testing.T) {
	t.Parallel()
	s := &store{holder: []byte(alice)}
	address := s.serve(t)["address"].(string)
	w := workdir(t, `{"backend":{"type":"http","config":{"address":"`+address+`","lock_address":"`+address+`","unlock_address":"`+address+`"}}}`)
	if lock, err := Find(t.Context(), w, "", arguments.Environment{}); err != nil || lock.Who != "alice@ticket-42" {
		t.Errorf("%+v, %v", lock, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ended, w, "", arguments.Environment{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context has ended: %v", err)
	}
}

func TestLocalWithoutALock(t *testing.T) {
	t.Parallel()
	w := workdir(t, `{}`)
	if _, err := Find(t.Context(), w, "", arguments.Environment{}); !errors.Is(err, ErrFree) {
		t.Errorf("no state: %v", err)
	}
	write(t, filepath.Join(w.Root, "terraform.tfstate"), "{}")
	if _, err := Find(t.Context(), w, "", arguments.Environment{}); !errors.Is(err, ErrFree) {
		t.Errorf("a state that nobody holds: %v", err)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"alice@desk": "alice@desk", "a\x1b[31mred\x00": "a[31mred", "two\nlines\tand": "two lines and",
		"gnp\u202efdp": "gnpfdp", "größe": "größe", strings.Repeat("ä", maxField+5): strings.Repeat("ä", maxField-1) + "…",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	if l, err := decode([]byte(`{"ID":"a\u001b","Who":"b\nc","Created":"2026-11-30T20:00:00Z","Extra":1}`)); err != nil || l.ID != "a" || l.Who != "b c" {
		t.Errorf("%+v, %v", l, err)
	}
	for _, text := range []string{"", "{", "[]", "{}", `{"Path":"x"}`, `"locked"`} {
		if l, err := decode([]byte(text)); err == nil {
			t.Errorf("%q is taken for %+v", text, l)
		}
	}
}
