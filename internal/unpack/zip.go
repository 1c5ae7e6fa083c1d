// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package unpack

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// maxLink is the length of the target of a symbolic link.
const maxLink = 4096

// Zip unpacks a zip archive, which is a file, into an empty directory.
//
// Errors: context.Cause(ctx) among others.
func Zip(ctx context.Context, name, dir string, limits Limits) error {
	return unpackWith(ctx, dir, limits, func(u *unpacker) error { return u.zip(name) })
}

// CheckZip returns an error for a zip archive that says of itself that it would unpack to more than
// the limits. Reading more of a file than the archive says is an error.
func CheckZip(name string, limits Limits) error {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return zipError(err)
	}
	defer archive.Close() //nolint:errcheck // it was only read
	limits = limits.withDefaults()
	if len(archive.File) > limits.Files {
		return tooManyFiles(limits.Files)
	}
	for _, file := range archive.File {
		if file.UncompressedSize64 > uint64(limits.Bytes) { //nolint:gosec // it is not negative
			return errTooLarge
		}
		limits.Bytes -= int64(file.UncompressedSize64) //nolint:gosec // it is smaller than another one
	}
	return nil
}

func (u *unpacker) zip(name string) (err error) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return zipError(err)
	}
	defer archive.Close() //nolint:errcheck // it was only read
	for _, file := range archive.File {
		if err := u.zipped(file); err != nil {
			return zipError(err)
		}
	}
	return nil
}

// zipError returns the reason why an archive cannot be read.
func zipError(err error) error {
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the archive is damaged, or no zip archive")
	case errors.Is(err, zip.ErrChecksum):
		return errors.New("the archive is damaged: its checksum is wrong")
	case errors.Is(err, zip.ErrAlgorithm):
		return errors.New("the archive is compressed in a way that is not known")
	default:
		return err
	}
}

// zipped unpacks one file as if it were in a tar archive.
func (u *unpacker) zipped(file *zip.File) (err error) {
	header, err := tar.FileInfoHeader(file.FileInfo(), "")
	if err != nil {
		return fmt.Errorf("the archive has %q, which is neither a file nor a directory nor a link", file.Name)
	}
	header.Name = file.Name
	content, err := file.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if file.Mode()&fs.ModeSymlink != 0 {
		target, err := io.ReadAll(io.LimitReader(content, maxLink))
		if err != nil {
			return err
		}
		header.Linkname = string(target)
	}
	return u.entry(header, content)
}
