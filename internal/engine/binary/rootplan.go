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
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// RootModule is a root module in its own directory, where init was run.
type RootModule struct {
	Dir     string // absolute
	DataDir string // TF_DATA_DIR as its environment has it; "" for the usual one
}

// installation is where init has installed providers. The hashes of packages are remembered next to
// them.
func (m RootModule) installation() *install.Dir {
	data := m.DataDir
	if data == "" {
		data = install.DataDir
	}
	if !filepath.IsAbs(data) {
		data = filepath.Join(m.Dir, data)
	}
	return &install.Dir{
		LockFile:  filepath.Join(m.Dir, locks.FileName),
		Providers: filepath.Join(data, "providers"),
		Hashes:    filepath.Join(data, "cairn-packages.json"),
	}
}

// ReadRootPlan decodes the plan file of a root module by the schemas of its providers, without
// which nobody knows all that is sensitive in it. The binary is asked for schemas that are not
// kept.
//
// Errors: a [*planfile.FormatError] if only the engine can read the file, as one that is encrypted;
// that schemas are missing or cannot be read.
func (e *Engine) ReadRootPlan(ctx context.Context, root RootModule, file []byte) (_ *planfile.Plan, err error) {
	session, err := e.open(engine.SessionOptions{StackDir: root.Dir}, root.installation())
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
