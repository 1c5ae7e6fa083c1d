// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/installation"
)

// packageHashes returns the hash of each package by its path, and none of what cannot be read.
func (e *Session) packageHashes(ctx context.Context, installed []installedProvider) map[string]string {
	packages := make([]installation.Package, len(installed))
	for i, one := range installed {
		packages[i] = installation.Package{Path: one.path, Dir: one.target}
	}
	return e.shared.packages.Remembered(ctx, e.installation.packages, packages)
}
