// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"strings"
	"time"
)

// FileName is the name of the settings file.
const FileName = ".tfweaver.hcl"

// Settings is the content of a settings file. The zero value is that of no file
// at all; a field that the file does not set is zero.
type Settings struct {
	// Path is the file, absolute; empty when there is none.
	Path string `json:"path,omitempty"`
	// Coordinator is nil when the file names none.
	Coordinator *Coordinator `json:"coordinator,omitempty"`
	// Mode is how far coordination goes: off, observe, wait or enforce.
	Mode string `json:"mode,omitempty"`
	// Realms are exceptions from Mode, in the order of the file.
	Realms []Realm `json:"realms,omitempty"`
	// Wait bounds the time behind other sessions per change; nil when the file
	// does not say.
	Wait *time.Duration `json:"wait,omitempty"`
	// Policy is queue or reject.
	Policy string `json:"policy,omitempty"`
}

// Coordinator is where the shared coordinator is, and how to get in.
type Coordinator struct {
	// Address is unix:///PATH or tcp://HOST:PORT.
	Address string `json:"address"`
	// CAFile is the certificate that vouches for the coordinator's, absolute;
	// empty for those that the system trusts.
	CAFile string `json:"ca_file,omitempty"`
	// TokenEnv is the environment variable that holds the token, TokenFile the
	// file, absolute. At most one of them is set.
	TokenEnv  string `json:"token_env,omitempty"`
	TokenFile string `json:"token_file,omitempty"`
}

// Realm is how far coordination goes in some of the realms, such as one
// subscription or account.
type Realm struct {
	// Pattern fits the id of a realm; * stands for any text, ? for any one
	// character. Upper and lower case are the same, as in the ids.
	Pattern string `json:"pattern"`
	Mode    string `json:"mode"`
}

// ModeOf is the mode of a realm: that of the first pattern that fits, else Mode.
// It is empty when the file does not say.
func (s Settings) ModeOf(realm string) string {
	for _, r := range s.Realms {
		if r.Fits(realm) {
			return r.Mode
		}
	}
	return s.Mode
}

// Fits says whether the pattern fits a realm.
func (r Realm) Fits(realm string) bool {
	return fits(strings.ToLower(r.Pattern), strings.ToLower(realm))
}

// fits says whether a pattern stands for a whole text.
func fits(pattern, text string) bool {
	star, mark := -1, 0 // the last * and where the text behind it may begin
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
