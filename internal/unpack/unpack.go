// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package unpack unpacks archives that others have made, and which may be hostile.
//
// Rules:
//
//	U1. Nothing outside of the directory is written or changed, and nothing in it leads out of it: no
//	    name, no link.
//	U2. The size of an unpacked archive is limited, so that it cannot fill a disk.
package unpack

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits are of the contents of a package. They protect from archives that are made to fill disks.
type Limits struct {
	Bytes int64 // of all files together; 0: 2 GiB
	Files int   // files, directories and links; 0: 200 000
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 2 << 30
	}
	if l.Files == 0 {
		l.Files = 200_000
	}
	return l
}

var errTooLarge = errors.New("the archive is too large when unpacked")

func tooManyFiles(limit int) error {
	return fmt.Errorf("the archive has too many files: more than %d", limit)
}

// unpacker writes the entries of an archive below a directory. Each is written through the root, so
// that neither a name nor a link that was unpacked before leads out of it (rule U1).
type unpacker struct {
	ended  func() error // why nothing more is to be unpacked, nil as long as it is
	root   *os.Root
	limits Limits // the remainder
	made   int
	links  []*tar.Header // made when all files are written
}

// Tar unpacks a tar archive that gzip has compressed into an empty directory.
//
// Errors: context.Cause(ctx) among others.
func Tar(ctx context.Context, r io.Reader, dir string, limits Limits) error {
	return unpackWith(ctx, dir, limits, func(u *unpacker) error { return u.tar(r) })
}

// unpackWith lets a function write files, and makes the links after that.
func unpackWith(ctx context.Context, dir string, limits Limits, write func(*unpacker) error) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	u := &unpacker{ended: func() error { return context.Cause(ctx) }, root: root, limits: limits.withDefaults()}
	if err := write(u); err != nil {
		return err
	}
	if u.made == 0 {
		return errors.New("the archive is empty")
	}
	for _, link := range u.links {
		if err := u.link(link); err != nil {
			return err
		}
	}
	return CheckLinks(dir)
}

func (u *unpacker) tar(r io.Reader) error {
	compressed, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return archiveError(err)
	}
	archive := tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = u.entry(header, archive)
		}
		if err != nil {
			return archiveError(err)
		}
	}
	// The rest after the archive's end has the checksum after it; it counts, so that it isn't endless.
	if err := u.copy(io.Discard, compressed); err != nil {
		return archiveError(err)
	}
	return nil
}

// archiveError returns the reason why an archive cannot be read.
func archiveError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the archive is cut off")
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("the answer is not a gzip-compressed archive")
	case errors.Is(err, gzip.ErrChecksum):
		return errors.New("the archive is damaged: its checksum is wrong")
	case errors.Is(err, tar.ErrHeader):
		return errors.New("the archive is damaged, or no tar archive")
	default:
		return err
	}
}

func (u *unpacker) entry(header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil // as git archive writes it
	}
	if err := u.ended(); err != nil {
		return err
	}
	if u.made++; u.made > u.limits.Files {
		return tooManyFiles(u.limits.Files)
	}
	name := path.Clean(header.Name)
	if name == "." && header.Typeflag == tar.TypeDir {
		return nil
	}
	if strings.HasPrefix(header.Name, "/") || !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, "\\") {
		return fmt.Errorf("the archive has a file whose name leads out of it, %q", header.Name)
	}
	name = filepath.FromSlash(name)
	if header.Typeflag == tar.TypeDir {
		return u.root.MkdirAll(name, 0o755)
	}
	if err := u.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeReg:
		return u.file(name, header, content)
	case tar.TypeSymlink, tar.TypeLink:
		u.links = append(u.links, header)
		return nil
	default:
		return fmt.Errorf("the archive has %q, which is neither a file nor a directory nor a link", header.Name)
	}
}

func (u *unpacker) file(name string, header *tar.Header, content io.Reader) error {
	mode := fs.FileMode(0o644)
	if header.FileInfo().Mode()&0o111 != 0 {
		mode = 0o755
	}
	file, err := u.root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	err = u.copy(file, content)
	return errors.Join(err, file.Close())
}

// copy copies content, which counts for the limit.
func (u *unpacker) copy(w io.Writer, r io.Reader) error {
	written, err := io.Copy(w, io.LimitReader(endingReader{u.ended, r}, u.limits.Bytes+1))
	if u.limits.Bytes -= written; u.limits.Bytes < 0 {
		return errTooLarge
	}
	return err
}

// endingReader reads until nothing more is to be unpacked: one file may be gigabytes.
type endingReader struct {
	ended func() error
	io.Reader
}

func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ended(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (u *unpacker) link(header *tar.Header) error {
	name := filepath.FromSlash(path.Clean(header.Name))
	target := filepath.FromSlash(header.Linkname)
	if header.Typeflag == tar.TypeSymlink {
		return u.root.Symlink(target, name)
	}
	if !filepath.IsLocal(target) {
		return fmt.Errorf("the archive has a link that leads out of it, %q", header.Name)
	}
	return u.root.Link(target, name)
}

// CheckLinks returns an error if a symbolic link below a directory leads out of it (rule U1). Links
// that lead nowhere are removed, as the engine would stumble over them.
func CheckLinks(dir string) error {
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(realDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink == 0 {
			return err
		}
		name, err := filepath.Rel(realDir, path)
		if err != nil {
			return err
		}
		written, err := os.Readlink(path)
		if err != nil {
			return err
		}
		target, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(written) && filepath.IsLocal(filepath.Join(filepath.Dir(name), written)) {
			return os.Remove(path)
		}
		below := ""
		if err == nil {
			below, err = filepath.Rel(realDir, target)
		}
		if err != nil || filepath.IsAbs(written) || !filepath.IsLocal(below) {
			return fmt.Errorf("the package has a link that leads out of it, %q", filepath.ToSlash(name))
		}
		return nil
	})
}
