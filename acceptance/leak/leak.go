// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package leak looks for planted secrets in what programs leave behind: in clear,
// in the encodings that programs usually put a text into, and inside archives.
package leak

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Secret is a text that must not turn up. It must be long and like nothing else:
// parts of a short one are everywhere.
type Secret struct {
	// Name says in findings what it is; the value is never shown.
	Name, Value string
}

// Finding is a secret in a place.
type Finding struct {
	Secret string
	// Place is the file or the answer, with the parts of an archive behind it.
	Place string
	// Form is how it is written there.
	Form string
}

// String tells the finding without the secret.
func (f Finding) String() string { return fmt.Sprintf("%s in %s (%s)", f.Secret, f.Place, f.Form) }

// most bounds what is unpacked of one archive, in bytes, and how deep.
const (
	mostUnpacked = 64 << 20
	mostDepth    = 3
)

// Scan looks for the secrets in one text.
func Scan(place string, text []byte, secrets []Secret) []Finding {
	return scan(place, text, secrets, 0)
}

func scan(place string, text []byte, secrets []Secret, depth int) (found []Finding) {
	for _, s := range secrets {
		for _, f := range forms(s.Value) {
			if bytes.Contains(text, []byte(f.text)) {
				found = append(found, Finding{s.Name, place, f.name})
				break
			}
		}
	}
	if depth < mostDepth {
		for _, p := range unpack(text) {
			found = append(found, scan(place+"!"+p.name, p.text, secrets, depth+1)...)
		}
	}
	return found
}

// form is one way to write a text.
type form struct{ name, text string }

// forms are the ways in which a text may be written down.
func forms(value string) []form {
	quoted, err := json.Marshal(value)
	if err != nil {
		quoted = nil
	}
	all := []form{
		{"clear", value},
		{"JSON", strings.Trim(string(quoted), `"`)},
		{"URL", url.QueryEscape(value)},
		{"lower case", strings.ToLower(value)},
		{"hex", hex.EncodeToString([]byte(value))},
		{"UTF-16", wide(value)},
	}
	// Where in a group of three the text begins decides how base64 writes it; its
	// first and last letters depend on what is beside it.
	for shift := range 3 {
		padded := append(bytes.Repeat([]byte{' '}, shift), value...)
		for name, encoding := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64 for URLs": base64.URLEncoding} {
			text := encoding.EncodeToString(padded)
			all = append(all, form{name, text[4 : len(text)-4]})
		}
	}
	return slices.DeleteFunc(all, func(f form) bool { return f.text == "" })
}

// wide writes a text with a zero behind each byte.
func wide(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

// part is a part of an archive.
type part struct {
	name string
	text []byte
}

// unpack returns the parts of a zip archive, as plan files are, or what was
// compressed with gzip; nothing of another text.
func unpack(text []byte) (parts []part) {
	if archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text))); err == nil {
		for _, f := range archive.File {
			if r, err := f.Open(); err == nil {
				parts = append(parts, part{f.Name, bounded(r)})
			}
		}
	}
	if r, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		parts = append(parts, part{"gzip", bounded(r)})
	}
	return parts
}

// bounded reads as much as there is, of a damaged archive too.
func bounded(r io.ReadCloser) []byte {
	defer r.Close() //nolint:errcheck // only read
	text, _ := io.ReadAll(io.LimitReader(r, mostUnpacked))
	return text
}

// ScanFolder looks into all files below a folder. It returns how many there are,
// so that a scan of nothing is not taken for a clean one.
func ScanFolder(dir string, secrets []Secret) (found []Finding, files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that has gone in this moment
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		// Names tell, too.
		found = append(found, Scan("the name "+name, []byte(name), secrets)...)
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		found = append(found, Scan(name, text, secrets)...)
		return nil
	})
	if err != nil {
		return found, files, fmt.Errorf("scan %s: %w", dir, err)
	}
	return found, files, nil
}
