// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"crypto/rand"
	"net/url"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// newStack returns the location of a stack that nobody has, in a bucket.
func newStack(t *testing.T, bucket string) string {
	t.Helper()
	u, err := url.Parse(bucket)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/some/prefix"
	return WithKey(u.String(), "network/"+rand.Text())
}

func TestServers(t *testing.T) {
	for _, kind := range objecttest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			if kind != objecttest.S3 {
				testenv.SkipUnderRace(t, "the same happens with S3")
			}
			server := objecttest.Start(t, kind)
			server.Access().SetEnv(t)
			storetest.Run(t, open, func(t *testing.T) string { return newStack(t, server.Access().Location) })
			t.Run("writers of disjoint parts", func(t *testing.T) { testDisjoint(t, newStack(t, server.Access().Location), 4, 3) })
		})
	}
}

// Requests that are delayed, repeated, held back, cut before and after they were handled, and
// refused change nothing.
func TestFaults(t *testing.T) {
	for _, kind := range objecttest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			if kind != objecttest.GCS { // whose client waits least
				testenv.SkipUnderRace(t, "the same happens with "+objecttest.GCS)
			}
			proxy := objecttest.NewProxy(t, objecttest.Start(t, kind), testenv.Seed(t))
			proxy.Access().SetEnv(t)
			location := newStack(t, proxy.Access().Location)
			proxy.SetFaults(objecttest.Faults{
				MaxDelay: 5 * time.Millisecond, Repeat: 0.1, Reorder: 0.05, CutBefore: 0.04, CutAfter: 0.04, Unavailable: 0.04,
			})
			testContention(t, location, 3, 2)
			testDisjoint(t, newStack(t, proxy.Access().Location), 2, 3)
			proxy.SetFaults(objecttest.Faults{})
			t.Logf("%+v", proxy.Counts())
		})
	}
}
