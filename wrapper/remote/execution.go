// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-tfe"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// Execution is where the operations of a workspace run: its execution mode.
type Execution string

// The execution modes.
const (
	// Unknown: nobody could say.
	Unknown Execution = ""
	// Local: on the machine of whoever runs the CLI.
	Local Execution = "local"
	// Elsewhere: on a machine of the service.
	Elsewhere Execution = "remote"
	// Agent: on a machine of the organization's.
	Agent Execution = "agent"
)

// Patience bounds the whole of asking.
const Patience = 5 * time.Second

// errNoToken: there are no credentials of the CLI for the host.
var errNoToken = errors.New("the CLI has no token for it")

// Find says where the operations of a folder's workspace run. An error says why it
// is not known. It never holds the token.
func Find(ctx context.Context, dataDir, selected string, places Places) (Execution, Workspace, error) {
	w, token, err := Locate(dataDir, selected, places.Env)
	if forced(places.Env) {
		return Local, w, nil
	}
	if err != nil {
		return Unknown, w, err
	}
	if token = first(token, places.Token(w.Host)); token == "" {
		return Unknown, w, fmt.Errorf("%s: %w", w.Host, errNoToken)
	}
	mode, err := Ask(ctx, w, token)
	return mode, w, err
}

// forced says whether the CLI is told to run operations here, whatever the
// workspace says.
func forced(env arguments.Environment) bool { return env.Get("TF_FORCE_LOCAL_BACKEND") != "" }

// Ask asks the service for the execution mode of a workspace. It takes no longer
// than Patience.
func Ask(ctx context.Context, w Workspace, token string) (Execution, error) {
	// A connection of its own: nothing is to be left open when the run goes on.
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // of the standard library
	transport.DisableKeepAlives = true
	return bounded(ctx, &http.Client{Timeout: Patience, Transport: transport}, w, token)
}

func bounded(ctx context.Context, c *http.Client, w Workspace, token string) (Execution, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	type answer struct {
		mode Execution
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // the client's first question takes no context
		mode, err := ask(ctx, c, w, token)
		answers <- answer{mode, err}
	}()
	select {
	case a := <-answers:
		return a.mode, a.err
	case <-ctx.Done():
		return Unknown, fmt.Errorf("ask %s: %w", w.Host, ctx.Err())
	}
}

func ask(ctx context.Context, c *http.Client, w Workspace, token string) (Execution, error) {
	base, err := discover(ctx, c, w.Host)
	if err != nil {
		return Unknown, fmt.Errorf("ask %s: %w", w.Host, err)
	}
	client, err := tfe.NewClient(&tfe.Config{
		Address: base.Scheme + "://" + base.Host, BasePath: base.Path, Token: token, HTTPClient: c,
	})
	if err != nil {
		return Unknown, fmt.Errorf("ask %s: %w", w.Host, err)
	}
	found, err := client.Workspaces.Read(ctx, w.Organization, w.Name)
	if err != nil {
		return Unknown, fmt.Errorf("ask %s for the workspace %s: %w", w.Host, w, err)
	}
	return modeOf(found), nil
}

// modeOf takes what services of before the execution modes say, too.
func modeOf(w *tfe.Workspace) Execution {
	switch mode := Execution(w.ExecutionMode); {
	case mode == Local, mode == Elsewhere, mode == Agent:
		return mode
	case mode == Unknown && w.Operations:
		return Elsewhere
	case mode == Unknown:
		return Local
	default:
		return Unknown
	}
}

// discover finds the API of a host by its service discovery document. There has to
// be one: to any other host no token is sent.
func discover(ctx context.Context, c *http.Client, host string) (*url.URL, error) {
	at := &url.URL{Scheme: "https", Host: host, Path: "/.well-known/terraform.json"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("no service discovery: %s", response.Status)
	}
	var services map[string]any
	if err := json.NewDecoder(io.LimitReader(response.Body, maxFile)).Decode(&services); err != nil {
		return nil, fmt.Errorf("understand the service discovery: %w", err)
	}
	path, _ := services["tfe.v2"].(string)
	if path == "" {
		return nil, errors.New("it is neither HCP Terraform nor Terraform Enterprise")
	}
	base, err := response.Request.URL.Parse(path)
	if err != nil || base.Scheme != "https" {
		return nil, fmt.Errorf("its API is at %q, which is no address of https", strings.TrimSpace(path))
	}
	return base, nil
}
