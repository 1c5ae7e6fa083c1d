// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package release

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// Hash is a checksum of a package in the notation of lock files: a scheme, a colon and a value.
type Hash string

// The schemes that are known.
const (
	ContentScheme = "h1" // of the files in a package, packed or not
	ArchiveScheme = "zh" // of the zip archive that a package is in
)

var schemePattern = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// ParseHash parses a hash. Its scheme may be one that is not known.
func ParseHash(text string) (Hash, error) {
	scheme, value, ok := strings.Cut(text, ":")
	if !ok || value == "" || !schemePattern.MatchString(scheme) || strings.ContainsAny(value, " \t\r\n\"") {
		return "", fmt.Errorf("%q is not a hash, which is a scheme, a colon and a checksum", text)
	}
	return Hash(text), nil
}

// Scheme returns the part before the colon.
func (h Hash) Scheme() string {
	scheme, _, _ := strings.Cut(string(h), ":")
	return scheme
}

// Known returns the hashes of known schemes, sorted and without repetitions.
func Known(hashes []Hash) []Hash {
	known := slices.DeleteFunc(slices.Clone(hashes), func(h Hash) bool { return h.Scheme() != ContentScheme && h.Scheme() != ArchiveScheme })
	slices.Sort(known)
	return slices.Compact(known)
}

// HasScheme reports whether one of the hashes has a scheme.
func HasScheme(hashes []Hash, scheme string) bool {
	return slices.ContainsFunc(hashes, func(h Hash) bool { return h.Scheme() == scheme })
}

// ArchiveHash makes a hash of the SHA-256 sum of an archive.
func ArchiveHash(sum [sha256.Size]byte) Hash {
	return Hash(ArchiveScheme + ":" + hex.EncodeToString(sum[:]))
}

// HashArchive returns the hash of an archive as one file.
func HashArchive(name string) (_ Hash, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return ArchiveHash([sha256.Size]byte(sum.Sum(nil))), nil
}

// HashContent returns the hash of the files in a package, which is a directory, or a link to one,
// or a zip archive.
//
// Errors: also for a directory with something in it that is no file, which has no hash.
func HashContent(name string) (Hash, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return hashZip(name)
	}
	dir, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	if err := checkFiles(dir); err != nil {
		return "", err
	}
	hash, err := dirhash.HashDir(dir, "", dirhash.Hash1)
	return Hash(hash), err
}

// checkFiles returns an error for a file that reading would wait for: a pipe or a device.
func checkFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not an ordinary file", path)
		}
		return err
	})
}

// hashZip returns the hash of the files in an archive.
func hashZip(name string) (Hash, error) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return "", fmt.Errorf("%s is not a zip archive: %w", name, err)
	}
	defer archive.Close() //nolint:errcheck // it was only read
	var names []string
	files := map[string]*zip.File{}
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") {
			names = append(names, file.Name)
			files[file.Name] = file
		}
	}
	hash, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
	return Hash(hash), err
}
