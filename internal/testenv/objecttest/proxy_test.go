// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objecttest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
)

func TestRestart(t *testing.T) {
	for _, kind := range objecttest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			start := time.Now()
			server := objecttest.Start(t, kind)
			t.Logf("started in %s", time.Since(start).Round(time.Millisecond))
			bucket := open(t, server.Access())
			if err := create(t.Context(), bucket, "a", "first"); err != nil {
				t.Fatal(err)
			}
			server.Stop(t)
			server.Run(t)
			if got, err := bucket.ReadAll(t.Context(), "a"); err != nil || string(got) != "first" {
				t.Errorf("after a stop: got %q, error %v", got, err)
			}
			if err := create(t.Context(), bucket, "b", "second"); err != nil {
				t.Fatal(err)
			}
			server.Restart(t)
			got, err := bucket.ReadAll(t.Context(), "b")
			if kind == objecttest.Azure {
				t.Logf("after a kill: got %q, error %v", got, err) // either is legal: see Server.Kill
			} else if err != nil || string(got) != "second" {
				t.Errorf("after a kill: got %q, error %v", got, err)
			}
		})
	}
}

// request sends a request without a signature, which gofakes3 accepts, over a connection of its
// own. The client of the standard library does not try again on those.
func request(t *testing.T, proxy *objecttest.Proxy, method, key, text string) (int, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+proxy.Address()+"/"+objecttest.Bucket+"/"+key, strings.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	r.Close = true
	if method == http.MethodPut {
		r.Header.Set("If-None-Match", "*")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	got, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(got), errors.Join(err, answer.Body.Close())
}

func TestFaults(t *testing.T) {
	proxy := objecttest.NewProxy(t, objecttest.Start(t, objecttest.GoFakeS3), 1)
	for _, test := range []struct {
		name   string
		faults objecttest.Faults
		status int // of the request that creates an object; 0 if there is no answer
		after  int // of the next one, which reads it
		count  func(objecttest.Counts) int
	}{
		{"none", objecttest.Faults{}, http.StatusOK, http.StatusOK, func(objecttest.Counts) int { return 1 }},
		{
			"delay",
			objecttest.Faults{MaxDelay: time.Millisecond},
			http.StatusOK, http.StatusOK,
			func(c objecttest.Counts) int { return c.Delayed },
		},
		{
			"repeat",
			objecttest.Faults{Repeat: 1},
			http.StatusPreconditionFailed, http.StatusOK,
			func(c objecttest.Counts) int { return c.Repeated },
		},
		{
			"cut-before",
			objecttest.Faults{CutBefore: 1},
			0, http.StatusNotFound,
			func(c objecttest.Counts) int { return c.CutBefore },
		},
		{
			"cut-after",
			objecttest.Faults{CutAfter: 1},
			0, http.StatusOK,
			func(c objecttest.Counts) int { return c.CutAfter },
		},
		{
			"unavailable",
			objecttest.Faults{Unavailable: 1},
			http.StatusServiceUnavailable, http.StatusNotFound,
			func(c objecttest.Counts) int { return c.Unavailable },
		},
		{"alone", objecttest.Faults{Reorder: 1}, http.StatusOK, http.StatusOK, func(c objecttest.Counts) int { return 1 - c.Reordered }},
	} {
		t.Run(test.name, func(t *testing.T) {
			proxy.ResetCounts()
			proxy.SetFaults(test.faults)
			status, _, err := request(t, proxy, http.MethodPut, test.name, "text")
			if status != test.status || (err != nil) != (test.status == 0) {
				t.Errorf("creating: got status %d, error %v; want status %d", status, err, test.status)
			}
			counts := proxy.Counts()
			if test.count(counts) != 1 || counts.Total() != 1 || counts.Requests[http.MethodPut] != 1 {
				t.Errorf("counts: got %+v", counts)
			}
			proxy.SetFaults(objecttest.Faults{})
			if status, _, err := request(t, proxy, http.MethodGet, test.name, ""); status != test.after || err != nil {
				t.Errorf("reading: got status %d, error %v; want status %d", status, err, test.after)
			}
		})
	}
}

func TestReorder(t *testing.T) {
	proxy := objecttest.NewProxy(t, objecttest.Start(t, objecttest.GoFakeS3), 1)
	proxy.SetFaults(objecttest.Faults{Reorder: 1})
	var wg sync.WaitGroup
	first := 0
	wg.Go(func() {
		var err error
		if first, _, err = request(t, proxy, http.MethodPut, "a", "first"); err != nil {
			t.Error(err)
		}
	})
	testenv.Within(t, "the first request arrives", func() {
		for proxy.Counts().Total() == 0 {
			<-time.After(time.Millisecond)
		}
	})
	proxy.SetFaults(objecttest.Faults{})
	second, _, err := request(t, proxy, http.MethodPut, "a", "second")
	wg.Wait()
	if err != nil || first != http.StatusPreconditionFailed || second != http.StatusOK {
		t.Errorf("statuses: got %d and %d, error %v; want the second to create the object", first, second, err)
	}
	if got := proxy.Counts().Reordered; got != 1 {
		t.Errorf("reordered: got %d, want 1", got)
	}
}

func TestDown(t *testing.T) {
	proxy := objecttest.NewProxy(t, objecttest.Start(t, objecttest.GoFakeS3), 1)
	proxy.SetDown(t, true)
	if _, _, err := request(t, proxy, http.MethodGet, "a", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("down: got error %v, want one of a refused connection", err)
	}
	proxy.SetDown(t, false)
	if status, _, err := request(t, proxy, http.MethodGet, "a", ""); status != http.StatusNotFound || err != nil {
		t.Errorf("up again: got status %d, error %v", status, err)
	}
}

// TestSeed shows that the same requests have the same faults with the same seed.
func TestSeed(t *testing.T) {
	server := objecttest.Start(t, objecttest.GoFakeS3)
	statuses := func(seed uint64) (all []int) {
		proxy := objecttest.NewProxy(t, server, seed)
		proxy.SetFaults(objecttest.Faults{CutBefore: 0.3, Unavailable: 0.3})
		for range 30 {
			status, _, _ := request(t, proxy, http.MethodGet, "a", "")
			all = append(all, status)
		}
		return all
	}
	first, again, other := statuses(1), statuses(1), statuses(2)
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("statuses: got %v and %v with a seed, %v with another", first, again, other)
	}
}

// TestClientsWithFaults shows that clients get along with faults, and with signatures of requests
// that are repeated.
func TestClientsWithFaults(t *testing.T) {
	for _, kind := range objecttest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			proxy := objecttest.NewProxy(t, objecttest.Start(t, kind), testenv.Seed(t))
			bucket := open(t, proxy.Access())
			proxy.SetFaults(objecttest.Faults{
				MaxDelay: 5 * time.Millisecond, Repeat: 0.2, Reorder: 0.05, CutBefore: 0.05, CutAfter: 0.05, Unavailable: 0.05,
			})
			for i := range 10 {
				key := string(rune('a' + i))
				err := create(t.Context(), bucket, key, key)
				// A client that was not answered asks again, and finds the object that it has created.
				if err != nil && gcerrors.Code(err) != gcerrors.FailedPrecondition {
					t.Logf("creating %q: %v, code %v", key, err, gcerrors.Code(err))
				}
			}
			proxy.SetFaults(objecttest.Faults{})
			for _, key := range list(t, bucket) {
				if got, err := bucket.ReadAll(t.Context(), key); err != nil || string(got) != key {
					t.Errorf("%q: got %q, error %v", key, got, err)
				}
			}
			t.Logf("%+v", proxy.Counts())
		})
	}
}
