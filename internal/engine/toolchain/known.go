// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"context"

	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Known are binaries that were identified in this process, so that each is asked once for all
// callers that need it at the same time. The zero value knows none. It is safe for concurrent use.
type Known struct {
	answers once.Map[binaryFile, engine.Info]
}

// binaryFile is a binary as long as it is not replaced.
type binaryFile struct {
	path          string
	size, modTime int64
}

// ask asks a binary that is not known. A caller that asks at the same time as another gets the same
// answer. An error is not remembered. Nil remembers nothing.
func (k *Known) ask(ctx context.Context, file binaryFile, ask func() (engine.Info, error)) (engine.Info, error) {
	if k == nil {
		return ask()
	}
	return k.answers.Get(ctx, file, ask)
}
