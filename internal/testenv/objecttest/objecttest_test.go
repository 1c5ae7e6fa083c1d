// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objecttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
)

// forEach runs a test with a server of each kind, directly and through a proxy without faults.
func forEach(t *testing.T, test func(t *testing.T, bucket *blob.Bucket)) {
	t.Helper()
	for _, kind := range objecttest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			server := objecttest.Start(t, kind)
			proxy := objecttest.NewProxy(t, server, 1)
			t.Run("directly", func(t *testing.T) { test(t, open(t, server.Access())) })
			t.Run("proxy", func(t *testing.T) {
				test(t, open(t, proxy.Access()))
				if proxy.Counts().Total() == 0 {
					t.Error("the proxy has counted no request")
				}
			})
		})
	}
}

// open opens a bucket, of which only the objects below the name of the test are visible.
func open(t *testing.T, access objecttest.Access) *blob.Bucket {
	t.Helper()
	access.SetEnv(t)
	bucket, err := blob.OpenBucket(t.Context(), access.Location)
	if err != nil {
		t.Fatal(err)
	}
	bucket = blob.PrefixedBucket(bucket, t.Name()+"/")
	t.Cleanup(func() {
		if err := bucket.Close(); err != nil {
			t.Error(err)
		}
	})
	return bucket
}

func create(ctx context.Context, bucket *blob.Bucket, key, text string) error {
	return bucket.WriteAll(ctx, key, []byte(text), &blob.WriterOptions{IfNotExist: true})
}

func TestObjects(t *testing.T) {
	forEach(t, func(t *testing.T, bucket *blob.Bucket) {
		ctx := t.Context()
		// None is a directory of another: servers that keep objects in files refuse that.
		keys := []string{"b/2", "a", "b/10", "a!", "z", "b-c"}
		for i, key := range keys {
			if err := create(ctx, bucket, key, "first "+key); err != nil {
				t.Fatalf("creating %q: %v", key, err)
			}
			want := slices.Sorted(slices.Values(keys[:i+1]))
			if got := list(t, bucket); !slices.Equal(got, want) {
				t.Errorf("list: got %q, want %q", got, want)
			}
		}
		for _, key := range keys {
			if err := create(ctx, bucket, key, "second"); gcerrors.Code(err) != gcerrors.FailedPrecondition {
				t.Errorf("creating %q again: got %v, code %v", key, err, gcerrors.Code(err))
			}
			if got, err := bucket.ReadAll(ctx, key); err != nil || string(got) != "first "+key {
				t.Errorf("%q: got %q, error %v", key, got, err)
			}
		}
		attributes, err := bucket.Attributes(ctx, "a")
		if err != nil || attributes.Size != int64(len("first a")) || time.Since(attributes.ModTime).Abs() > time.Minute {
			t.Errorf("attributes: got %+v, error %v", attributes, err)
		}
		if err := bucket.WriteAll(ctx, "a", []byte("third"), nil); err != nil {
			t.Errorf("writing without a condition: %v", err)
		}
		if got, err := bucket.ReadAll(ctx, "a"); err != nil || string(got) != "third" {
			t.Errorf("after that: got %q, error %v", got, err)
		}
		if err := bucket.Delete(ctx, "a"); err != nil {
			t.Error(err)
		}
		if _, err := bucket.ReadAll(ctx, "a"); gcerrors.Code(err) != gcerrors.NotFound {
			t.Errorf("reading what is deleted: got %v, code %v", err, gcerrors.Code(err))
		}
		if err := create(ctx, bucket, "a", "fourth"); err != nil {
			t.Errorf("creating what is deleted: %v", err)
		}
	})
}

// list returns the keys of a bucket, in the order of the server.
func list(t *testing.T, bucket *blob.Bucket) []string {
	t.Helper()
	var keys []string
	for list := bucket.List(nil); ; {
		object, err := list.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return keys
		} else if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
}

func TestOneCreates(t *testing.T) {
	const rounds, rivals = 50, 8
	forEach(t, func(t *testing.T, bucket *blob.Bucket) {
		for round := range rounds {
			key := fmt.Sprintf("round/%d", round)
			var wins []string
			var mu sync.Mutex
			var wg sync.WaitGroup
			for rival := range rivals {
				wg.Go(func() {
					text := fmt.Sprintf("rival %d", rival)
					switch err := create(t.Context(), bucket, key, text); {
					case err == nil:
						mu.Lock()
						defer mu.Unlock()
						wins = append(wins, text)
					case gcerrors.Code(err) != gcerrors.FailedPrecondition:
						t.Errorf("creating %q: %v, code %v", key, err, gcerrors.Code(err))
					}
				})
			}
			wg.Wait()
			got, err := bucket.ReadAll(t.Context(), key)
			if err != nil || len(wins) != 1 || string(got) != wins[0] {
				t.Errorf("%s: %q have created it, which is %q, error %v", key, wins, got, err)
			}
		}
	})
}
