// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"errors"
	"strings"
)

var errQuote = errors.New("a quote or a backslash is left open")

// splitWords splits TF_CLI_ARGS into words as a POSIX shell would, without
// expanding anything: blanks separate, single quotes take everything as it
// is, double quotes and the backslash keep blanks.
func splitWords(s string) ([]string, error) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
		quote  rune
		escape bool
	)
	for _, r := range s {
		switch {
		case escape:
			word.WriteRune(r)
			escape = false
		case r == '\\' && quote != '\'':
			escape, inWord = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escape {
		return nil, errQuote
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
