// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// maxConfig bounds the CLI's configuration file, in bytes.
const maxConfig = 1 << 20

// devOverrides are the provider folders that the CLI's configuration puts in
// the place of installed packages, by source address. The CLI would run them
// by itself, past the proxy and without a look at the lock file. A file that may
// not be read has none: the CLI, too, warns of it and goes on without.
func devOverrides(env arguments.Environment, product terraform.Product) (map[string]string, error) {
	path := configFile(env, product)
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the CLI configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return nil, fmt.Errorf("read the CLI configuration: %w", err)
	}
	return parseOverrides(string(text), product), nil
}

// configFile is the CLI's configuration file, whether it is there or not. OpenTofu
// has a name of its own for it, which goes before the common one.
func configFile(env arguments.Environment, product terraform.Product) string {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if path := env.Get(name); path != "" {
			return path
		}
	}
	if runtime.GOOS == "windows" {
		if dir := env.Get("APPDATA"); dir != "" {
			return filepath.Join(dir, "terraform.rc")
		}
		return ""
	}
	home := env.Get("HOME")
	if home == "" {
		return ""
	}
	if own := filepath.Join(home, ".tofurc"); product == terraform.OpenTofu && exists(own) {
		return own
	}
	return filepath.Join(home, ".terraformrc")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var (
	overridesBlock = regexp.MustCompile(`(?s)\bdev_overrides\s*\{([^}]*)\}`)
	overrideLine   = regexp.MustCompile(`"([^"]+)"\s*=\s*"((?:[^"\\]|\\.)*)"`)
	comments       = regexp.MustCompile(`(?m)^\s*(#|//).*$`)
)

// parseOverrides finds the dev_overrides block. The file is in the first
// generation of HCL, with quoted names, which today's parser does not read.
func parseOverrides(text string, product terraform.Product) map[string]string {
	text = comments.ReplaceAllString(text, "")
	out := map[string]string{}
	for _, block := range overridesBlock.FindAllStringSubmatch(text, -1) {
		for _, line := range overrideLine.FindAllStringSubmatch(block[1], -1) {
			dir := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(line[2])
			out[fullAddress(line[1], product)] = dir
		}
	}
	return out
}

// fullAddress is the full form HOST/NAMESPACE/TYPE of a source address: what is
// left out is the product's default host, and the namespace hashicorp.
func fullAddress(source string, product terraform.Product) string {
	host := "registry.terraform.io"
	if product == terraform.OpenTofu {
		host = "registry.opentofu.org"
	}
	source = strings.ToLower(source) // as the CLI compares them
	switch strings.Count(source, "/") {
	case 0:
		return host + "/hashicorp/" + source
	case 1:
		return host + "/" + source
	default:
		return source
	}
}

// overridden finds the provider's program in its folder.
func overridden(address, dir string) (string, error) {
	name := "terraform-provider-" + address[strings.LastIndex(address, "/")+1:]
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("provider %s of dev_overrides: %w", address, err)
	}
	for _, f := range files {
		stem := strings.TrimSuffix(f.Name(), ".exe")
		if stem == name || strings.HasPrefix(stem, name+"_") {
			return filepath.Abs(filepath.Join(dir, f.Name()))
		}
	}
	return "", fmt.Errorf("provider %s of dev_overrides: %s has no program called %s", address, dir, name)
}
