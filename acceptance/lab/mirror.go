// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// ProviderVersion is the version under which the lab's mirrors offer the
// provider of the simulated cloud.
const ProviderVersion = "0.1.0"

// The source address of the provider below its registry host.
const (
	providerNamespace = "tfweaver"
	providerType      = "simcloud"
)

// mirror lays out a filesystem mirror that serves one provider binary under the
// default registry of both products.
func mirror(dir, binary string) error {
	for _, host := range []string{terraformRegistry, tofuRegistry} {
		name := executable("terraform-provider-" + providerType + "_v" + ProviderVersion)
		to := filepath.Join(dir, host, providerNamespace, providerType, ProviderVersion, runtime.GOOS+"_"+runtime.GOARCH, name)
		if err := linkOrCopy(binary, to); err != nil {
			return err
		}
	}
	return nil
}

// writeCLIConfig writes a CLI configuration that knows one mirror and no
// registry, and asks nobody for newer versions.
func writeCLIConfig(file, mirror string) error {
	text := fmt.Sprintf(`disable_checkpoint = true

provider_installation {
  filesystem_mirror {
    path = %q
  }
}
`, filepath.ToSlash(mirror))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the CLI configuration: %w", err)
	}
	return nil
}
