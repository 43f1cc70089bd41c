// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package identity says who runs tfweaver, where, and what for, so that a
// session that has to wait can be told. Most of it is a claim, not a proof:
// whoever runs tfweaver can set the variables that it is read from. What is one
// is marked as such.
package identity

import (
	"fmt"
	"net/url"
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
	// Claimed is true where Actor was read from the environment. Otherwise it
	// is the operating system's user, whom a private socket proves.
	Claimed bool
	// Host is the name of the machine.
	Host string
	// Platform is what runs tfweaver, such as "github"; empty for a shell.
	Platform string
	// Repository holds the configuration, such as acme/infra; empty when not
	// known, as are the fields below.
	Repository string
	Branch     string
	// Change names the change under review, such as "pull request 34".
	Change string
	// Title is the title of the change or of the pipeline.
	Title string
	// RunURL is the page of the pipeline run.
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

// Variables that override what is found out.
const (
	// ActorVariable is who acts.
	ActorVariable = "TFWEAVER_ACTOR"
	// RunURLVariable is the page of the run.
	RunURLVariable = "TFWEAVER_RUN_URL"
)

// Resolve says who acts: TFWEAVER_ACTOR, else whoever the pipeline that the
// environment tells of acts for, else the operating system's user, or whoever
// became root by sudo. dir is the working folder: its repository and branch are
// told where the environment does not know them; empty for none.
func Resolve(env arguments.Environment, system System, dir string) Identity {
	id := pipeline(env)
	id.Host = system.Host
	if actor := env.Get(ActorVariable); actor != "" {
		id.Actor = actor
	}
	if sudo := env.Get("SUDO_USER"); id.Actor == "" && sudo != "" && system.User == "root" {
		id.Actor = sudo
	}
	id.Claimed = id.Actor != ""
	if id.Actor == "" {
		id.Actor = system.User
	}
	if page := env.Get(RunURLVariable); page != "" {
		id.RunURL = page
	}
	if dir != "" && (id.Repository == "" || id.Branch == "") {
		id.look(dir)
	}
	return id.bounded()
}

// look takes from the folder's Git repository what is not known yet.
func (i *Identity) look(dir string) {
	repository, branch := checkout(dir)
	if i.Repository == "" {
		i.Repository = repository
	}
	if i.Branch == "" {
		i.Branch = branch
	}
}

// maxText bounds what is told of the environment, in characters.
const maxText = 120

// bounded cuts what would be too long for a table, or for the coordinator, and
// what nobody else should see.
func (i Identity) bounded() Identity {
	i.RunURL, i.Repository = discreet(i.RunURL), discreet(i.Repository)
	for n, link := range i.Links {
		i.Links[n] = discreet(link)
	}
	for _, field := range []*string{&i.Actor, &i.Host, &i.Repository, &i.Branch, &i.Change, &i.Title} {
		*field = clip(*field)
	}
	if len(i.RunURL) > 4*maxText {
		i.RunURL = ""
	}
	return i
}

// discreet is an address without the name and the password that pipelines put
// into it. Where they cannot be told apart nothing of it is left.
func discreet(address string) string {
	if !strings.Contains(address, "://") || !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}

func clip(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) <= maxText {
		return string(runes)
	}
	return string(runes[:maxText-1]) + "…"
}

// ClaimedLabel is the label of a session whose actor is a claim; its value is
// "true".
const ClaimedLabel = "claimed"

// Labels are what a session tells beside the actor.
func (i Identity) Labels() map[string]string {
	labels := map[string]string{}
	for name, value := range map[string]string{
		"platform": i.Platform, "repository": i.Repository, "branch": i.Branch, "change": i.Change,
	} {
		if value != "" {
			labels[name] = value
		}
	}
	if i.Claimed {
		labels[ClaimedLabel] = "true"
	}
	return labels
}

// Purpose is what the run is for as far as that is known: the change under
// review, else the pipeline, else a branch that is not the usual one. It is
// empty where there is nothing to tell.
func (i Identity) Purpose() string {
	switch {
	case i.Change != "" && i.Title != "":
		return fmt.Sprintf("%s, %s", i.where(i.Change), i.Title)
	case i.Change != "":
		return i.where(i.Change)
	case i.Title != "":
		return i.Title
	case i.Branch != "" && i.Branch != "main" && i.Branch != "master":
		return "branch " + i.Branch
	default:
		return ""
	}
}

func (i Identity) where(what string) string {
	if i.Repository == "" {
		return what
	}
	return what + " of " + i.Repository
}

// Objective is what a session without a stated intent says it does: the
// command, the folder, the workspace unless it is the default one, and the
// purpose as far as it is known.
func Objective(product, command, root, workspace, purpose string) string {
	text := fmt.Sprintf("%s %s in %s", product, command, filepath.Base(root))
	if workspace != "" && workspace != "default" {
		text += " (" + workspace + ")"
	}
	if purpose != "" {
		text += " for " + purpose
	}
	return text
}

// Tool names the programs at work, such as "tfweaver 0.1.0 (terraform 1.11.4)".
func Tool(version, product, productVersion string) string {
	return strings.TrimSpace(fmt.Sprintf("tfweaver %s (%s", version, strings.TrimSpace(product+" "+productVersion))) + ")"
}
