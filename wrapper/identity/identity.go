// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package identity says who runs tfweaver, where, and what for, so that a
// session that has to wait can be told. It is a claim, not a proof: whoever
// runs tfweaver can name anybody.
package identity

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// Identity is who acts.
type Identity struct {
	// Actor is a person, pipeline or agent.
	Actor string
	// Host is the name of the machine.
	Host string
	// RunURL is the page of the pipeline run; empty outside of pipelines.
	RunURL string
	// Links lead to what caused the run, such as a merge request.
	Links []string
}

// System is what the operating system knows.
type System struct {
	// User is the name of the operating system's user.
	User string
	Host string
}

// Current asks the operating system. What it does not know is "unknown".
func Current() System {
	s := System{User: "unknown", Host: "unknown"}
	if u, err := user.Current(); err == nil && u.Username != "" {
		s.User = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != "" {
		s.Host = h
	}
	return s
}

// ActorVariable overrides who acts.
const ActorVariable = "TFWEAVER_ACTOR"

// Resolve says who acts: TFWEAVER_ACTOR, else the pipeline that the
// environment tells of, else the operating system's user.
func Resolve(env arguments.Environment, system System) Identity {
	id := pipeline(env)
	id.Host = system.Host
	if id.Actor == "" {
		id.Actor = system.User
	}
	if actor := env.Get(ActorVariable); actor != "" {
		id.Actor = actor
	}
	if url := env.Get("TFWEAVER_RUN_URL"); url != "" {
		id.RunURL = url
	}
	return id
}

// pipeline knows the variables that GitHub Actions and GitLab CI document.
func pipeline(env arguments.Environment) Identity {
	switch {
	case env.Get("GITHUB_ACTIONS") == "true":
		return github(env)
	case env.Get("GITLAB_CI") == "true":
		return gitlab(env)
	default:
		return Identity{}
	}
}

func github(env arguments.Environment) Identity {
	id := Identity{Actor: env.Get("GITHUB_ACTOR")}
	server, repository := env.Get("GITHUB_SERVER_URL"), env.Get("GITHUB_REPOSITORY")
	if server == "" || repository == "" {
		return id
	}
	base := server + "/" + repository
	if run := env.Get("GITHUB_RUN_ID"); run != "" {
		id.RunURL = base + "/actions/runs/" + run
	}
	// GITHUB_REF of a pull request is refs/pull/NUMBER/merge.
	if rest, ok := strings.CutPrefix(env.Get("GITHUB_REF"), "refs/pull/"); ok {
		number, _, _ := strings.Cut(rest, "/")
		id.Links = append(id.Links, base+"/pull/"+number)
	}
	return id
}

func gitlab(env arguments.Environment) Identity {
	id := Identity{Actor: env.Get("GITLAB_USER_LOGIN"), RunURL: env.Get("CI_JOB_URL")}
	if id.RunURL == "" {
		id.RunURL = env.Get("CI_PIPELINE_URL")
	}
	project, request := env.Get("CI_MERGE_REQUEST_PROJECT_URL"), env.Get("CI_MERGE_REQUEST_IID")
	if project != "" && request != "" {
		id.Links = append(id.Links, project+"/-/merge_requests/"+request)
	}
	return id
}

// Objective is what a session without a stated intent says it does: the
// command, the folder, and the workspace unless it is the default one.
func Objective(product, command, root, workspace string) string {
	text := fmt.Sprintf("%s %s in %s", product, command, filepath.Base(root))
	if workspace != "" && workspace != "default" {
		text += " (" + workspace + ")"
	}
	return text
}

// Tool names the programs at work, such as "tfweaver 0.1.0 (terraform 1.11.4)".
func Tool(version, product, productVersion string) string {
	return strings.TrimSpace(fmt.Sprintf("tfweaver %s (%s", version, strings.TrimSpace(product+" "+productVersion))) + ")"
}
