// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"context"
	"net/url"

	"gocloud.dev/secrets"
	"gocloud.dev/secrets/awskms"
	"gocloud.dev/secrets/azurekeyvault"
	"gocloud.dev/secrets/gcpkms"
)

func init() {
	for _, scheme := range []string{awskms.Scheme, azurekeyvault.Scheme, gcpkms.Scheme} {
		services[scheme] = openCloud
	}
}

// cloud is a key in the key service of a cloud.
type cloud struct{ keeper *secrets.Keeper }

// openCloud opens a key with the credentials that the libraries of the cloud find in the
// environment of this process.
func openCloud(ctx context.Context, _ *service, location *url.URL) (serviceKey, error) {
	keeper, err := secrets.OpenKeeper(ctx, location.String())
	return cloud{keeper}, err
}

func (c cloud) encrypt(ctx context.Context, plain []byte) ([]byte, error) {
	return c.keeper.Encrypt(ctx, plain)
}

func (c cloud) decrypt(ctx context.Context, encrypted []byte) ([]byte, error) {
	return c.keeper.Decrypt(ctx, encrypted)
}

func (c cloud) close() error { return c.keeper.Close() }
