// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-slug/sourceaddrs"

	"github.com/cairnstacks/cairn/internal/unpack"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// DownloadOptions are the parameters of [Download].
type DownloadOptions struct {
	Address string // of a repository or an archive, .tar.gz or .zip, with a path in it or without
	Dir     string // gets the files; it is made if it is missing, and else has to be empty
	Client  *http.Client
	Environ []string // of git
	Limits  unpack.Limits
}

// Download gets a package that is not kept with those of a stack. With a path in it, only the files
// below that are put into the directory. With an error, the directory is as it was, or empty.
func Download(ctx context.Context, opts DownloadOptions) error {
	below, fetch, err := opts.parse()
	if err != nil {
		return err
	}
	return intoEmpty(opts.Dir, func(dir string) error {
		if err := fetch(ctx, dir); err != nil {
			return err
		}
		root, err := findRoot(dir, below)
		if err != nil {
			return err
		}
		return moveUp(dir, root, opts.Dir)
	})
}

// parse returns the path in the package, and how to get the package into an empty directory.
func (o DownloadOptions) parse() (below string, fetch func(ctx context.Context, dir string) error, err error) {
	zipped, err := parseZip(o.Address)
	if err != nil {
		return "", nil, fmt.Errorf("the address of the package cannot be used: %w", err)
	}
	if zipped != nil {
		return zipped.below, func(ctx context.Context, dir string) error {
			return fetchZip(ctx, o.Client, zipped.location, dir, o.Limits)
		}, nil
	}
	source, err := stackconfig.ParseSource(o.Address)
	if err != nil {
		return "", nil, fmt.Errorf("the address of the package cannot be used: %w", err)
	}
	remote, ok := source.(sourceaddrs.RemoteSource)
	if !ok {
		return "", nil, errors.New("the address of the package is neither that of a repository nor of an archive")
	}
	return remote.SubPath(), func(ctx context.Context, dir string) error { return o.download(ctx, remote, dir) }, nil
}

func (o DownloadOptions) download(ctx context.Context, source sourceaddrs.RemoteSource, dir string) error {
	location := source.Package().URL()
	if source.Package().SourceType() != "git" {
		return fetchArchive(ctx, o.Client, location, dir, o.Limits)
	}
	_, err := (&gitFetcher{o.Environ}).fetch(ctx, location, dir, "")
	return err
}

// intoEmpty lets a function fill a temporary directory next to one that has to be empty.
func intoEmpty(target string, fill func(dir string) error) (err error) {
	if err := os.MkdirAll(target, 0o755); err != nil { //nolint:gosec // modules are not secret
		return err
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the directory %s is not empty", target)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(filepath.Clean(target)), ".new-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	return fill(temporary)
}

// moveUp makes the files below a path of a directory the content of another one.
func moveUp(dir, below, target string) error {
	from := filepath.Join(dir, filepath.FromSlash(below))
	info, err := os.Stat(from)
	if err != nil || !info.IsDir() {
		return fmt.Errorf("the package has no directory %q", below)
	}
	if below != "" {
		if err := unpack.CheckLinks(from); err != nil { // which were inside of the package, and would not be any more
			return err
		}
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.Rename(filepath.Join(from, entry.Name()), filepath.Join(target, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
