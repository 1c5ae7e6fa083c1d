// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ReadRootPlan decodes the plan file of the root module in a directory, whose path is absolute, by
// the schemas of the providers that init has installed there: without these nobody knows all that
// is sensitive in it. The binary is asked for schemas that are not kept.
//
// Errors: a [*planfile.FormatError] if only the engine can read the file, as one that is encrypted;
// that schemas are missing or cannot be read.
func (e *Engine) ReadRootPlan(ctx context.Context, root initdir.Dir, file []byte) (_ *planfile.Plan, err error) {
	session, err := e.open(engine.SessionOptions{StackDir: root.Path}, &install.Dir{
		LockFile:  filepath.Join(root.Path, locks.FileName),
		Providers: filepath.Join(root.DataDir(), "providers"),
		Hashes:    filepath.Join(root.DataDir(), "cairn-packages.json"), // remembered next to them
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return session.readPlanBy(file,
		func(provider stackaddrs.Provider, mode stackaddrs.ResourceMode, name string) (*valueschema.Schema, error) {
			schema, err := session.schemaOf(ctx, provider, mode, name)
			if err == nil && schema == nil { // as of a provider in development
				err = fmt.Errorf("there is no schema of %s %s", provider, name)
			}
			return schema, err
		})
}
