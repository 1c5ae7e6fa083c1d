// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package release fetches releases of terraform and OpenTofu, from their makers or from a mirror,
// and verifies them: the checksum of the archive against a list, and the list against a signature
// by the maker's key.
//
// A mirror is a base URL. Below it are the paths of the makers' own sites:
//
//	terraform/index.json                       all versions
//	terraform/VERSION/index.json               the files of one
//	terraform/VERSION/FILE                     archive, list of checksums, signature
//	tofu/api.json                              all versions with their files
//	tofu/vVERSION/FILE                         archive, list of checksums, signature
//
// Nothing that a server says is trusted before it is verified, apart from which versions there are:
// a server can keep versions back, but it cannot pass off anything else as one.
package release

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-cleanhttp"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/hashicorp/go-version"
)

// ErrUnverified says that the maker has not signed the files that a server sent.
var ErrUnverified = errors.New("the release could not be verified")

// Source is where releases of a program come from.
type Source struct {
	Program string // terraform or tofu
	Mirror  string // base URL; empty for the maker's own site
	Key     string // ASCII-armored OpenPGP key that releases are signed with; empty for the maker's
}

// fetcher fetches the releases of one program.
type fetcher interface {
	versions(ctx context.Context) ([]*version.Version, error)
	fetch(ctx context.Context, v *version.Version, dir string) error
}

// Versions returns the versions that there are, in no particular order. Those that are none are
// left out.
func (s Source) Versions(ctx context.Context) ([]*version.Version, error) {
	all, err := s.fetcher().versions(ctx)
	if err != nil {
		return nil, explain(ctx, "looking for releases of "+s.Program, err)
	}
	return all, nil
}

// Fetch puts the verified binary of a release into an empty directory, under the program's name.
// After an error the directory may hold anything.
//
// Errors: [ErrUnverified], the cause of the context's end, or the failure of a request or a file.
func (s Source) Fetch(ctx context.Context, v *version.Version, dir string) error {
	if err := s.fetcher().fetch(ctx, v, dir); err != nil {
		return explain(ctx, fmt.Sprintf("fetching %s %s", s.Program, v), err)
	}
	return nil
}

func (s Source) fetcher() fetcher {
	mirror := strings.TrimRight(s.Mirror, "/")
	if s.Program == "terraform" {
		return terraform{mirror: mirror, key: s.Key, client: newClient()}
	}
	return tofu{mirror: mirror, key: s.Key, client: newClient()}
}

// explain prefers the reason why the context has ended over the error that followed.
func explain(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// newClient returns a client that tries again for a moment where that may help, and finds proxies
// in the environment.
func newClient() *http.Client {
	client := retryablehttp.NewClient()
	client.HTTPClient = cleanhttp.DefaultClient()
	client.Logger = nil
	client.RetryMax = 2
	client.RetryWaitMin = 200 * time.Millisecond
	client.RetryWaitMax = 2 * time.Second
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return client.StandardClient()
}
