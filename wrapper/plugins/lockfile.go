// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// LockFileName is the name of the dependency lock file in the root module's
// folder.
const LockFileName = ".terraform.lock.hcl"

// maxLockFile bounds what is read of a lock file, in bytes. Real ones have a
// few kilobytes per provider.
const maxLockFile = 16 << 20

// Lockfile is the content of a dependency lock file.
type Lockfile struct {
	// Path is the file it was read from.
	Path string
	// Entries are the providers in file order.
	Entries []Entry
}

// Entry is one provider of a lock file.
type Entry struct {
	// Source is the full source address HOST/NAMESPACE/TYPE.
	Source string
	// Version is the selected version.
	Version string
	// Constraints is the version constraint that led to the selection; empty
	// when none was given.
	Constraints string
	// Hashes are the recorded checksums with their scheme prefix (h1:, zh:).
	Hashes []string
}

// Entry returns the entry of a provider and whether there is one.
func (l Lockfile) Entry(source string) (Entry, bool) {
	for _, e := range l.Entries {
		if e.Source == source {
			return e, true
		}
	}
	return Entry{}, false
}

// ReadLockFile reads a dependency lock file. The error wraps fs.ErrNotExist
// when there is none and ErrLockFile when it cannot be understood.
func ReadLockFile(path string) (Lockfile, error) {
	src, err := readBounded(path, maxLockFile)
	if err != nil {
		return Lockfile{}, fmt.Errorf("read dependency lock file: %w", err)
	}
	file, diags := hclsyntax.ParseConfig(src, path, hcl.InitialPos)
	if diags.HasErrors() {
		return Lockfile{}, fmt.Errorf("%w: %w", ErrLockFile, diags)
	}
	// Only provider blocks are of interest; later versions of the format may
	// record more beside them.
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "provider", LabelNames: []string{"source"}}},
	})
	if diags.HasErrors() {
		return Lockfile{}, fmt.Errorf("%w: %w", ErrLockFile, diags)
	}
	lock := Lockfile{Path: path}
	for _, block := range content.Blocks {
		entry, err := decodeEntry(block)
		if err != nil {
			return Lockfile{}, fmt.Errorf("%w: %s: %w", ErrLockFile, block.DefRange, err)
		}
		if _, twice := lock.Entry(entry.Source); twice {
			return Lockfile{}, fmt.Errorf("%w: %s: provider %s is recorded twice", ErrLockFile, block.DefRange, entry.Source)
		}
		lock.Entries = append(lock.Entries, entry)
	}
	return lock, nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(src)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return src, nil
}

func decodeEntry(block *hcl.Block) (Entry, error) {
	entry := Entry{Source: block.Labels[0]}
	if _, err := sourceParts(entry.Source); err != nil {
		return Entry{}, err
	}
	content, _, diags := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "version", Required: true}, {Name: "constraints"}, {Name: "hashes"},
	}})
	if diags.HasErrors() {
		return Entry{}, diags
	}
	err := decodeAttributes(content.Attributes, &entry)
	if err != nil {
		return Entry{}, err
	}
	// The version becomes part of a path, so it must be nothing but a version.
	if _, err := version.NewSemver(entry.Version); err != nil {
		return Entry{}, fmt.Errorf("version %q: %w", entry.Version, err)
	}
	return entry, nil
}

func decodeAttributes(attrs hcl.Attributes, entry *Entry) error {
	for name, attr := range attrs {
		values, err := attributeStrings(attr)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		switch name {
		case "version":
			entry.Version = strings.Join(values, "")
		case "constraints":
			entry.Constraints = strings.Join(values, ", ")
		case "hashes":
			entry.Hashes = values
		}
	}
	return nil
}

// attributeStrings evaluates a literal string or list of strings.
func attributeStrings(attr *hcl.Attribute) ([]string, error) {
	val, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		return nil, diags
	}
	if val.Type() == cty.String && val.IsWhollyKnown() && !val.IsNull() {
		return []string{val.AsString()}, nil
	}
	list, err := convert.Convert(val, cty.List(cty.String))
	if err != nil {
		return nil, err
	}
	if !list.IsWhollyKnown() || list.IsNull() {
		return nil, fmt.Errorf("must be a literal")
	}
	values := make([]string, 0, list.LengthInt())
	for _, v := range list.AsValueSlice() {
		if v.IsNull() {
			return nil, fmt.Errorf("must not hold null")
		}
		values = append(values, v.AsString())
	}
	return values, nil
}

// sourceParts splits HOST/NAMESPACE/TYPE. The parts become folder names, so
// anything that could leave its folder is refused.
func sourceParts(source string) ([3]string, error) {
	parts := strings.Split(source, "/")
	if len(parts) != 3 {
		return [3]string{}, fmt.Errorf("provider source %q is not HOST/NAMESPACE/TYPE", source)
	}
	for _, p := range parts {
		if p == "" || strings.HasPrefix(p, ".") || strings.ContainsAny(p, "\\\x00") {
			return [3]string{}, fmt.Errorf("provider source %q has an invalid part %q", source, p)
		}
	}
	return [3]string(parts), nil
}
