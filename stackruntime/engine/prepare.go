// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Preparer is the ability to install the providers that modules need. A session without it needs
// nothing.
type Preparer interface {
	// Unsupported returns the errors about modules that are for other versions of the engine, of those
	// in the given directories and those that they call. Other mistakes in a stack may be none with
	// another engine.
	Unsupported(ctx context.Context, moduleDirs []string) hcl.Diagnostics

	// Prepare installs the providers that the whole stack needs, and writes the stack's provider lock
	// file. It is cheap if nothing has changed since it was last called. With errors the result may be
	// nil.
	Prepare(ctx context.Context, req *PrepareRequest) (*PrepareResult, hcl.Diagnostics)

	// Locks returns the versions in the stack's provider lock file. A provider that is used without an
	// entry in it, such as one in development, has none.
	Locks(ctx context.Context) (map[stackaddrs.Provider]string, error)
}

// PrepareRequest has the modules and requirements for which providers have to be installed.
type PrepareRequest struct {
	// Modules are the directories of the components' modules.
	Modules []string

	// Requirements are the version constraints of the stack's own configuration.
	Requirements map[stackaddrs.Provider][]string

	// Ranges are where the stack's own configuration requires providers, for diagnostics.
	Ranges map[stackaddrs.Provider]hcl.Range

	// Upgrade ignores which versions are locked.
	Upgrade bool

	// Verify reads the installed packages, which takes time, and installs damaged ones again.
	Verify bool

	// ReadOnlyLock makes it an error if the stack's provider lock file would have other versions than
	// it has.
	ReadOnlyLock bool

	// InstallNothing says that Packages are all providers that there are. They are used as they are,
	// and the lock file of the stack does not count.
	InstallNothing bool
	Packages       []ProviderPackage
}

// ProviderPackage is a provider for this platform that is on the disk already.
type ProviderPackage struct {
	Provider stackaddrs.Provider
	Version  string
	Hashes   []string // as in lock files, one of which at least its content has; none if nobody has said
	Dir      string
}

// PrepareResult is the result of [Preparer.Prepare].
type PrepareResult struct {
	// Locked are the changes to the versions in the lock file, sorted by provider.
	Locked []LockChange
}

// LockChange is a change of one provider's version in the lock file.
type LockChange struct {
	Provider      stackaddrs.Provider
	Before, After string // versions; empty where there is no entry
}
