// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package mirrordir fills directories that providers are installed from: as a mirror on the disk,
// and, if a web server serves it, as one in the network.
//
// Rules, which are those of "terraform providers mirror":
//
//	M1. A version that is locked is the one to mirror, and all that is required is locked; without
//	    any locks it is the newest that fits.
//	M2. Archives are HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip, as they were
//	    published.
//	M3. The contents of the directory stay. Next to the archives, index.json has all versions that
//	    there are, and VERSION.json their platforms. Of a provider without packages that can be
//	    mirrored, nothing is written.
package mirrordir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/parallel"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Request names the packages to mirror, and their target.
type Request struct {
	Requirements map[stackaddrs.Provider][]string // constraints of versions, each as written
	Locks        *locks.Locks                     // nil if there are none
	Platforms    []release.Platform
	Sources      func(stackaddrs.Provider) source.Source
	Dir          string             // made when needed
	Observe      selection.Observer // may be nil
}

// Mirrored is a package in the mirror.
type Mirrored struct {
	release.ID
	Platform release.Platform
	File     string // slash-separated path in the directory
}

// Write puts packages into the directory, and returns which, sorted by provider and platform. It
// goes on with other providers after an error.
//
// Errors: joined [*selection.Error]; the reason why the directory cannot be written;
// context.Cause(ctx).
func (r *Request) Write(ctx context.Context) ([]Mirrored, error) {
	providers := slices.SortedFunc(maps.Keys(r.Requirements), release.CompareProviders)
	done, problems := make([][]Mirrored, len(providers)), make([]error, len(providers))
	parallel.Each(providers, parallel.Downloads, func(i int, provider stackaddrs.Provider) {
		mirrored, err := r.one(ctx, provider)
		if err != nil {
			err = &selection.Error{Provider: provider, Err: err}
		}
		done[i], problems[i] = mirrored, err
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(done...), errors.Join(problems...)
}

// one mirrors one provider.
func (r *Request) one(ctx context.Context, provider stackaddrs.Provider) ([]Mirrored, error) {
	choice := selection.Choice{Provider: provider, Constraints: r.Requirements[provider], Source: r.Sources(provider)}
	if r.Locks != nil {
		if choice.Before = r.Locks.Provider(provider); choice.Before == nil {
			return nil, fault.Error(errors.New("it is required, and not in the lock file"), fault.LockFileUnusable)
		}
	}
	lock, err := selection.Choose(ctx, choice)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(provider.Hostname, provider.Namespace, provider.Type)
	platforms := slices.Clone(r.Platforms)
	slices.SortFunc(platforms, release.ComparePlatforms)
	var mirrored []Mirrored
	var problems error
	for _, platform := range slices.Compact(platforms) {
		file := filepath.Join(dir, archiveName(lock.ID(), platform))
		if err := r.save(ctx, choice.Source, lock.ID(), platform, filepath.Join(r.Dir, file)); err != nil {
			problems = errors.Join(problems, err)
			continue
		}
		mirrored = append(mirrored, Mirrored{lock.ID(), platform, filepath.ToSlash(file)})
	}
	if len(mirrored) > 0 {
		problems = errors.Join(problems, writeIndex(filepath.Join(r.Dir, dir), provider))
	}
	return mirrored, problems
}

// archiveName returns the name of an archive (rule M2).
func archiveName(id release.ID, platform release.Platform) string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", id.Provider.Type, id.Version, platform)
}

func (r *Request) save(ctx context.Context, from source.Source, id release.ID, platform release.Platform, target string) error {
	found, err := from.Package(ctx, id, platform)
	if err != nil {
		return err
	}
	if found.IsAt(target, source.FetchOptions{}) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // for others, too
		return err
	}
	if _, err := found.Save(ctx, target, source.FetchOptions{Progress: r.Observe.Begin(found)}); err != nil {
		return err
	}
	r.Observe.End(found)
	return nil
}
