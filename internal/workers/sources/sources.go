// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sources brings the files of a repository to workers: once a run, as one archive that its
// digest names.
//
// The archive has the files that a plan may read, as go-slug chooses them (.terraformignore says
// which are left out), with the packages that were fetched for its stacks. Neither states nor other
// results of work on this machine are in it. Equal files make an equal archive.
package sources

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-slug"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/internal/operation/env"
)

// repositoryMark is the name of the entry that makes a directory the top of a repository, for
// addresses of sources and names of states.
const repositoryMark = ".git"

// Top returns the top of the repository that a directory is in; the directory itself if it is in
// none.
func Top(dir string) string {
	dir = env.Absolute(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, repositoryMark)); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// Archive names an archive in the records of a run.
type Archive struct{ Record, Digest string }

// Pack returns the archive of a directory and its digest.
func Pack(dir string) (archive []byte, digest string, err error) {
	packer, err := slug.NewPacker(slug.ApplyTerraformIgnore())
	if err != nil {
		return nil, "", err
	}
	var packed bytes.Buffer
	if dir, err = filepath.EvalSymlinks(dir); err == nil { // go-slug looks for the target of a link in the working directory
		_, err = packer.Pack(dir, &packed)
	}
	if err != nil {
		return nil, "", failure.Error("Sources not packed", "The files in %s cannot be brought to workers: %s. "+
			"A file .terraformignore there says which to leave out.", dir, failure.Reason(err))
	}
	files, err := read(&packed)
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Lstat(filepath.Join(dir, repositoryMark)); err == nil {
		files = append(files, file{tar.Header{Typeflag: tar.TypeDir, Name: repositoryMark + "/", Mode: 0o700}, nil})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.header.Name, b.header.Name) })
	archive, err = write(files)
	sum := sha256.Sum256(archive)
	return archive, hex.EncodeToString(sum[:]), err
}

// file is a file in an archive.
type file struct {
	header  tar.Header
	content []byte
}

// read returns the files of a slug that travel, without owners and times.
func read(packed io.Reader) ([]file, error) {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	var files []file
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if stays(header.Name) {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		mode := int64(0o600)
		if header.Mode&0o100 != 0 {
			mode = 0o700
		}
		files = append(files, file{tar.Header{
			Typeflag: header.Typeflag, Name: header.Name, Linkname: header.Linkname, Mode: mode, Size: int64(len(content)),
			ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX,
		}, content})
	}
}

// packagesDir has the packages of a stack, in its working directory.
const packagesDir = "sources"

// stays reports whether a file is a result of work on this machine: of a working directory
// everything but the packages, states, and the data of terraform but its modules. The mark of a
// repository is a file with a path of this machine in worktrees.
func stays(name string) bool {
	parts := strings.Split(path.Clean(name), "/")
	for i, part := range parts[:len(parts)-1] {
		switch {
		case part == env.WorkDir && parts[i+1] != packagesDir, part == ".terraform" && parts[i+1] != "modules":
			return true
		}
	}
	base := parts[len(parts)-1]
	return base == repositoryMark || strings.HasPrefix(base, "cairn.state.db") || strings.HasPrefix(base, "terraform.tfstate")
}

func write(files []file) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, f := range files {
		if err := archive.WriteHeader(&f.header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), archive.Close()
}

// Cache is a directory with unpacked archives, by their digests.
type Cache struct{ Dir string }

// ErrDigest says that an archive is not the one that its digest names.
var ErrDigest = errors.New("the archive of sources is not the one that its digest names")

// Get returns the directory with the files of an archive, which is fetched and unpacked unless it
// was before. The contents are for all that work with these files; only working directories of
// stacks change in it. It may be removed when it was not asked for in thirty days.
func (c Cache) Get(ctx context.Context, digest string, fetch func() ([]byte, error)) (string, error) {
	dir := filepath.Join(c.Dir, digest)
	now := time.Now()
	if os.Chtimes(dir, now, now) == nil { // by which its last use is known
		return dir, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := filelock.Lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	c.prune(now.Add(-unusedTime))
	archive, err := fetch()
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != digest {
		return "", ErrDigest
	}
	making, err := os.MkdirTemp(c.Dir, "making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(making) //nolint:errcheck // it is renamed, or a rest that nobody uses
	if err := Unpack(archive, making); err != nil {
		return "", fmt.Errorf("unpacking sources: %w", err)
	}
	return dir, os.Rename(making, dir)
}

// unusedTime is how long files are kept that no call needs. It is longer than a call takes.
const unusedTime = 30 * 24 * time.Hour

// prune removes files that were not needed since a time: there are others with each change of a
// repository.
func (c Cache) prune(since time.Time) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !isPruned.MatchString(entry.Name()) || !info.ModTime().Before(since) {
			continue
		}
		// It is renamed first, so that nobody finds it with some of its files.
		gone := filepath.Join(c.Dir, "gone-"+entry.Name())
		if os.Rename(filepath.Join(c.Dir, entry.Name()), gone) == nil {
			_ = os.RemoveAll(gone) //nolint:errcheck // rests are in nobody's way
		}
	}
}

// isPruned matches the names of files of runs, and of rests that a killed process has left.
var isPruned = regexp.MustCompile(`^[0-9a-f]{64}$|^making-|^gone-`)

// Unpack writes the files of an archive, none of which can lead out of the directory.
func Unpack(archive []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is kept in it
	var links []string
	for files := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return checkLinks(root, links)
		}
		if err != nil {
			return err
		}
		if err := unpackFile(root, header, files); err != nil {
			return err
		}
		if header.Typeflag == tar.TypeSymlink {
			links = append(links, header.Name)
		}
	}
}

// checkLinks refuses symbolic links that lead out of a directory. Others may lead nowhere.
func checkLinks(root *os.Root, names []string) error {
	for _, name := range names {
		if _, err := root.Stat(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func unpackFile(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.FromSlash(strings.TrimSuffix(header.Name, "/"))
	if header.Typeflag == tar.TypeDir {
		return root.MkdirAll(name, 0o700)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%s is neither a file nor a symbolic link", header.Name)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(header.Mode).Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
