// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile bounds the files that are read of a repository, in bytes.
const maxGitFile = 1 << 20

// checkout reads the repository and the branch of a folder from Git's own files.
// No program is started for it: a repository's configuration can name programs.
// What cannot be read is empty.
func checkout(dir string) (repository, branch string) {
	git := gitFolder(dir)
	if git == "" {
		return "", ""
	}
	head := readLine(filepath.Join(git, "HEAD"))
	if ref, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		branch = ref
	}
	common := git
	if path := readLine(filepath.Join(git, "commondir")); path != "" { // a work tree
		common = under(git, path)
	}
	return repositoryName(origin(filepath.Join(common, "config"))), branch
}

// gitFolder is the folder with Git's files of the repository that dir is in.
func gitFolder(dir string) string {
	for {
		path := filepath.Join(dir, ".git")
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return path
		case err == nil: // a work tree or a submodule names it
			target, ok := strings.CutPrefix(readLine(path), "gitdir: ")
			if !ok {
				return ""
			}
			return under(dir, target)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func under(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// readFile is the text of a small file; empty when there is none.
func readFile(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return ""
	}
	return string(text)
}

func readLine(path string) string {
	line, _, _ := strings.Cut(readFile(path), "\n")
	return strings.TrimSpace(line)
}

// origin is the URL of the remote "origin", else of the only other one.
func origin(config string) string {
	remotes := map[string]string{}
	section := ""
	for line := range strings.Lines(readFile(config)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		name, isRemote := strings.CutPrefix(section, `[remote "`)
		key, value, ok := strings.Cut(line, "=")
		if isRemote && ok && strings.EqualFold(strings.TrimSpace(key), "url") {
			remotes[strings.TrimSuffix(name, `"]`)] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	if url, ok := remotes["origin"]; ok || len(remotes) != 1 {
		return url
	}
	for _, url := range remotes {
		return url
	}
	return ""
}

// repositoryName is the repository that a remote's URL stands for, as people
// write it: acme/infra for git@git.example:acme/infra.git. What is secret in a
// URL is not a part of that. A path on this machine is shown by its last part.
func repositoryName(remote string) string {
	path := remote
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		path = u.Path
	} else if host, rest, ok := strings.Cut(remote, ":"); ok && !strings.Contains(host, "/") && len(host) > 1 {
		path = rest // as scp writes it: user@host:path
	} else if remote != "" {
		path = filepath.Base(filepath.ToSlash(remote))
	}
	return strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}
