// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package leak

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const value = `Xq7"zW/9+kLm<vR2 tYb`

func secrets() []Secret { return []Secret{{"the password", value}} }

func TestScanKnowsForms(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"clear":           "a" + value + "b",
		"lower case":      strings.ToLower(value),
		"hex":             hex.EncodeToString([]byte("a" + value + "b")),
		"URL":             "https://x/?q=" + url.QueryEscape(value) + "&r=1",
		"JSON":            `{"a":"` + strings.NewReplacer(`"`, `\"`, `<`, `\u003c`).Replace(value) + `"}`,
		"UTF-16":          "\x00a\x00" + wide(value),
		"base64":          base64.StdEncoding.EncodeToString([]byte("head" + value + "tail")),
		"base64 by 1":     base64.StdEncoding.EncodeToString([]byte("hea" + value + "tail")),
		"base64 by 2":     base64.StdEncoding.EncodeToString([]byte("he" + value + "t")),
		"base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte("ab" + value)),
	} {
		if found := Scan("x", []byte(text), secrets()); len(found) != 1 {
			t.Errorf("%s: found %v", name, found)
		}
	}
	if found := Scan("x", []byte(value[:12]+value[11:]), secrets()); len(found) != 0 {
		t.Errorf("in another text: %v", found)
	}
}

func TestScanUnpacks(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	if _, err := g.Write([]byte(value)); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("tfplan")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plan"), archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	found, files, err := ScanFolder(dir, secrets())
	if err != nil || files != 1 || len(found) != 1 || found[0].String() != "the password in plan!tfplan!gzip (clear)" {
		t.Errorf("found %v in %d files, %v", found, files, err)
	}
}

func TestScanReadsNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a-secret-of-ours-91"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, _, err := ScanFolder(dir, []Secret{{"the name", "secret-of-ours-91"}})
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if _, _, err := ScanFolder(filepath.Join(dir, "none", "\x00"), nil); err == nil {
		t.Error("a folder that cannot be read is clean")
	}
}
