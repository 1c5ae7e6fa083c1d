// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/sealed"
)

// Package is an installed package.
type Package struct {
	Path string // HOST/NAMESPACE/TYPE/VERSION/PLATFORM
	Dir  string // where it is

	// InDevelopment says that it has no version, no lock, and no place but its own.
	InDevelopment bool
}

// Source returns the address of the provider as the engine that has installed it writes it.
func (p Package) Source() string {
	return strings.Join(strings.Split(filepath.ToSlash(p.Path), "/")[:3], "/")
}

// Hashes are those of packages, by fingerprint. It takes a second to read a large provider, which
// is done once for all callers. The zero value knows none yet. Safe for concurrent use.
type Hashes struct{ known once.Map[string, string] }

// Record is the remembered hash of a package.
type Record struct {
	Fingerprint string `json:"fingerprint"` // of names, sizes, times and numbers of the files
	Hash        string `json:"hash"`        // as in lock files
}

// Remembered returns the hash of each package by its path, and none of packages that cannot be
// read. The file remembers them for other programs; it is none for "".
func (h *Hashes) Remembered(ctx context.Context, file string, packages []Package) map[string]string {
	known := Records(file)
	hashes, records, changed := map[string]string{}, map[string]Record{}, false
	for _, one := range packages {
		fingerprint, err := Fingerprint(one.Dir)
		record := Record{Fingerprint: fingerprint}
		switch {
		case err != nil:
			continue
		case known[one.Path].Fingerprint == fingerprint && known[one.Path].Hash != "":
			record = known[one.Path]
		default:
			if record.Hash = h.Of(ctx, fingerprint, one.Dir); record.Hash == "" {
				continue
			}
			changed = true
		}
		hashes[one.Path], records[one.Path] = record.Hash, record
	}
	if changed && file != "" {
		if data, err := json.Marshal(records); err == nil {
			_ = safefile.Replace(file, sealed.Seal(recordsKind, data), 0o600) //nolint:errcheck // the next command finds it out again
		}
	}
	return hashes
}

// Known returns the hashes of packages that are as they were when they were last hashed, by path.
func (d Dir) Known(packages []Package) map[string]string {
	known, hashes := Records(d.Hashes), map[string]string{}
	for _, one := range packages {
		if now, err := Fingerprint(one.Dir); err == nil && known[one.Path].Fingerprint == now {
			hashes[one.Path] = known[one.Path].Hash
		}
	}
	return hashes
}

const recordsKind = "cairn packages 1"

// Records returns the records of a file, by the paths of packages; nothing if it is damaged.
func Records(file string) map[string]Record {
	known := map[string]Record{}
	data, err := os.ReadFile(file)
	if err != nil {
		return known
	}
	if content, whole := sealed.Open(recordsKind, data); whole {
		_ = json.Unmarshal(content, &known) //nolint:errcheck // lost records are computed again
	}
	return known
}

// Of returns the hash of a package with a fingerprint; "" if it cannot be read.
func (h *Hashes) Of(ctx context.Context, fingerprint, dir string) string {
	hash, err := h.hash(ctx, fingerprint, dir)
	if err != nil {
		return ""
	}
	return hash
}

func (h *Hashes) hash(ctx context.Context, fingerprint, dir string) (string, error) {
	return h.known.Get(ctx, fingerprint, func() (string, error) {
		hash, err := release.HashContent(dir)
		return string(hash), err
	})
}

// content returns the hash of a package that is in a mirror. The stacks of a run are prepared one
// after the other, each with links to the same packages.
func (h *Hashes) content(dir string) (release.Hash, error) {
	fingerprint, err := Fingerprint(dir)
	if err != nil {
		return "", err
	}
	hash, err := h.hash(context.Background(), fingerprint, dir)
	return release.Hash(hash), err
}

// Fingerprint changes when a package does, mostly without reading it: where the system says which
// file it is and when that was changed last, no program can change a file, or put another one in
// its place, without changing that, whatever time and size it gives the file. Elsewhere only the
// content shows it.
func Fingerprint(dir string) (string, error) { return fingerprint(dir, changeOf) }

func fingerprint(dir string, changeOf func(fs.FileInfo) string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(real)
	err = filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		change := changeOf(info)
		if change == "" {
			change, err = hashFile(path)
		}
		fmt.Fprintf(&b, "\x00%s %d %d %s", path, info.Size(), info.ModTime().UnixNano(), change)
		return err
	})
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:]), err
}

func hashFile(path string) (_ string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}
