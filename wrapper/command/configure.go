// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/settings"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// configure takes from the repository's settings what the command line and the
// environment leave open. Commands that are left to the CLI have no use for
// settings, and so are not stopped by mistakes in them.
func (a *App) configure(inv *arguments.Invocation) (settings.Settings, error) {
	asks := inv.Own && inv.Command != "serve" && !inv.Help()
	if plainly(*inv) && !asks {
		return settings.Settings{}, nil
	}
	dir := a.Dir
	if chdir := inv.Chdir(); filepath.IsAbs(chdir) {
		dir = chdir
	} else if chdir != "" {
		dir = filepath.Join(dir, chdir)
	}
	s, err := settings.Load(dir, orElse(a.Env.Get("HOME"), a.Env.Get("USERPROFILE")))
	if err != nil {
		return s, &settingsError{err}
	}
	inv.Weaver.Adopt(s)
	return s, nil
}

// settingsError is a settings file that is not usable.
type settingsError struct{ Err error }

func (e *settingsError) Error() string { return e.Err.Error() }
func (e *settingsError) Unwrap() error { return e.Err }

func explainSettings(e *settingsError) views.Problem {
	var foreign *settings.ForeignError
	var broken *settings.Error
	switch {
	case errors.As(e.Err, &foreign):
		return views.Problem{
			Summary: "Settings of somebody else",
			Detail: fmt.Sprintf("%s belongs neither to you nor to the owner of the working folder, and says which coordinator to trust. It was not read.\n\n"+
				"Remove it, make the repository's root known by its .git, or put a %s into the working folder.", foreign.Path, settings.FileName),
		}
	case errors.As(e.Err, &broken):
		return views.Problem{Summary: "Broken settings", Detail: broken.Error() + "\n\nNothing was sent to the cloud. Correct " + broken.Path + "."}
	default:
		return views.Problem{Summary: "The settings cannot be read", Detail: sentence(e.Error()) + " Nothing was sent to the cloud."}
	}
}

// inCI says whether this is a job of a pipeline: the usual runners, hosted or
// not, say so by the variable CI.
func inCI(env arguments.Environment) bool {
	switch strings.ToLower(strings.TrimSpace(env.Get("CI"))) {
	case "", "false", "0":
		return false
	default:
		return true
	}
}

// localError is a run in CI that would be coordinated with its own machine only.
type localError struct{}

func (*localError) Error() string {
	return "no shared coordinator is named, and in CI the other runs are on other machines"
}

func explainLocal() views.Problem {
	return views.Problem{
		Summary: "No shared coordinator in CI",
		Detail: "CI is set: the other runs are on other machines, and a coordinator of this one would not see them. Nothing was sent to the cloud.\n\n" +
			"Name the coordinator that all runs share in " + settings.FileName + " at the root of the repository:\n\n" +
			settingsExample("tcp://HOST:PORT", "weaver-ca.pem") + "\n" +
			"or with -weaver-coordinator or TFWEAVER_COORDINATOR. \"tfweaver serve -listen tcp://HOST:PORT\" runs one.\n\n" +
			"Where all runs that change this cloud are on this machine, say so with -weaver-local or TFWEAVER_LOCAL=1.",
	}
}

// settingsExample is what names a coordinator in the settings.
func settingsExample(address, caFile string) string {
	return fmt.Sprintf("  coordinator {\n    address   = %q\n    ca_file   = %q\n    token_env = %q\n  }\n", address, caFile, arguments.TokenVariable)
}
