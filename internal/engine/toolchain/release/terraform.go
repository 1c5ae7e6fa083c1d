// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"strings"
	"time"

	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"
)

// The longest that a step may take. The user can end it at any time.
const (
	listTimeout  = time.Minute
	fetchTimeout = time.Hour
)

// terraform fetches releases in the layout of releases.hashicorp.com.
type terraform struct {
	mirror, key string
	client      *http.Client
}

func (t terraform) versions(ctx context.Context) ([]*version.Version, error) {
	list := releases.Versions{Product: product.Terraform, ApiBaseURL: t.mirror, HTTPClient: t.client, ListTimeout: listTimeout}
	sources, err := list.List(ctx)
	if err != nil {
		return nil, tidy(err)
	}
	var all []*version.Version
	for _, source := range sources {
		if exact, ok := source.(*releases.ExactVersion); ok {
			all = append(all, exact.Version)
		}
	}
	return all, nil
}

func (t terraform) fetch(ctx context.Context, v *version.Version, dir string) error {
	exact := releases.ExactVersion{
		Product:          product.Terraform,
		Version:          v,
		InstallDir:       dir,
		Timeout:          fetchTimeout,
		ApiBaseURL:       t.mirror,
		ArmoredPublicKey: t.key,
		HTTPClient:       t.client,
	}
	var heard listener
	exact.SetLogger(log.New(&heard, "", 0))
	_, err := exact.Install(ctx)
	if errors.Is(err, fs.ErrNotExist) && heard.mismatch != "" {
		// hc-install v0.10.0 forgets its own error when it removes the archive, and then misses the
		// binary.
		return fmt.Errorf("%w: %s", ErrUnverified, heard.mismatch)
	}
	if err == nil {
		return nil
	}
	var signature pgperrors.SignatureError
	if errors.Is(err, pgperrors.ErrUnknownIssuer) || errors.As(err, &signature) {
		return fmt.Errorf("%w: %w", ErrUnverified, err)
	}
	return tidy(err)
}

// tidy removes the space at the end of some of hc-install's errors.
func tidy(err error) error {
	if text := err.Error(); strings.TrimSpace(text) != text {
		return errors.New(strings.TrimSpace(text)) // these wrap nothing
	}
	return err
}

// listener picks the error about an archive from the log.
type listener struct {
	mismatch string
}

// Write implements [io.Writer], for one line at a time.
func (l *listener) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if strings.HasPrefix(text, "checksum does not match") || strings.HasPrefix(text, "failed to calculate hash") {
		l.mismatch = text
	}
	return len(line), nil
}
