// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package mirrordir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/unpack"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// index is the content of index.json of a provider.
type index struct {
	Versions map[string]struct{} `json:"versions"`
}

// platforms is the content of the file of a version.
type platforms struct {
	Archives map[string]archive `json:"archives"`
}

type archive struct {
	Hashes []release.Hash `json:"hashes"`
	URL    string         `json:"url"` // relative to the file
}

// writeIndex writes the files that the protocol of mirrors in the network has beside archives (rule
// M3).
func writeIndex(dir string, provider stackaddrs.Provider) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	all, versions := index{map[string]struct{}{}}, map[string]platforms{}
	for _, entry := range entries {
		version, platform, ok := parseArchiveName(entry.Name(), provider)
		if !ok {
			continue
		}
		hash, err := hashArchive(filepath.Join(dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("%s in the mirror cannot be used: %w", entry.Name(), err)
		}
		all.Versions[version] = struct{}{}
		if versions[version].Archives == nil {
			versions[version] = platforms{map[string]archive{}}
		}
		versions[version].Archives[platform] = archive{[]release.Hash{hash}, entry.Name()}
	}
	for version, one := range versions {
		if err := writeJSON(filepath.Join(dir, version+".json"), one); err != nil {
			return err
		}
	}
	return writeJSON(filepath.Join(dir, "index.json"), all)
}

// parseArchiveName returns the version and the platform in the name of an archive; other files are
// not of this provider, or no archives.
func parseArchiveName(name string, provider stackaddrs.Provider) (version, platform string, ok bool) {
	rest, isArchive := strings.CutPrefix(name, "terraform-provider-"+provider.Type+"_")
	rest, isZip := strings.CutSuffix(rest, ".zip")
	written, platform, _ := strings.Cut(rest, "_")
	parsed, err := release.ParseVersion(written)
	_, platformErr := release.ParsePlatform(platform)
	return written, platform, isArchive && isZip && err == nil && platformErr == nil && parsed.String() == written
}

func hashArchive(name string) (release.Hash, error) {
	if err := unpack.CheckZip(name, unpack.Limits{}); err != nil {
		return "", err
	}
	return release.HashContent(name)
}

// writeJSON replaces a file as a whole: a web server may be reading it.
func writeJSON(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Replace(name, data, 0o644)
}
