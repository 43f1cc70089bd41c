// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/settings"
)

// maxToken bounds a token, in bytes.
const maxToken = 4096

// tokenError is a token that is not to be had. It never holds the token.
type tokenError struct {
	// Where is the variable or the file that should have it, From the line of the
	// settings that names it; empty where none does.
	Where, From string
	// Coordinator is who asks for it, as it can be told to people.
	Coordinator string
	Err         error
}

func (e *tokenError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Where, e.Err)
	if e.From != "" {
		text += fmt.Sprintf(" (%s names it)", e.From)
	}
	return text
}
func (e *tokenError) Unwrap() error { return e.Err }

var (
	errNoToken   = errors.New("there is no token in it")
	errLongToken = fmt.Errorf("it has more than the %d bytes of a token", maxToken)
	errBadToken  = errors.New("a token is one line without blanks")
)

// asked is the token for a coordinator on the network.
func (a *App) asked(w arguments.Weaver) (string, error) {
	token, err := a.token(w)
	var lacking *tokenError
	if errors.As(err, &lacking) {
		lacking.Coordinator = "the coordinator at " + w.Coordinator + sourceOf(w, "coordinator")
		switch {
		case w.TokenFile != "" && lacking.Where == a.path(w.TokenFile):
			lacking.From = lineOf(w, "token-file", "token_file")
		case lacking.Where == w.TokenEnv:
			lacking.From = lineOf(w, "token-env", "token_env")
		}
	}
	return token, err
}

// sourceOf says, in brackets, what sets an option; empty where nothing does.
func sourceOf(w arguments.Weaver, option string) string {
	if w.From[option] == "" {
		return ""
	}
	return " (named by " + w.From[option] + ")"
}

// lineOf is the attribute of the settings that sets an option, or the option or
// the variable that does; empty where nothing does.
func lineOf(w arguments.Weaver, option, attribute string) string {
	from := w.From[option]
	if filepath.Base(from) == settings.FileName {
		return attribute + " in " + from
	}
	return from
}

// token is the secret that opens a shared coordinator: that of the file that
// was named for this run, else of the environment, else of what the settings
// name.
func (a *App) token(w arguments.Weaver) (string, error) {
	file, from := w.TokenFile, w.From["token-file"]
	named := from == "TFWEAVER_TOKEN_FILE" || strings.HasPrefix(from, "-")
	if text := a.Env.Get(arguments.TokenVariable); text != "" && !named {
		return checkToken(arguments.TokenVariable, text)
	}
	if file != "" {
		return readToken(a.path(file))
	}
	return checkToken(w.TokenEnv, a.Env.Get(w.TokenEnv))
}

// path is a file that was named, as seen from the current folder.
func (a *App) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Dir, name)
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", &tokenError{Where: path, Err: reasonOf(err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken+3)) // and the end of a line
	if err != nil {
		return "", &tokenError{Where: path, Err: reasonOf(err)}
	}
	return checkToken(path, string(text))
}

func checkToken(where, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", &tokenError{Where: where, Err: errNoToken}
	case len(text) > maxToken:
		return "", &tokenError{Where: where, Err: errLongToken}
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", &tokenError{Where: where, Err: errBadToken}
	}
	return text, nil
}
