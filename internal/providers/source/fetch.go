// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// maxArchive is the size of the archive of a package. The largest that there are have a quarter of
// it.
const maxArchive = 1 << 30

// Package is a package of a provider where a source has it.
type Package struct {
	release.ID
	Platform release.Platform
	Signed   *Signed // nil if it has no signature

	client  *registry.Client
	archive *url.URL       // of an archive in the network
	path    string         // or of an archive or a directory on the disk
	hashes  []release.Hash // of which it has one, if there are any
}

// Location returns the address of the package, for people. Parts that may be secrets are left out.
func (p *Package) Location() string {
	if p.archive == nil {
		return p.path
	}
	return (&url.URL{Scheme: p.archive.Scheme, Host: p.archive.Host, Path: p.archive.Path}).String()
}

// Sum returns the checksum of the archive that the source gives for it; "" if it gives none, or
// several. A package that is a directory is not packed.
func (p *Package) Sum() (hash release.Hash, packed bool) {
	if len(p.hashes) == 1 && p.hashes[0].Scheme() == release.ArchiveScheme {
		hash = p.hashes[0]
	}
	return hash, p.archive != nil
}

// FetchOptions are the parameters of [Package.Fetch].
type FetchOptions struct {
	// Allowed are the hashes of which the package must have one, if there are any (rule S2).
	Allowed []release.Hash

	// Limits are of the unpacked package; zero values stand for defaults.
	Limits unpack.Limits

	// Stall is how long a download may stand still; 0 stands for a minute.
	Stall time.Duration

	// Hash returns the hash of an unpacked package in a directory, which it may remember from before.
	// Nil stands for [release.HashContent].
	Hash func(dir string) (release.Hash, error)

	// Progress is called now and then with how many bytes of an archive have arrived, of how many;
	// these are -1 if nobody knows. May be nil.
	Progress func(done, total int64)
}

// MismatchError is the error for a package whose checksum is not one of those that it must have.
type MismatchError struct {
	ID     release.ID
	Locked bool           // the package has none of the hashes that are locked, else none of those of its source
	Found  []release.Hash // that it has
}

// Error implements error.
func (e *MismatchError) Error() string {
	whose := "that its source gives for it"
	if e.Locked {
		whose = "recorded before, in the dependency locks or in the request; they may be of packages for other platforms"
	}
	return fmt.Sprintf("the package of %s has %s, which is none of the checksums %s", e.ID, e.Found, whose)
}

// Fetch makes a path that does not exist yet a directory with the files of the package, or a link
// to one of a mirror. It returns the hash of the files. With an error, nothing is there.
func (p *Package) Fetch(ctx context.Context, target string, opts FetchOptions) (release.Hash, error) {
	hash, err := p.fetch(ctx, target, opts)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(target))
	}
	return hash, nil
}

func (p *Package) fetch(ctx context.Context, target string, opts FetchOptions) (hash release.Hash, err error) {
	if p.archive != nil {
		err = p.download(ctx, filepath.Dir(target), opts, func(archive string) (err error) {
			hash, err = p.unpack(ctx, archive, target, opts)
			return err
		})
		return hash, err
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return p.link(target, opts)
	}
	return p.unpack(ctx, p.path, target, opts)
}

// unpack checks an archive and unpacks it.
func (p *Package) unpack(ctx context.Context, archive, target string, opts FetchOptions) (release.Hash, error) {
	hash, err := p.check(archive, opts)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(target, 0o755); err != nil { //nolint:gosec // as for other programs
		return "", err
	}
	if err := unpack.Zip(ctx, archive, target, opts.Limits); err != nil {
		return "", fmt.Errorf("the package of %s cannot be unpacked: %w", p.ID, err)
	}
	content, err := release.HashContent(target)
	if err != nil {
		return "", err
	}
	if found := []release.Hash{hash, content}; !p.fits(found, opts, "") {
		return "", p.mismatch(found)
	}
	return content, nil
}

// check returns the hash of an archive, unless it is known already that this is none of the hashes
// that it must have.
func (p *Package) check(archive string, opts FetchOptions) (release.Hash, error) {
	hash, err := release.HashArchive(archive)
	if err != nil {
		return "", err
	}
	if found := []release.Hash{hash}; !p.fits(found, opts, release.ContentScheme) { // only the files can decide
		return "", p.mismatch(found)
	}
	return hash, nil
}

// HashOf returns the hash of an unpacked package in a directory.
func (o FetchOptions) HashOf(dir string) (release.Hash, error) {
	if o.Hash == nil {
		return release.HashContent(dir)
	}
	return o.Hash(dir)
}

// link makes a link to a directory of a mirror, or a copy where links cannot be made.
func (p *Package) link(target string, opts FetchOptions) (release.Hash, error) {
	content, err := opts.HashOf(p.path)
	if err != nil {
		return "", err
	}
	if found := []release.Hash{content}; !p.fits(found, opts, release.ArchiveScheme) {
		return "", p.mismatch(found)
	}
	dir, err := filepath.Abs(p.path)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	if os.Symlink(dir, target) == nil {
		return content, nil
	}
	if err := os.CopyFS(target, os.DirFS(dir)); err != nil {
		return "", err
	}
	copied, err := release.HashContent(target)
	if err == nil && copied != content {
		err = fmt.Errorf("the package of %s in the mirror has changed while it was copied", p.ID)
	}
	return content, err
}

// fits reports whether hashes are those that the source and the caller want, or can still be, with
// one of a scheme that is not known yet.
func (p *Package) fits(found []release.Hash, opts FetchOptions, unknown string) bool {
	return fit(p.hashes, found, unknown) && fit(opts.Allowed, found, unknown)
}

func fit(wanted, found []release.Hash, unknown string) bool {
	return len(wanted) == 0 ||
		slices.ContainsFunc(found, func(h release.Hash) bool { return slices.Contains(wanted, h) }) ||
		unknown == release.ContentScheme && release.HasScheme(wanted, unknown) ||
		unknown == release.ArchiveScheme && release.HasScheme(wanted, unknown) && !release.HasScheme(wanted, release.ContentScheme)
}

func (p *Package) mismatch(found []release.Hash) error {
	return &MismatchError{ID: p.ID, Locked: fit(p.hashes, found, ""), Found: found}
}
