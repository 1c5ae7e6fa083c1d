// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/registry"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 1<<12)

// breaking serves a file whose answers break off after some bytes, each time.
type breaking struct {
	after   int
	tags    []string // ETags, one an answer; the last one for all further ones
	ranges  bool     // asks for parts are obeyed
	status  []int    // before the first answer of the file
	header  http.Header
	asked   []string // Range headers
	answers int
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.asked = append(b.asked, strings.TrimPrefix(r.Header.Get("Range"), "bytes="))
	for name, values := range b.header {
		w.Header()[name] = values
	}
	if n := len(b.asked); n <= len(b.status) {
		w.WriteHeader(b.status[n-1])
		return
	}
	tag := b.tags[min(b.answers, len(b.tags)-1)]
	b.answers++
	if tag != "" {
		w.Header().Set("ETag", tag)
	}
	start := 0
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start); err == nil && b.ranges && r.Header.Get("If-Range") == tag {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(content)-1, len(content)))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)-start))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		start = 0
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	}
	_, _ = w.Write(content[start:min(start+b.after, len(content))])
}

// downloading downloads the file that a handler serves, and returns the waits before repetitions.
func downloading(t *testing.T, handler http.Handler, d registry.Download) (got []byte, joined bool, waits []time.Duration, err error) {
	t.Helper()
	server := registrytest.Start(t)
	server.Handle("/file", handler.ServeHTTP)
	client := server.Registries(nil)
	client.Pause = func(_ context.Context, wait time.Duration) error {
		waits = append(waits, wait)
		return nil
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is read below
	d.Location, d.What = &url.URL{Scheme: "https", Host: server.Host, Path: "/file"}, "file"
	if d.Limit == 0 {
		d.Limit = 1 << 20
	}
	joined, err = client.Download(t.Context(), file, d)
	got, readErr := os.ReadFile(file.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return got, joined, waits, err
}

func TestDownload(t *testing.T) {
	third := len(content)/3 + 1
	for name, test := range map[string]struct {
		serve  breaking
		asked  string
		joined bool
		want   string // error
	}{
		"at once":        {breaking{after: len(content), tags: []string{`"a"`}}, "", false, ""},
		"goes on":        {breaking{after: third, tags: []string{`"a"`}, ranges: true}, fmt.Sprintf(" %d- %d-", third, 2*third), true, ""},
		"no validator":   {breaking{after: third, tags: []string{""}, ranges: true}, "    ", false, "cut off"},
		"weak validator": {breaking{after: third, tags: []string{`W/"a"`}, ranges: true}, "    ", false, "cut off"},
		"file has changed": {
			breaking{after: 2 * third, tags: []string{`"a"`, `"b"`}, ranges: true},
			fmt.Sprintf(" %d- %d-", 2*third, 2*third),
			true, "",
		},
		"ranges are ignored": {breaking{after: third, tags: []string{`"a"`}}, strings.Repeat(fmt.Sprintf(" %d-", third), 4), false, "cut off"},
		"too many requests":  {breaking{after: len(content), tags: []string{""}, status: []int{429, 503, 502}}, "   ", false, ""},
		"never":              {breaking{tags: []string{""}, status: []int{500, 500, 500, 500, 500, 500}}, "    ", false, "500"},
		"refused":            {breaking{tags: []string{""}, status: []int{403}}, "", false, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			serve := test.serve
			got, joined, _, err := downloading(t, &serve, registry.Download{})
			if asked := strings.Join(serve.asked, " "); asked != test.asked {
				t.Errorf("asked for are the parts %q, want %q", asked, test.asked)
			}
			if joined != test.joined {
				t.Errorf("joined is %t", joined)
			}
			switch {
			case test.want == "" && (err != nil || !bytes.Equal(got, content)):
				t.Errorf("got %d bytes, %v", len(got), err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A server that gives another part than the one asked for is not believed, and one that has no such
// part is asked for all.
func TestDownloadOtherPart(t *testing.T) {
	for _, status := range []int{http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) { downloadOtherPart(t, status) })
	}
}

func downloadOtherPart(t *testing.T, status int) {
	var asked int
	got, joined, _, err := downloading(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		switch {
		case asked == 1:
			_, _ = w.Write(content[:100])
		case r.Header.Get("Range") != "":
			w.Header().Set("Content-Range", "bytes 7-8/9")
			w.Header().Set("Content-Length", "2")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("xx"))
		default:
			_, _ = w.Write(content)
		}
	}), registry.Download{})
	if err != nil || joined || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, %t, %v", len(got), joined, err)
	}
}

func TestDownloadWaits(t *testing.T) {
	serve := &breaking{after: len(content), tags: []string{""}, status: []int{503, 503}, header: http.Header{"Retry-After": {"7"}}}
	_, _, waits, err := downloading(t, serve, registry.Download{})
	if fmt.Sprint(waits) != "[7s 7s]" || err != nil {
		t.Errorf("it waits %v, %v", waits, err)
	}
	serve = &breaking{tags: []string{""}, status: []int{503}, header: http.Header{"Retry-After": {"100000"}}}
	if _, _, waits, err = downloading(t, serve, registry.Download{}); len(waits) > 0 || err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("it waits %v for a server that asks for a day, %v", waits, err)
	}
}

func TestDownloadProgress(t *testing.T) {
	var last, total int64
	progress := func(done, of int64) { last, total = done, of }
	serve := &breaking{after: len(content) / 2, tags: []string{`"a"`}, ranges: true}
	if _, _, _, err := downloading(t, serve, registry.Download{Progress: progress}); err != nil {
		t.Fatal(err)
	}
	if size := int64(len(content)); last != size || total != size {
		t.Errorf("at the end there are %d of %d bytes, want %d", last, total, size)
	}
}

func TestDownloadLimit(t *testing.T) {
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(content); err != nil {
				return
			}
		}
	})
	if got, _, waits, err := downloading(t, endless, registry.Download{Limit: 1 << 20}); err == nil ||
		!strings.Contains(err.Error(), "larger than") || len(waits) > 0 || len(got) > 2<<20 {
		t.Errorf("got %d bytes, %v, after %d repetitions", len(got), err, len(waits))
	}
}

// A request that a broken connection keeps from being answered is repeated.
func TestRequestIsRepeated(t *testing.T) {
	server := registrytest.Start(t)
	var asked int
	server.Handle("/x", func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusOK)
	})
	client := server.Registries(nil)
	location := &url.URL{Scheme: "https", Host: server.Host, Path: "/x"}
	resp, err := client.Open(t.Context(), location, "x")
	if err != nil || asked != 3 {
		t.Fatalf("after %d requests, %v", asked, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	reason := errors.New("enough")
	client.Pause = func(context.Context, time.Duration) error { return reason }
	asked = 0
	if err := refused(t, client, location); !errors.Is(err, reason) {
		t.Errorf("an interrupt while it waits: %v", err)
	}
}

// refused returns the error of a request that is to fail.
func refused(t *testing.T, client *registry.Client, location *url.URL) error {
	t.Helper()
	resp, err := client.Open(t.Context(), location, "x")
	if err == nil {
		err = resp.Body.Close()
		t.Errorf("%s was answered", location)
	}
	return err
}

// The variables of terraform count.
func TestEnvironment(t *testing.T) {
	server := registrytest.Start(t)
	var asked atomic.Int64
	server.Handle("/x", func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	})
	server.Handle("/silent", func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	})
	client := server.Registries([]string{registry.RetryVariable + "=4", registry.TimeoutVariable + "=1"})
	if err := refused(t, client, &url.URL{Scheme: "https", Host: server.Host, Path: "/x"}); err == nil || asked.Load() != 5 {
		t.Errorf("%v after %d requests, want 5", err, asked.Load())
	}
	client = server.Registries([]string{registry.RetryVariable + "=0", registry.TimeoutVariable + "=1"})
	asked.Store(0)
	if err := refused(t, client, &url.URL{Scheme: "https", Host: server.Host, Path: "/silent"}); err == nil || asked.Load() > 1 {
		t.Errorf("%v after %d requests, want an error after one", err, asked.Load())
	}
}
