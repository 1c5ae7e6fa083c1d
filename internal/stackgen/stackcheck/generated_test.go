// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcheck_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2/hcldec"

	"github.com/cairnstacks/cairn/internal/stackgen"
	"github.com/cairnstacks/cairn/internal/stackgen/stackcheck"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

var (
	seedFlag     = flag.Uint64("seed", seedFromEnvironment(), "check only the stack of this seed (or CAIRN_SEED)")
	durationFlag = flag.Duration("for", 0, "check stacks of random seeds for so long")
)

func seedFromEnvironment() uint64 {
	seed, _ := strconv.ParseUint(os.Getenv("CAIRN_SEED"), 10, 64)
	return seed
}

// seeds runs a check for the seeds that were asked for: one, some for so long, or the first so many.
func seeds(t *testing.T, n uint64, check func(t *testing.T, seed uint64)) {
	run := func(seed uint64) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("again with: go test ./internal/stackgen/stackcheck -run %s -seed %d", parent(t), seed)
				}
			}()
			check(t, seed)
		})
	}
	switch {
	case *seedFlag != 0:
		run(*seedFlag)
	case *durationFlag != 0:
		first := rand.Uint64() >> 16 //nolint:gosec // which stacks are checked is left to chance
		t.Logf("seeds from %d", first)
		for end := time.Now().Add(*durationFlag); time.Now().Before(end); first++ {
			run(first)
		}
	default:
		for seed := range n {
			run(seed + 1)
		}
	}
}

func parent(t *testing.T) string {
	name, _, _ := cutLast(t.Name())
	return name
}

func cutLast(name string) (before, after string, found bool) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// inMemory makes engines that need no process.
func inMemory(_ testing.TB, config *stackconfig.Config, fail func(stackcheck.Work) error) engine.Engine {
	opts := memengine.Options{
		StackDir:  config.Root.Dir,
		Providers: map[stackaddrs.Provider]hcldec.Spec{stackgen.Provider: stackgen.ProviderSpec},
	}
	if fail != nil {
		opts.Before = func(_ context.Context, call memengine.Call) error {
			switch call.Operation {
			case memengine.Apply, memengine.Create, memengine.Update, memengine.Delete:
				return fail(stackcheck.Work{Component: call.Component.String(), Resource: call.Resource})
			}
			return nil
		}
	}
	return memengine.New(opts)
}

func TestGeneratedStacks(t *testing.T) {
	seeds(t, 40, func(t *testing.T, seed uint64) {
		stack := stackgen.Generate(stackgen.Options{Seed: seed, Components: int(1 + seed%10), Providers: seed%2 == 0})
		defer func() {
			if t.Failed() {
				t.Logf("first version:\n%s\nsecond version:\n%s", stack.First, stack.Second)
			}
		}()
		stackcheck.Check(t, stackcheck.Subject{Stack: stack, Dir: t.TempDir() + "/stack", Engine: inMemory, CanFail: true})
	})
}

// Whatever is wrong, somebody is told.
func TestBrokenStacks(t *testing.T) {
	seeds(t, 80, func(t *testing.T, seed uint64) {
		opts := stackgen.Options{Seed: seed, Components: 6, Providers: seed%2 == 0}
		version, what := stackgen.Break(opts, seed)
		if what == "" {
			t.Skip("nothing to break in this way")
		}
		defer func() {
			if t.Failed() {
				t.Logf("broken so that %s:\n%s", what, version)
			}
		}()
		diags := stackcheck.CheckBroken(t, version, t.TempDir()+"/stack", func(config *stackconfig.Config) engine.Engine { return inMemory(t, config, nil) })
		if !diags.HasErrors() {
			t.Errorf("no error although %s", what)
		}
	})
}
