// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// download fetches the archive into a directory and has it used, which may move it. Nothing is left
// there.
//
// An archive of several answers that is not the right one is fetched once more, as a whole: the
// server may have changed it meanwhile.
func (p *Package) download(ctx context.Context, dir string, opts FetchOptions, use func(archive string) error) error {
	joined, err := p.downloadOnce(ctx, dir, opts, use)
	if joined && errors.As(err, new(*MismatchError)) {
		_, err = p.downloadOnce(ctx, dir, opts, use)
	}
	return err
}

func (p *Package) downloadOnce(
	ctx context.Context, dir string, opts FetchOptions, use func(archive string) error,
) (joined bool, err error) {
	file, err := os.CreateTemp(dir, ".download-*")
	if err != nil {
		return false, err
	}
	defer func() {
		if removed := os.Remove(file.Name()); !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	joined, err = p.client.Download(ctx, file, registry.Download{
		Location: p.archive, What: fmt.Sprintf("archive of provider %s", p.ID), Limit: maxArchive, Stall: opts.Stall, Progress: opts.Progress,
	})
	if err = errors.Join(err, file.Close()); err != nil {
		return joined, err
	}
	return joined, use(file.Name())
}

// ErrNotPacked is the error for a package that has no archive.
var ErrNotPacked = errors.New("the package is a directory, and has no archive")

// Save makes a path the archive of the package, in place of a file that is there. It returns the
// hash of its files. With an error, the path is as it was.
//
// Errors: [ErrNotPacked] among others.
func (p *Package) Save(ctx context.Context, target string, opts FetchOptions) (hash release.Hash, err error) {
	keep := func(archive string) (err error) {
		if hash, err = p.hashOf(archive, opts); err != nil {
			return err
		}
		return errors.Join(os.Chmod(archive, 0o644), os.Rename(archive, target)) //nolint:gosec // for other programs, and for web servers
	}
	if p.archive != nil {
		return hash, p.download(ctx, filepath.Dir(target), opts, keep)
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return "", fmt.Errorf("package of %s: %w", p.ID, ErrNotPacked)
	}
	copied, err := copyBeside(p.path, target)
	if err != nil {
		return "", err
	}
	if err := keep(copied); err != nil {
		return "", errors.Join(err, os.Remove(copied))
	}
	return hash, nil
}

// IsAt reports whether a file is the archive of the package already, as the source describes that.
func (p *Package) IsAt(file string, opts FetchOptions) bool {
	_, err := p.hashOf(file, opts)
	return err == nil && len(p.hashes) > 0
}

// hashOf checks an archive that is not unpacked, and returns the hash of its files.
func (p *Package) hashOf(archive string, opts FetchOptions) (release.Hash, error) {
	hash, err := p.check(archive, opts)
	if err != nil {
		return "", err
	}
	if err := unpack.CheckZip(archive, opts.Limits); err != nil {
		return "", fmt.Errorf("the package of %s cannot be unpacked: %w", p.ID, err)
	}
	content, err := release.HashContent(archive)
	if err != nil {
		return "", err
	}
	if found := []release.Hash{hash, content}; !p.fits(found, opts, "") {
		return "", p.mismatch(found)
	}
	return content, nil
}

// copyBeside copies a file into a new one in the directory of another.
func copyBeside(name, target string) (_ string, err error) {
	from, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer from.Close() //nolint:errcheck // it was only read
	to, err := os.CreateTemp(filepath.Dir(target), ".download-*")
	if err != nil {
		return "", err
	}
	_, err = to.ReadFrom(from)
	if err = errors.Join(err, to.Close()); err != nil {
		return "", errors.Join(err, os.Remove(to.Name()))
	}
	return to.Name(), nil
}
