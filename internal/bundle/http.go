// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"net/http"
	"net/url"

	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// fetchArchive downloads an archive and unpacks it.
func fetchArchive(ctx context.Context, client *http.Client, location *url.URL, dir string, limits unpack.Limits) error {
	location = withoutArchiveArgument(location)
	resp, err := registry.Get(ctx, client, location, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return registry.StatusError(resp)
	}
	err = unpack.Tar(ctx, resp.Body, dir, limits)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// withoutArchiveArgument removes the argument that marks the address of an archive, as it isn't
// meant for the server.
func withoutArchiveArgument(location *url.URL) *url.URL {
	query := location.Query()
	if !query.Has("archive") {
		return location
	}
	query.Del("archive")
	stripped := *location
	stripped.RawQuery = query.Encode()
	return &stripped
}
