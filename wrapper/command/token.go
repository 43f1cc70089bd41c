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
)

// maxToken bounds a token, in bytes.
const maxToken = 4096

// tokenError is a token that is not to be had. It never holds the token.
type tokenError struct {
	// Where is the variable or the file that should have it.
	Where string
	Err   error
}

func (e *tokenError) Error() string { return fmt.Sprintf("%s: %v", e.Where, e.Err) }
func (e *tokenError) Unwrap() error { return e.Err }

var (
	errNoToken   = errors.New("there is no token in it")
	errLongToken = fmt.Errorf("it has more than the %d bytes of a token", maxToken)
	errBadToken  = errors.New("a token is one line without blanks")
)

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
