// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objecttest

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// The kinds of servers.
const (
	// S3 is versitygw, which keeps objects as files with extended attributes.
	S3 = "s3"

	// GoFakeS3 is gofakes3. It believes every signature.
	GoFakeS3 = "gofakes3"

	// GCS is fake-gcs-server. It asks for no credentials.
	GCS = "gcs"

	// Azure is the blob service of Azurite.
	Azure = "azure"
)

// KeyID and Secret are the credentials of all servers that ask for any. The secret is in base64, as
// Azure wants it.
const (
	KeyID  = "cairnstates"
	Secret = "dGhlIHNlY3JldCBvZiB0aGUgb2JqZWN0IHN0b3JhZ2U="
)

const region = "us-east-1"

// settings are further variables that clients of the services read.
var settings = []string{
	"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN",
	"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_DOMAIN", "AZURE_STORAGE_SAS_TOKEN",
}

// kind is what is special about a server.
type kind struct {
	find      func(testing.TB) []string // the command
	command   []string                  // what find has found
	environ   []string                  // of the process
	bucketDir string                    // what makes a bucket, in its data; empty if nothing does

	// args are the arguments that follow the command.
	args func(s *Server) []string

	// create creates the bucket in a server that runs; nil if that is not how it gets one.
	create func(ctx context.Context, address string) error

	// access returns the location, and the variables for clients.
	access func(address string) (string, map[string]string)
}

// Kinds returns the kinds of servers.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

var kinds = map[string]kind{
	S3: {
		find:      build(toolcache.Versitygw),
		environ:   []string{"ROOT_ACCESS_KEY_ID=" + KeyID, "ROOT_SECRET_ACCESS_KEY=" + Secret},
		bucketDir: Bucket,
		args: func(s *Server) []string {
			// Without keep-alive, every request would need a connection of its own.
			return []string{"--port", s.Address(), "--region", region, "--quiet", "--keep-alive", "posix", s.Data()}
		},
		access: accessS3,
	},
	GoFakeS3: {
		find: build(toolcache.GoFakeS3),
		args: func(s *Server) []string {
			return []string{"-host", s.Address(), "-backend", "bolt", "-bolt.db", s.Data() + "/objects.db", "-initialbucket", Bucket}
		},
		access: accessS3,
	},
	GCS: {
		find:      build(toolcache.FakeGCS),
		bucketDir: Bucket,
		args: func(s *Server) []string {
			return []string{
				"-scheme", "http", "-host", "127.0.0.1", "-port", strconv.Itoa(s.port), "-public-host", "127.0.0.1", // with any port, as of a proxy
				"-backend", "filesystem", "-filesystem-root", s.Data(), "-log-level", "warn",
			}
		},
		access: func(address string) (string, map[string]string) {
			return "gs://" + Bucket, map[string]string{"STORAGE_EMULATOR_HOST": address}
		},
	},
	Azure: {
		find:    findAzurite,
		environ: []string{"AZURITE_ACCOUNTS=" + KeyID + ":" + Secret},
		args: func(s *Server) []string {
			// Clients are of a newer API than the server.
			return []string{
				"--blobHost", "127.0.0.1", "--blobPort", strconv.Itoa(s.port), "--location", s.Data(),
				"--silent", "--disableTelemetry", "--skipApiVersionCheck",
			}
		},
		create: createContainer,
		access: func(address string) (string, map[string]string) {
			query := url.Values{"protocol": {"http"}, "domain": {address}, "localemu": {"true"}}
			return "azblob://" + Bucket + "?" + query.Encode(),
				map[string]string{"AZURE_STORAGE_ACCOUNT": KeyID, "AZURE_STORAGE_KEY": Secret}
		},
	},
}

func accessS3(address string) (string, map[string]string) {
	query := url.Values{"endpoint": {"http://" + address}, "region": {region}, "use_path_style": {"true"}}
	return "s3://" + Bucket + "?" + query.Encode(), map[string]string{
		"AWS_ACCESS_KEY_ID": KeyID, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
	}
}

func createContainer(ctx context.Context, address string) error {
	credential, err := azblob.NewSharedKeyCredential(KeyID, Secret)
	if err != nil {
		return err
	}
	client, err := azblob.NewClientWithSharedKeyCredential("http://"+address+"/"+KeyID, credential, nil)
	if err != nil {
		return err
	}
	_, err = client.CreateContainer(ctx, Bucket, nil)
	return err
}
