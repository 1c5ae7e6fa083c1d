// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// maxZip is how many bytes a zip archive may have, which is unpacked when it is there as a whole.
const maxZip = 1 << 30

// zipPackage is a zip archive, with a path in it or without. No source of a stack can be one, but
// the package of a module can.
type zipPackage struct {
	location *url.URL
	below    string
}

// parseZip returns nil for an address that is none of a zip archive.
func parseZip(address string) (*zipPackage, error) {
	location, err := url.Parse(address)
	if err != nil || location.Scheme != "https" {
		return nil, nil //nolint:nilerr // others report its mistakes
	}
	archive, below, _ := strings.Cut(location.Path, "//")
	named, query := strings.HasSuffix(archive, ".zip"), location.Query()
	switch {
	case query.Has("archive") && query.Get("archive") != "zip", !query.Has("archive") && !named:
		return nil, nil
	case query.Has("checksum"):
		return nil, errors.New("checksums of archives are not compared: remove the argument \"checksum\"")
	case below != "" && !filepath.IsLocal(filepath.FromSlash(below)):
		return nil, fmt.Errorf("the path %q leads out of the package", below)
	}
	stripped := *location
	stripped.Path = archive
	stripped.RawPath, _, _ = strings.Cut(location.RawPath, "//")
	return &zipPackage{&stripped, strings.TrimSuffix(below, "/")}, nil
}

// fetchZip unpacks a zip archive into an empty directory. It is in a file next to that until then.
func fetchZip(ctx context.Context, client *http.Client, location *url.URL, dir string, limits unpack.Limits) (err error) {
	resp, err := registry.Get(ctx, client, withoutArchiveArgument(location), "")
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return registry.StatusError(resp)
	}
	file, err := os.CreateTemp(filepath.Dir(dir), ".download-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	err = registry.Copy(ctx, file, resp, maxZip, 0)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return unpack.Zip(ctx, file.Name(), dir, limits)
}
