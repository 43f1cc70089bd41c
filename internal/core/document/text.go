// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package document

import "encoding/json"

// AppendText appends a string as encoding/json writes it. Addresses have quotes
// in them, so those get their escapes here; what else needs some is rare.
func AppendText(b []byte, s string) []byte {
	begin, kept := len(b), 0
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			b = append(append(b, s[kept:i]...), '\\', c)
			kept = i + 1
		case c < ' ', c > '~', c == '<', c == '>', c == '&':
			text, _ := json.Marshal(s) // a string has always a form
			return append(b[:begin], text...)
		}
	}
	return append(append(b, s[kept:]...), '"')
}
