// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// packagesFile remembers the hashes of installed packages: a large provider takes a second to read.
const packagesFile = "packages.json"

// packageRecord is what is remembered of a package.
type packageRecord struct {
	Fingerprint string `json:"fingerprint"` // of names, sizes and times of the files
	Hash        string `json:"hash"`        // as in lock files
}

// packageHashes returns the hash of each package by its path, and none of what cannot be read.
func (e *Session) packageHashes(ctx context.Context, installed []installedProvider) map[string]string {
	name := e.installation.packages
	known := map[string]packageRecord{}
	if data, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(data, &known) //nolint:errcheck // what is lost is found out again
	}
	hashes, records, changed := map[string]string{}, map[string]packageRecord{}, false
	for _, one := range installed {
		record, err := packageFingerprint(one.target)
		switch {
		case err != nil:
			continue
		case known[one.path].Fingerprint == record.Fingerprint && known[one.path].Hash != "":
			record = known[one.path]
		default:
			if record.Hash = e.packageHash(ctx, record.Fingerprint, one.target); record.Hash == "" {
				continue
			}
			changed = true
		}
		hashes[one.path], records[one.path] = record.Hash, record
	}
	if changed {
		if data, err := json.Marshal(records); err == nil {
			_ = writeFile(name, data) //nolint:errcheck // the next command finds it out again
		}
	}
	return hashes
}

// packageHash returns the hash of a package with a fingerprint; "" if it cannot be read. It is read once for all stacks.
func (e *Session) packageHash(ctx context.Context, fingerprint, dir string) string {
	hash, err := e.shared.packages.Get(ctx, fingerprint, func() (string, error) { return hashPackage(dir) })
	if err != nil {
		return ""
	}
	return hash
}

// packageFingerprint changes when a package does, as far as that shows without reading it.
func packageFingerprint(dir string) (packageRecord, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return packageRecord{}, err
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
		fmt.Fprintf(&b, "\x00%s %d %d", path, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return packageRecord{Fingerprint: hashOf([]byte(b.String()))}, err
}

func hashPackage(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return dirhash.HashDir(real, "", dirhash.Hash1)
}
