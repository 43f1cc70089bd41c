// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// Places are where the CLI looks for credentials.
type Places struct {
	Env arguments.Environment
	// ConfigFile is the CLI's configuration file; empty for none.
	ConfigFile string
	// Home is the user's home; empty where it is not known.
	Home string
}

// Token is the CLI's token for a host: that of the variable TF_TOKEN_host, else of
// the CLI's configuration, else of what "terraform login" has kept. It is empty
// where there is none; a credentials helper is not asked.
func (p Places) Token(host string) string {
	host = strings.ToLower(host)
	for _, kv := range p.Env {
		name, value, _ := strings.Cut(kv, "=")
		if encoded, ok := strings.CutPrefix(name, "TF_TOKEN_"); ok && value != "" && hostOf(encoded) == host {
			return value
		}
	}
	if text, err := readFile(p.ConfigFile); err == nil {
		if token := configured(string(text), host); token != "" {
			return token
		}
	}
	if p.Home == "" || p.Env.Get("TF_CLI_CONFIG_FILE") != "" {
		return "" // the CLI then looks nowhere else
	}
	dir := filepath.Join(p.Home, ".terraform.d")
	for _, pattern := range []string{"*.tfrc", "*.tfrc.json"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is in order
		for _, file := range files {
			if text, err := readFile(file); err == nil {
				if token := configured(string(text), host); token != "" {
					return token
				}
			}
		}
	}
	return ""
}

// hostOf undoes what the CLI asks for in the names of variables: two underscores
// stand for a dash, one for a dot.
func hostOf(encoded string) string {
	encoded = strings.ReplaceAll(encoded, "__", "-")
	return strings.ToLower(strings.ReplaceAll(encoded, "_", "."))
}

var (
	credentialsBlock = regexp.MustCompile(`(?s)\bcredentials\s+"([^"]+)"\s*\{([^}]*)\}`)
	tokenLine        = regexp.MustCompile(`\btoken\s*=\s*"([^"]*)"`)
	comment          = regexp.MustCompile(`(?m)^\s*(#|//).*$`)
)

// configured is the token of a credentials block. The file is in the first
// generation of HCL, which today's parser does not read.
func configured(text, host string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return kept([]byte(text), host)
	}
	for _, block := range credentialsBlock.FindAllStringSubmatch(comment.ReplaceAllString(text, ""), -1) {
		if line := tokenLine.FindStringSubmatch(block[2]); strings.EqualFold(block[1], host) && line != nil {
			return line[1]
		}
	}
	return ""
}

// kept is the token in a file of the form that "terraform login" writes.
func kept(text []byte, host string) string {
	var file struct {
		Credentials map[string]struct {
			Token string `json:"token"`
		} `json:"credentials"`
	}
	if json.Unmarshal(text, &file) != nil {
		return ""
	}
	for name, c := range file.Credentials {
		if strings.EqualFold(name, host) {
			return c.Token
		}
	}
	return ""
}
