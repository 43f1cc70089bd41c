// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/client"
)

// underToken reads the object that carries the change token and calls change
// with it, again with a fresh one while the cloud says that it is stale. An
// object that is not there is given to change empty: the cloud's answer to the
// write says more than ours could.
func (s *session) underToken(ctx context.Context, holder arm.ID, change func(arm.Resource) error) error {
	for attempt := 0; ; attempt++ {
		current, err := s.cloud.Get(ctx, holder)
		if err != nil && !client.IsNotFound(err) {
			return err
		}
		err = change(current)
		var refused *arm.Error
		if !errors.As(err, &refused) || refused.HTTPStatus != http.StatusPreconditionFailed || attempt >= s.tokenRetries {
			return err
		}
	}
}
