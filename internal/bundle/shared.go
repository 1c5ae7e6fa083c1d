// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// Shared has packages that fetchers for several stacks fetch once in one process. The zero value
// has none yet. It is safe for concurrent use.
type Shared struct {
	packages once.Map[sharedKey, *sharedPackage]
}

// sharedKey identifies the content of a download.
type sharedKey struct {
	lockedPackage // without commit and hash if they are not locked

	client *http.Client // nil for the usual one
	limits unpack.Limits
	config [sha256.Size]byte // of the environment and the CLI configuration
}

// sharedPackage is a package that was fetched for one stack.
type sharedPackage struct {
	preparedPackage
	path string
}

// obtain gets a package and puts it into the directory. Of several stacks that would fetch the
// same, one does, and the others copy its package.
func (f *Fetcher) obtain(ctx context.Context, locked lockedPackage) (*preparedPackage, error) {
	if f.opts.Shared == nil {
		return f.fetchNew(ctx, locked)
	}
	config, err := f.configDigest()
	if err != nil {
		return f.fetchNew(ctx, locked) // which reports the error where it matters
	}
	var ours *preparedPackage
	key := sharedKey{lockedPackage: locked, client: f.opts.Client, limits: f.opts.Limits, config: config}
	made, err := f.opts.Shared.packages.Get(ctx, key, func() (*sharedPackage, error) {
		var err error
		if ours, err = f.fetchNew(ctx, locked); err != nil {
			return nil, err
		}
		return &sharedPackage{*ours, filepath.Join(f.paths.dir, ours.Dir)}, nil
	})
	if err != nil || ours != nil {
		return ours, err
	}
	if copied, err := f.copyShared(made); err == nil {
		return copied, nil
	}
	return f.fetchNew(ctx, locked) // somebody has removed or changed the other one
}

// copyShared puts a package into the directory that was fetched for another stack. A copy stays as
// it is (rule B3), whatever becomes of the files there.
func (f *Fetcher) copyShared(made *sharedPackage) (*preparedPackage, error) {
	pkg := made.preparedPackage
	err := f.inTemporary(func(dir string) error {
		if err := os.CopyFS(dir, os.DirFS(made.path)); err != nil {
			return err
		}
		hash, err := hashDirectory(dir)
		if err == nil && hash != pkg.Hash {
			err = errors.New("the package has other files than when it was fetched")
		}
		if err != nil {
			return err
		}
		return f.place(dir, pkg.Dir)
	})
	return &pkg, err
}

// configDigest identifies the environment and the CLI configuration, as far as the content of a
// download can depend on them: git, and the programs that it calls, may read any variable.
func (f *Fetcher) configDigest() (digest [sha256.Size]byte, err error) {
	config, err := cliconfig.Read(f.opts.Environ)
	if err != nil {
		return digest, err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00", config.Digest())
	for _, entry := range f.opts.Environ {
		if !strings.HasPrefix(entry, "CAIRN_") && !strings.HasPrefix(entry, "TF_VAR_") { // these are different for each stack of a run
			fmt.Fprintf(sum, "%s\x00", entry)
		}
	}
	return [sha256.Size]byte(sum.Sum(nil)), nil
}
