// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/journal"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// BenchmarkJournal applies components of one object, ten at a time, by a provider that takes no
// time: without a journal, with one in memory, which is never synced, and with one on the disk of
// temporary files.
func BenchmarkJournal(b *testing.B) {
	const atOnce = 10
	for _, place := range []struct {
		name     string
		recorded bool
		dir      string // of temporary files; empty for the usual one
	}{{"none", false, ""}, {"memory", true, "/dev/shm"}, {"disk", true, ""}} {
		for _, n := range []int{300, 3000} {
			b.Run(fmt.Sprintf("%s/%d", place.name, n), func(b *testing.B) {
				if place.dir != "" {
					if _, err := os.Stat(place.dir); err != nil {
						b.Skip("needs a file system in memory: ", err)
					}
					b.Setenv("TMPDIR", place.dir)
				}
				c := nativetest.New(b, "-- main.tf --\nterraform {\n  required_providers {\n    fake = { source = \"cairnstacks/fake\" }\n  }\n}\n"+
					"resource \"fake_thing\" \"a\" {\n  name = \"a\"\n}\n")
				plan := c.Plan(b, nil)
				if plan.Diags.HasErrors() {
					b.Fatal(plan.Diags)
				}
				testenv.Measure(b, n, func() {
					var kept *journal.Journal
					if place.recorded {
						kept = journal.New(b.TempDir(), nil)
						kept.Bind(engine.Purpose{Secret: []byte("secret")})
					}
					components := make(chan int)
					var tasks sync.WaitGroup
					for range atOnce {
						tasks.Go(func() {
							for i := range components {
								if err := applyRecorded(b, c, plan, kept, engine.WorkID(fmt.Sprint(i))); err != nil {
									b.Error(err)
								}
							}
						})
					}
					for i := range n {
						components <- i
					}
					close(components)
					tasks.Wait()
					if kept != nil {
						if err := kept.Close(); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// applyRecorded applies a plan as a component of its own, with a record in a journal, which may be
// nil.
func applyRecorded(b *testing.B, c *nativetest.Component, plan *nativetest.Plan, kept *journal.Journal, id engine.WorkID) error {
	b.Helper()
	req := c.ApplyRequest(plan)
	var work *journal.Work
	if kept != nil {
		work = kept.Begin(id, "component.a", engine.Normal, nil)
		req.Journal = work
	}
	if result, diags := applying.Apply(b.Context(), req); diags.HasErrors() || len(result.State) == 0 {
		return diags
	}
	if kept == nil {
		return nil
	}
	if err := work.Finish(); err != nil {
		return err
	}
	return kept.Acknowledge(id)
}
