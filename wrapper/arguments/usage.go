// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"regexp"
	"slices"
	"time"
)

// misused says whether the CLI will not even begin with an apply, because of how
// its options are written or go together. Its error names the command that was
// typed, so the command line must reach it as it is.
func (o *Options) misused(command string) bool {
	switch {
	case o.RefreshOnly && (o.Destroy || !o.Refresh):
		return true
	case command == "destroy" && slices.ContainsFunc(o.Flags, func(f Flag) bool { return f.Name == "destroy" || f.Name == "refresh-only" }):
		return true
	case o.LockTimeout != "" && !isDuration(o.LockTimeout):
		return true
	}
	return slices.ContainsFunc(o.Flags, func(f Flag) bool {
		return f.Name == "lock-timeout" && f.Value == "" || f.Name == "target" && !addresses(target, f.Value) || f.Name == "replace" && !addresses(managed, f.Value)
	})
}

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}

// addresses says whether an address has one of the forms. A word that begins
// another form is no type.
func addresses(form *regexp.Regexp, address string) bool {
	found := form.FindStringSubmatch(address)
	if found == nil {
		return false
	}
	kind := found[form.SubexpIndex("type")]
	return kind != "module" && kind != "data" && kind != "ephemeral"
}

// The parts of an address, as the CLI's parser takes them. It also takes blanks
// and comments between them; nobody writes such an address, and who does has a
// run that is not planned ahead.
const (
	name    = `[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}-]*`
	key     = `(\[(\d+|"([^"\\]|\\.)*")\])?`
	module  = `module\.` + name + key
	object  = `(?P<type>` + name + `)\.` + name + key
	modules = `(` + module + `\.)*`
)

var (
	target  = regexp.MustCompile(`^(` + modules + module + `|` + modules + `((data|ephemeral)\.)?` + object + `)$`)
	managed = regexp.MustCompile(`^` + modules + object + `$`)
)
