// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package install chooses the providers of a stack's modules, installs their packages, and knows
// where they are: once for all engines, so that a stack can change from one to another without
// installing anything again. No process of an engine is needed.
//
// The lock file beside the stack has the versions. Packages are in the working directory of the
// stack, as init of terraform and tofu lays them out, with a copy of the lock file that has the
// checksums for this platform, too.
package install

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Dir is the place of an installation.
type Dir struct {
	Path      string // the directory of all files of an installation in a working directory
	LockFile  string // the copy of the lock file
	Providers string // the directory of packages
	Hashes    string // the file that remembers the hashes of packages, see [Hashes]
}

// In returns the place in the working directory of a stack.
func In(workDir string) Dir {
	dir := filepath.Join(workDir, "init")
	return Dir{dir, filepath.Join(dir, locks.FileName), filepath.Join(dir, initdir.DataDir, "providers"), filepath.Join(dir, "packages.json")}
}

// Lock returns a lock of the stack with the checksums for this platform, which the stack's lock
// file lacks if it was not to be changed: these are in the copy.
func (d Dir) Lock(lock *locks.Lock) *locks.Lock {
	copied, diags := locks.Read(d.LockFile)
	if diags.HasErrors() {
		return lock
	}
	found := copied.Provider(lock.Provider)
	if found == nil || !found.Version.Same(lock.Version) ||
		slices.ContainsFunc(lock.Hashes, func(h release.Hash) bool { return !slices.Contains(found.Hashes, h) }) {
		return lock
	}
	return found
}

// Exclusive keeps other programs from installing at the same time.
//
// Errors: the cause of the end of ctx among others.
func (d Dir) Exclusive(ctx context.Context) (unlock func(), err error) {
	return filelock.Lock(ctx, d.Path+".lock")
}

// WriteLock writes the lock file of a stack, which others may read: it belongs into version
// control.
// Where it cannot be written, the error names the changes of versions that it lacks.
func WriteLock(name string, data []byte, changes []engine.LockChange) hcl.Diagnostics {
	err := safefile.Replace(name, data, 0o644)
	if err == nil {
		return nil
	}
	lacks := "lacks checksums of packages"
	if len(changes) > 0 {
		lacks = "does not fit the requirements of the stack: " + describeChanges(changes)
	}
	return hcl.Diagnostics{failure.With(fault.LockFileUnusable, failure.New("Provider lock file not written",
		"%s cannot be written (%s), and %s. Have it written where that is possible, and commit the file.",
		locks.FileName, failure.Reason(err), lacks))}
}

// Changes compares the versions of two lock files, by provider. The result is sorted by provider.
func Changes(before, after map[stackaddrs.Provider]string) []engine.LockChange {
	var changes []engine.LockChange
	for provider, version := range before {
		if after[provider] != version {
			changes = append(changes, engine.LockChange{Provider: provider, Before: version, After: after[provider]})
		}
	}
	for provider, version := range after {
		if _, there := before[provider]; !there {
			changes = append(changes, engine.LockChange{Provider: provider, After: version})
		}
	}
	slices.SortFunc(changes, func(a, b engine.LockChange) int { return a.Provider.Compare(b.Provider) })
	return changes
}

// OutOfDate reports the changes that a lock file would need and must not have.
func OutOfDate(changes []engine.LockChange) *hcl.Diagnostic {
	return failure.With(fault.LockFileUnusable, failure.New("Outdated provider lock file",
		"%s is not to be changed, and does not fit the requirements of the stack: %s. Have it changed where that is allowed, and commit the "+
			"file.", locks.FileName, describeChanges(changes)))
}

func describeChanges(changes []engine.LockChange) string {
	var details []string
	for _, c := range changes {
		switch {
		case c.Before == "":
			details = append(details, fmt.Sprintf("provider %s is required and not in it (version %s would be chosen)", c.Provider, c.After))
		case c.After == "":
			details = append(details, fmt.Sprintf("provider %s %s is in it and not required", c.Provider, c.Before))
		default:
			details = append(details, fmt.Sprintf("provider %s is in it with version %s, and %s would be chosen", c.Provider, c.Before, c.After))
		}
	}
	return strings.Join(details, "; ")
}
