// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// DefaultWorkspace is the workspace that always exists.
const DefaultWorkspace = "default"

// Workdir is a root module's folder as the CLI sees it.
type Workdir struct {
	// Root is the folder of the root module, absolute.
	Root string
	// DataDir is TF_DATA_DIR, absolute.
	DataDir   string
	Workspace string
	// Backend is the type of the backend: local, s3, cloud and so on.
	Backend string
	// Origin identifies the state that is worked on: equal for two runs on
	// one state, different for any other. It holds no secret.
	Origin string
}

// Remote says whether the CLI may run the operation on another machine,
// where calls cannot be intercepted.
func (w Workdir) Remote() bool { return w.Backend == "cloud" || w.Backend == "remote" }

// LockFile is the path of the dependency lock file.
func (w Workdir) LockFile() string { return filepath.Join(w.Root, ".terraform.lock.hcl") }

// maxBackendFile bounds the files that are read here, in bytes.
const maxBackendFile = 4 << 20

// Examine looks at the folder that the CLI will work in: base, then -chdir.
// statePath is the value of -state, host the name of this machine, which is a
// part of the origin of a state that lies on its disk.
func Examine(base, chdir string, env arguments.Environment, statePath, host string) (Workdir, error) {
	root := base
	if chdir != "" {
		root = under(base, chdir)
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return Workdir{}, fmt.Errorf("find the working folder: %w", err)
	}
	w := Workdir{Root: root, DataDir: under(root, ".terraform")}
	if dir := env.Get("TF_DATA_DIR"); dir != "" {
		w.DataDir = under(root, dir)
	}
	if w.Workspace, err = workspace(w.DataDir, env); err != nil {
		return Workdir{}, err
	}
	b, err := readBackend(w.DataDir)
	if err != nil {
		return Workdir{}, err
	}
	w.Backend = b.Type
	w.Origin = b.located(env).origin(w, statePath, host)
	return w, nil
}

func under(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func workspace(dataDir string, env arguments.Environment) (string, error) {
	if name := env.Get("TF_WORKSPACE"); name != "" {
		return name, nil
	}
	text, err := readFile(filepath.Join(dataDir, "environment"))
	if err != nil {
		return "", fmt.Errorf("read the selected workspace: %w", err)
	}
	if name := strings.TrimSpace(string(text)); name != "" {
		return name, nil
	}
	return DefaultWorkspace, nil
}

// readFile returns nothing for a file that is not there.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBackendFile))
}

// backend is what "terraform init" noted about the backend.
type backend struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

func readBackend(dataDir string) (backend, error) {
	text, err := readFile(filepath.Join(dataDir, "terraform.tfstate"))
	if err != nil {
		return backend{}, fmt.Errorf("read the backend settings: %w", err)
	}
	var file struct {
		Backend *backend `json:"backend"`
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &file); err != nil {
			return backend{}, fmt.Errorf("understand the backend settings: %w", err)
		}
	}
	if file.Backend == nil || file.Backend.Type == "" {
		return backend{Type: "local"}, nil
	}
	return *file.Backend, nil
}

// BackendSettings are the settings of the backend as "terraform init" noted
// them, credentials that were given there included: none of them may be shown.
// Without a backend in the configuration there are none.
func (w Workdir) BackendSettings() (map[string]any, error) {
	b, err := readBackend(w.DataDir)
	return b.Config, err
}

// LocalState is the absolute path of the state file of the local backend;
// statePath is the value of -state.
func (w Workdir) LocalState(statePath string) (string, error) {
	b, err := readBackend(w.DataDir)
	return b.localState(w, statePath), err
}

// origin names the state: the file for a local one, else the digest of the
// settings that say where it is, and the workspace.
func (b backend) origin(w Workdir, statePath, host string) string {
	if b.Type == "local" {
		return "local:" + host + ":" + resolved(b.localState(w, statePath))
	}
	// The encoder sorts the keys, so that equal settings give equal digests.
	text, err := json.Marshal(withoutSecrets(b.Config))
	if err != nil {
		text = []byte(b.Type)
	}
	sum := sha256.Sum256(text)
	return b.Type + ":" + hex.EncodeToString(sum[:8]) + ":" + w.Workspace
}

func (b backend) localState(w Workdir, statePath string) string {
	if statePath != "" {
		return under(w.Root, statePath)
	}
	if w.Workspace != DefaultWorkspace {
		dir, _ := b.Config["workspace_dir"].(string)
		if dir == "" {
			dir = "terraform.tfstate.d"
		}
		return filepath.Join(under(w.Root, dir), w.Workspace, "terraform.tfstate")
	}
	path, _ := b.Config["path"].(string)
	if path == "" {
		path = "terraform.tfstate"
	}
	return under(w.Root, path)
}
