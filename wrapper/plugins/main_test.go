// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

func TestMain(m *testing.M) {
	code := plugintest.Main(m)
	if code == 0 && os.Getenv("PLUGINTEST_PROTOCOL") == "" {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}
