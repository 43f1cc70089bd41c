// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxFile bounds a settings file, in bytes.
const maxFile = 1 << 20

// Error is a settings file with mistakes.
type Error struct {
	Path  string
	Diags hcl.Diagnostics
}

// maxMistakes bounds how many mistakes of a file are told at once.
const maxMistakes = 8

// Error lists the mistakes, each with its line: the first ones of a file that
// has no end of them, as one that is no such file.
func (e *Error) Error() string {
	var lines []string
	for _, d := range e.Diags {
		line := d.Summary
		if d.Subject != nil {
			line = fmt.Sprintf("%s:%d: %s", d.Subject.Filename, d.Subject.Start.Line, line)
		}
		if d.Detail != "" {
			line += ": " + d.Detail
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if more := len(lines) - maxMistakes; more > 0 {
		lines = append(lines[:maxMistakes], fmt.Sprintf("... and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Load finds and reads the settings file of a working folder; see [Find]. Where
// there is none it returns the zero value.
func Load(dir, home string) (Settings, error) {
	path, err := Find(dir, home)
	if err != nil || path == "" {
		return Settings{}, err
	}
	return Read(path)
}

// Read reads a settings file. Mistakes in it are an [*Error].
func Read(path string) (Settings, error) {
	f, err := os.Open(path)
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings: %w", err)
	}
	if len(text) > maxFile {
		return Settings{}, fmt.Errorf("read the settings: %s has more than %d bytes", path, maxFile)
	}
	return Parse(path, text)
}

// Parse reads the text of a settings file. Relative paths in it are relative to
// the folder of path.
func Parse(path string, text []byte) (Settings, error) {
	file, diags := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
	r := reader{dir: filepath.Dir(path), diags: diags}
	s := Settings{Path: path}
	if file != nil {
		r.root(file.Body, &s)
	}
	if r.diags.HasErrors() {
		return Settings{}, &Error{Path: path, Diags: r.diags}
	}
	return s, nil
}

// reader collects the mistakes of a file.
type reader struct {
	dir   string
	diags hcl.Diagnostics
}

var (
	rootSchema = hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "mode"}, {Name: "wait"}, {Name: "policy"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "coordinator"}, {Type: "realm", LabelNames: []string{"pattern"}}},
	}
	coordinatorSchema = hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "address", Required: true}, {Name: "ca_file"}, {Name: "token_env"}, {Name: "token_file"}},
	}
	realmSchema = hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "mode", Required: true}}}
)

func (r *reader) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(schema)
	r.diags = append(r.diags, diags...)
	return content
}

func (r *reader) root(body hcl.Body, s *Settings) {
	content := r.content(body, &rootSchema)
	s.Mode = r.choice(content.Attributes["mode"], "off", "observe", "wait", "enforce")
	s.Policy = r.choice(content.Attributes["policy"], "queue", "reject")
	s.Wait = r.duration(content.Attributes["wait"])
	for _, block := range content.Blocks {
		switch {
		case block.Type == "realm":
			inner := r.content(block.Body, &realmSchema)
			s.Realms = append(s.Realms, Realm{
				Pattern: block.Labels[0], Mode: r.choice(inner.Attributes["mode"], "off", "observe", "wait", "enforce"),
			})
		case s.Coordinator != nil:
			r.complain(block.DefRange, "Two coordinators", "A repository has one coordinator.")
		default:
			s.Coordinator = r.coordinator(block)
		}
	}
}

func (r *reader) coordinator(block *hcl.Block) *Coordinator {
	r.forbidToken(block)
	content := r.content(block.Body, &coordinatorSchema)
	attributes := content.Attributes
	c := &Coordinator{
		Address: r.address(attributes["address"]),
		CAFile:  r.file(attributes["ca_file"]), TokenFile: r.file(attributes["token_file"]),
		TokenEnv: r.text(attributes["token_env"]),
	}
	if c.TokenEnv != "" && c.TokenFile != "" {
		r.complain(attributes["token_file"].NameRange, "Two places for the token", "Give token_env or token_file, not both.")
	}
	return c
}

// forbidToken says of a token in the file what is better than "unsupported
// argument".
func (r *reader) forbidToken(block *hcl.Block) {
	body, ok := block.Body.(*hclsyntax.Body)
	if !ok {
		return
	}
	if a, ok := body.Attributes["token"]; ok {
		r.complain(a.NameRange, "A secret in the settings",
			"This file is for everybody who can read the repository. Put the token into an environment variable or a file, and name that with token_env or token_file.")
	}
}

// text is the value of an attribute, which is empty when it is not set.
func (r *reader) text(a *hcl.Attribute) string {
	if a == nil {
		return ""
	}
	value, diags := a.Expr.Value(nil)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return ""
	}
	if value.IsNull() || !value.IsKnown() || value.Type() != cty.String || value.AsString() == "" {
		r.complain(a.Expr.Range(), "Invalid value", fmt.Sprintf("The value of %s is a text in quotes that is not empty.", a.Name))
		return ""
	}
	return value.AsString()
}

func (r *reader) choice(a *hcl.Attribute, choices ...string) string {
	value := r.text(a)
	if value != "" && !slices.Contains(choices, value) {
		r.complain(a.Expr.Range(), "Invalid value", fmt.Sprintf("%q is none of %s.", value, strings.Join(choices, ", ")))
	}
	return value
}

func (r *reader) duration(a *hcl.Attribute) *time.Duration {
	value := r.text(a)
	if value == "" {
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		r.complain(a.Expr.Range(), "Invalid value", fmt.Sprintf("%q is not a duration such as 90s, 10m or 0s.", value))
		return nil
	}
	return &d
}

// file is a path, relative to the folder of the settings.
func (r *reader) file(a *hcl.Attribute) string {
	path := r.text(a)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, filepath.FromSlash(path))
}

func (r *reader) address(a *hcl.Attribute) string {
	value := r.text(a)
	if value != "" && !reachable(value) {
		r.complain(a.Expr.Range(), "Invalid value", fmt.Sprintf("%q is no address of a coordinator, such as tcp://HOST:PORT or unix:///PATH.", value))
	}
	return value
}

// reachable says whether an address names a host and a port, or a path.
func reachable(address string) bool {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		return strings.HasPrefix(path, "/") || filepath.IsAbs(path)
	}
	at, ok := strings.CutPrefix(address, "tcp://")
	host, port, err := net.SplitHostPort(at)
	return ok && err == nil && host != "" && port != ""
}

func (r *reader) complain(at hcl.Range, summary, detail string) {
	r.diags = append(r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}
