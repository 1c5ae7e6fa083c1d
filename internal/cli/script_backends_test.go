// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"crypto/md5" //nolint:gosec // it is how S3 names the contents of an object
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// backendsCommand implements the command backends, which serves states of root modules: those of
// the backend http below $BACKENDS/http, with locks, and those of s3 at the end point $BACKENDS/s3.
// While there is a file refuse-states in the directory of the script, it takes no states.
func backendsCommand(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 0 {
			ts.Fatalf("usage: backends")
		}
		refuse := ts.MkAbs("refuse-states")
		server := httptest.NewServer(&backends{refuses: func() bool {
			_, err := os.Stat(refuse)
			return err == nil
		}})
		t.Cleanup(server.Close)
		ts.Setenv("BACKENDS", server.URL)
	}
}

// backends is a server for both backends. It keeps states by their paths.
type backends struct {
	refuses func() bool

	mu struct {
		sync.Mutex
		states, locks map[string][]byte
	}
}

// ServeHTTP implements [http.Handler].
func (b *backends) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.states == nil {
		b.mu.states, b.mu.locks = map[string][]byte{}, map[string][]byte{}
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	isWrite := r.Method == http.MethodPost || r.Method == http.MethodPut
	switch {
	case isWrite && !strings.HasSuffix(r.URL.Path, ".tflock") && b.refuses():
		http.Error(w, "no space left", http.StatusInsufficientStorage)
	case r.Method == "LOCK" || r.Method == "UNLOCK":
		b.lock(w, r, content)
	case r.Method == http.MethodGet && r.URL.Query().Has("list-type"):
		b.list(w, r)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		b.read(w, r)
	case isWrite && r.Header.Get("If-None-Match") == "*" && b.mu.states[r.URL.Path] != nil:
		w.WriteHeader(http.StatusPreconditionFailed)
	case isWrite:
		b.mu.states[r.URL.Path] = content
		w.Header().Set("ETag", etag(content))
	case r.Method == http.MethodDelete:
		delete(b.mu.states, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (b *backends) lock(w http.ResponseWriter, r *http.Request, content []byte) {
	if r.Method == "UNLOCK" {
		delete(b.mu.locks, r.URL.Path)
		return
	}
	if held := b.mu.locks[r.URL.Path]; held != nil {
		w.WriteHeader(http.StatusLocked)
		_, _ = w.Write(held)
		return
	}
	b.mu.locks[r.URL.Path] = content
}

func (b *backends) read(w http.ResponseWriter, r *http.Request) {
	state := b.mu.states[r.URL.Path]
	if state == nil {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code><Message>There is no such state.</Message></Error>")
		}
		return
	}
	w.Header().Set("ETag", etag(state))
	w.Header().Set("Content-Length", fmt.Sprint(len(state)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(state)
	}
}

// list answers which objects there are, which s3 asks to find workspaces.
func (b *backends) list(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Key  string
		Size int
	}
	var result struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		KeyCount    int
		IsTruncated bool
		Contents    []object
	}
	for path, state := range b.mu.states {
		key, inBucket := strings.CutPrefix(path, strings.TrimSuffix(r.URL.Path, "/")+"/")
		if inBucket && strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
			result.Contents = append(result.Contents, object{key, len(state)})
		}
	}
	slices.SortFunc(result.Contents, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
	result.KeyCount = len(result.Contents)
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(result)
}

func etag(content []byte) string { return fmt.Sprintf("%q", fmt.Sprintf("%x", md5.Sum(content))) } //nolint:gosec // as above
