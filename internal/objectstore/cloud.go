// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objectstore

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"github.com/cairnstacks/cairn/internal/statestore"
)

const (
	contentType   = "application/octet-stream"
	noCredentials = "cannot be used without credentials"
)

// cloudBucket is a bucket of a service.
type cloudBucket struct {
	bucket *blob.Bucket
	scheme string
}

// Open connects to the bucket of a location.
func Open(ctx context.Context, a Address) (Bucket, error) {
	switch a.Scheme {
	case directoryScheme:
		return &directoryBucket{a.Bucket}, nil
	case "s3":
		return openS3(ctx, a)
	case "gs":
		return openGoogle(ctx, a)
	}
	u := &url.URL{Scheme: a.Scheme, Host: a.Bucket, RawQuery: a.Query.Encode()}
	b, err := blob.DefaultURLMux().OpenBucketURL(ctx, u)
	if err != nil {
		return nil, err
	}
	return &cloudBucket{b, a.Scheme}, nil
}

// remedies say where each service takes credentials from.
var remedies = map[string]string{
	"s3": "give credentials by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or the role of the machine, " +
		"which may read, write, list and delete the objects of the bucket",
	"gs": "give credentials by GOOGLE_APPLICATION_CREDENTIALS, gcloud auth application-default login, or the identity of the machine, " +
		"with the role Storage Object User",
	"azblob": "give credentials by AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, az login, or the identity of the machine, " +
		"with the role Storage Blob Data Contributor",
}

func (b *cloudBucket) Close() error { return b.bucket.Close() }

func (b *cloudBucket) Create(ctx context.Context, name string, content []byte) error {
	return b.write(ctx, name, content, true)
}

func (b *cloudBucket) Put(ctx context.Context, name string, content []byte) error {
	return b.write(ctx, name, content, false)
}

// write stores an object by one request: of one in parts, the condition would hold for none of
// them.
func (b *cloudBucket) write(ctx context.Context, name string, content []byte, isNew bool) error {
	err := b.bucket.WriteAll(ctx, name, content, &blob.WriterOptions{
		ContentType: contentType, IfNotExist: isNew, BufferSize: max(len(content), 1), MaxConcurrency: 1,
	})
	if isNew && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return ErrExists
	}
	return err
}

func (b *cloudBucket) Read(ctx context.Context, name string) ([]byte, error) {
	content, err := b.bucket.ReadAll(ctx, name)
	return content, missing(err)
}

func (b *cloudBucket) Modified(ctx context.Context, name string) (time.Time, error) {
	attributes, err := b.bucket.Attributes(ctx, name)
	if err != nil {
		return time.Time{}, missing(err)
	}
	return attributes.ModTime, nil
}

// missing returns ErrMissing for an error about an object that is not there, which may be one about
// the bucket.
func missing(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound && !strings.Contains(err.Error(), "NoSuchBucket") {
		return ErrMissing
	}
	return err
}

func (b *cloudBucket) List(ctx context.Context, prefix string, token []byte, most int) (names []string, next []byte, err error) {
	if token == nil {
		token = blob.FirstPageToken
	}
	objects, next, err := b.bucket.ListPage(ctx, token, most, &blob.ListOptions{Prefix: prefix})
	for _, object := range objects {
		names = append(names, object.Key)
	}
	return names, next, err
}

func (b *cloudBucket) Folders(ctx context.Context, prefix string) (names []string, err error) {
	for token := blob.FirstPageToken; token != nil; {
		var objects []*blob.ListObject
		objects, token, err = b.bucket.ListPage(ctx, token, MostListed, &blob.ListOptions{Prefix: prefix, Delimiter: "/"})
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if object.IsDir {
				names = append(names, strings.TrimSuffix(strings.TrimPrefix(object.Key, prefix), "/"))
			}
		}
	}
	return names, nil
}

// MostListed is how many names the services give at a time, at most.
const MostListed = 1000

func (b *cloudBucket) Remove(ctx context.Context, name string) error {
	if err := b.bucket.Delete(ctx, name); gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}

// problem implements [Bucket].
func (b *cloudBucket) Problem(err error) Fault { return problemOf(err, b.scheme) }

// problemOf is [Bucket.Problem] for a service.
func problemOf(err error, scheme string) Fault {
	status, code := status(err), gcerrors.Code(err)
	switch {
	case hasNoCredentials(err): // which a server may have answered that gives them
		return Fault{statestore.ProblemAccess, noCredentials, remedies[scheme]}
	case status == http.StatusUnauthorized || status == http.StatusForbidden || code == gcerrors.PermissionDenied:
		return Fault{statestore.ProblemAccess, "may not be used with these credentials", remedies[scheme]}
	case status == http.StatusNotFound || code == gcerrors.NotFound:
		return Fault{statestore.ProblemURL, "is not there", "create the bucket, or correct the location"}
	case mayPass(status):
		return Fault{}
	case status >= 300 && status < 500:
		return Fault{statestore.ProblemIO, "refuses the request", "check the location, such as the region and the endpoint"}
	}
	return Fault{}
}

// mayPass reports whether an answer is one of a moment.
func mayPass(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return false
}

// status returns the status of the answer that an error is made of, 0 for none.
func status(err error) int {
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok { // of S3
		return answer.HTTPStatusCode()
	}
	if answer, ok := errors.AsType[*googleapi.Error](err); ok {
		return answer.Code
	}
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return answer.StatusCode
	}
	return 0
}

// The texts of errors that say that no credentials were found, which have no types.
const (
	noneOfAmazon = "get identity: get credentials"
	noneOfAzure  = "DefaultAzureCredential"
)

func hasNoCredentials(err error) bool {
	return strings.Contains(err.Error(), noneOfAmazon) || strings.Contains(err.Error(), noneOfAzure)
}
