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
// provider of the simulated cloud and the fixture providers.
const ProviderVersion = "0.1.0"

// providerNamespace is the namespace of the providers below their registry host.
const providerNamespace = "tfweaver"

// simcloudProvider is the last part of the address of the simulated cloud's
// provider.
const simcloudProvider = "simcloud"

// offered are the providers of a mirror, by the last part of their address, when
// that of the simulated cloud speaks a protocol.
func (b Binaries) offered(protocol int) map[string]string {
	return map[string]string{simcloudProvider: b.Provider[protocol], "five": b.Fixture[5], "six": b.Fixture[6]}
}

// mirror lays out a filesystem mirror that serves provider binaries under the
// default registry of both products.
func mirror(dir string, offered map[string]string) error {
	for _, host := range []string{terraformRegistry, tofuRegistry} {
		for provider, binary := range offered {
			name := executable("terraform-provider-" + provider + "_v" + ProviderVersion)
			to := filepath.Join(dir, host, providerNamespace, provider, ProviderVersion, runtime.GOOS+"_"+runtime.GOARCH, name)
			if err := linkOrCopy(binary, to); err != nil {
				return err
			}
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
