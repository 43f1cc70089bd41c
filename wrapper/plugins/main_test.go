// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// orphanEnv makes the test binary a parent that waits to be killed; it names
// the provider's executable.
const orphanEnv = "PLUGINS_TEST_ORPHAN"

// parent starts a provider, prints its process id, and waits.
func parent(path string) int {
	p, err := Launch(context.Background(), Command{Path: path, Env: plugintest.Env(6, "")})
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	fmt.Println(p.PID())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func TestMain(m *testing.M) {
	if path := os.Getenv(orphanEnv); path != "" {
		_ = os.Unsetenv(orphanEnv) // the provider is no parent
		os.Exit(parent(path))
	}
	code := plugintest.Main(m)
	if code == 0 && os.Getenv("PLUGINTEST_PROTOCOL") == "" {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}
