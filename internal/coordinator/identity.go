// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// alphabet has no letters that people mistake for digits (Crockford's base32).
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// slugLength bounds how much of an actor's name is in a session id.
const slugLength = 16

// sessionID is a name that people can read and type, such as alice-7f3k. It is
// unique in a journal because the index of a record is.
func sessionID(actor string, index uint64) admission.SessionID {
	return admission.SessionID(slug(actor) + "-" + scramble(index))
}

func intentID(session admission.SessionID, index uint64) admission.IntentID {
	return admission.IntentID(fmt.Sprintf("%s.%d", session, index))
}

// txID is short because people type it.
func txID(index uint64) admission.TxID { return admission.TxID(fmt.Sprintf("t%d", index)) }

// slug keeps what is safe in file names, shells and URLs.
func slug(actor string) string {
	if name, _, found := strings.Cut(actor, "@"); found && name != "" {
		actor = name
	}
	var b strings.Builder
	for _, r := range strings.ToLower(actor) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == slugLength {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "session"
}

// scramble writes an index with four characters or more, so that neighbours
// look different. It is one-to-one: multiplying by an odd number permutes the
// numbers of a given width, and each width has its own length.
func scramble(index uint64) string {
	width := 4
	for width < 12 && index>>(5*width) != 0 {
		width++
	}
	v := index * 0x9e3779b97f4a7c15
	out := make([]byte, width)
	for i := range out {
		out[i] = alphabet[v&31]
		v >>= 5
	}
	return string(out)
}

// credential proves a session: its id and a code that only this journal's
// coordinator can make. So it survives a restart without being stored.
func (c *Coordinator) credential(id admission.SessionID) string {
	return string(id) + "." + base64.RawURLEncoding.EncodeToString(c.code(id))
}

func (c *Coordinator) code(id admission.SessionID) []byte {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte("tfweaver session\x00"))
	mac.Write([]byte(id))
	return mac.Sum(nil)
}

// keyed is what is kept of a digest: it tells whether two digests are the same,
// and, without the journal's secret, nothing of what they are of. A plain digest
// of an object with few possible attributes could be guessed.
func (c *Coordinator) keyed(digest string) string {
	if digest == "" {
		return ""
	}
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte("tfweaver digest\x00"))
	mac.Write([]byte(digest))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// Authenticate returns the session that a credential proves. Whether it still
// lives is for the command to find out.
func (c *Coordinator) Authenticate(credential string) (admission.SessionID, error) {
	i := strings.LastIndexByte(credential, '.')
	if i <= 0 {
		return "", ErrCredential
	}
	id := admission.SessionID(credential[:i])
	code, err := base64.RawURLEncoding.DecodeString(credential[i+1:])
	if err != nil || !hmac.Equal(code, c.code(id)) {
		return "", ErrCredential
	}
	return id, nil
}
