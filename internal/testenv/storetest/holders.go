// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storetest

import (
	"context"
	"fmt"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Holder returns the only holder of a lock of a deployment, nil if there is none. Several are an
// error.
func Holder(ctx context.Context, s statestore.Store, deployment string) (*statestore.LockInfo, error) {
	holders, err := s.Holders(ctx, deployment)
	switch {
	case err != nil:
		return nil, err
	case len(holders) > 1:
		return nil, fmt.Errorf("deployment %q has %d locks", deployment, len(holders))
	case len(holders) == 0:
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	return &holders[0], nil
}

// Displaced returns the only holder whose lock was removed for another one, nil if there is none.
func Displaced(lock statestore.Lock) *statestore.LockInfo {
	from := lock.TakenFrom()
	if len(from) == 0 {
		return nil
	}
	return &from[len(from)-1]
}
