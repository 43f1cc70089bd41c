// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// DefaultHost is the host of HCP Terraform.
const DefaultHost = "app.terraform.io"

// Workspace is one of HCP Terraform or Terraform Enterprise.
type Workspace struct {
	// Host is the host's name, with a port where it is not the usual one.
	Host         string
	Organization string
	Name         string
}

// String is the workspace as people know it.
func (w Workspace) String() string { return w.Organization + "/" + w.Name }

// errIncomplete: it is not known which workspace it is.
var errIncomplete = errors.New("the settings of the backend do not name a workspace")

// maxFile bounds the files that are read here, in bytes.
const maxFile = 4 << 20

// config is what "terraform init" noted of a cloud block, or of the backend
// "remote".
type config struct {
	Hostname     string          `json:"hostname"`
	Organization string          `json:"organization"`
	Token        string          `json:"token"`
	Workspaces   json.RawMessage `json:"workspaces"`
}

// names are the workspaces that a backend is for: one, or all that begin with a
// prefix or have a tag.
type names struct {
	Name   string `json:"name"`
	Prefix string `json:"prefix"`
}

// Locate says which workspace a folder works on. selected is the workspace that is
// selected in it. The token is that of the settings, usually empty.
func Locate(dataDir, selected string, env arguments.Environment) (w Workspace, token string, err error) {
	text, err := readFile(filepath.Join(dataDir, "terraform.tfstate"))
	if err != nil {
		return w, "", fmt.Errorf("read the backend settings: %w", err)
	}
	var file struct {
		Backend struct {
			Config config `json:"config"`
		} `json:"backend"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return w, "", fmt.Errorf("understand the backend settings: %w", err)
	}
	c := file.Backend.Config
	n, err := c.workspaces()
	if err != nil {
		return w, "", err
	}
	w = Workspace{
		Host:         first(c.Hostname, env.Get("TF_CLOUD_HOSTNAME"), DefaultHost),
		Organization: first(c.Organization, env.Get("TF_CLOUD_ORGANIZATION")),
		Name:         first(n.Name, n.Prefix+selected),
	}
	if w.Organization == "" || w.Name == "" {
		return w, "", errIncomplete
	}
	return w, c.Token, nil
}

// workspaces are one object in a cloud block, and a list of one in the backend
// "remote".
func (c config) workspaces() (n names, err error) {
	if len(c.Workspaces) == 0 || string(c.Workspaces) == "null" {
		return n, nil
	}
	if err = json.Unmarshal(c.Workspaces, &n); err == nil {
		return n, nil
	}
	var list []names
	if err := json.Unmarshal(c.Workspaces, &list); err != nil {
		return n, fmt.Errorf("understand the backend settings: %w", err)
	}
	if len(list) > 0 {
		n = list[0]
	}
	return n, nil
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}
