// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// anonymous is the actor of calls that name none, where that is allowed.
const anonymous = "anonymous"

// authenticate finds the actor of a request. Without a token table the header
// is believed; with one, the token must be the one of the actor named, or of any
// actor if none is named.
func (c *Cloud) authenticate(r *http.Request) (string, *arm.Error) {
	claimed := r.Header.Get(arm.HeaderActor)
	if len(c.tokens) == 0 {
		if claimed == "" {
			return anonymous, nil
		}
		return claimed, nil
	}
	sum := bearerSum(r)
	owner := ""
	// Every entry is compared, in constant time, whichever matches.
	for actor, want := range c.tokens {
		if subtle.ConstantTimeCompare(sum[:], want[:]) == 1 && (claimed == "" || claimed == actor) {
			owner = actor
		}
	}
	if owner == "" {
		return claimed, &arm.Error{
			HTTPStatus: http.StatusUnauthorized, Code: arm.CodeUnauthenticated,
			Message: "the bearer token is missing or is not the actor's", Target: r.URL.Path,
		}
	}
	return owner, nil
}

// isAdmin reports whether the request carries the admin token.
func (c *Cloud) isAdmin(r *http.Request) bool {
	sum := bearerSum(r)
	return c.admin != nil && subtle.ConstantTimeCompare(sum[:], c.admin[:]) == 1
}

// bearerSum is the hash of the bearer token; hashing first makes the compared
// lengths equal.
func bearerSum(r *http.Request) [sha256.Size]byte {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return sha256.Sum256([]byte(token))
}
