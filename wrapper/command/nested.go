// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// ownReattachVariable marks an environment whose TF_REATTACH_PROVIDERS is
// tfweaver's, and keeps what the user had set, if anything. A provisioner, or a
// program that a data source runs, inherits it all; a tfweaver in there must not
// take the proxies of this run for providers that the user serves. Its init would
// install nothing, and its changes would be made in the name of this run, too.
const ownReattachVariable = "TFWEAVER_REATTACHED"

// sessionsVariable names the sessions of the runs around a CLI, outermost first:
// what runs within them must not wait for them.
const sessionsVariable = "TFWEAVER_SESSIONS"

// around are the sessions of the runs that an environment is within.
func around(env arguments.Environment) []string { return strings.Fields(env.Get(sessionsVariable)) }

// inside is the environment for what runs within a session.
func inside(env arguments.Environment, session string) arguments.Environment {
	return env.With(sessionsVariable, strings.Join(append(around(env), session), " "))
}

// attached is an environment for a CLI that is to use the given proxies.
func attached(env arguments.Environment, proxies string) arguments.Environment {
	return env.With(ownReattachVariable, env.Get(intercept.ReattachEnv)).With(intercept.ReattachEnv, proxies)
}

// detached is the environment as it was around the outermost tfweaver.
func detached(env arguments.Environment) arguments.Environment {
	theirs, within := env.Lookup(ownReattachVariable)
	if !within {
		return env
	}
	env = env.Without(ownReattachVariable, intercept.ReattachEnv)
	if theirs == "" {
		return env
	}
	return env.With(intercept.ReattachEnv, theirs)
}
