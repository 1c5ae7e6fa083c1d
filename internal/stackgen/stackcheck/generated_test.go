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
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/stackgen"
	"github.com/cairnstacks/cairn/internal/stackgen/stackcheck"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

var (
	seedFlag       = flag.Uint64("seed", seedFromEnvironment(), "check only the stack of this seed (or CAIRN_SEED)")
	durationFlag   = flag.Duration("for", 0, "check stacks of random seeds and all sizes for so long")
	componentsFlag = flag.Int("components", -1, "check stacks of about so many components; 0 leaves that to chance")
)

func seedFromEnvironment() uint64 {
	seed, _ := strconv.ParseUint(os.Getenv("CAIRN_SEED"), 10, 64)
	return seed
}

// selection says which stacks a test checks: the first so many seeds with a size that is enough for
// a test that is always run, or, for so long, random seeds and all sizes.
type selection struct {
	seeds uint64
	size  func(seed uint64) int
	sizes func(seed uint64) int // in runs for some time; nil leaves it to the generator
	share float64               // of the time
}

func (s selection) each(t *testing.T, check func(t *testing.T, seed uint64, size int)) {
	run := func(seed uint64) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			size := s.sizeOf(seed)
			defer func() {
				if t.Failed() {
					t.Logf("again with: go test ./internal/stackgen/stackcheck -run %s -seed %d -components %d", parent(t), seed, size)
				}
			}()
			check(t, seed, size)
		})
	}
	switch {
	case *seedFlag != 0:
		run(*seedFlag)
	case *durationFlag != 0:
		first := rand.Uint64() >> 16 //nolint:gosec // which stacks are checked is left to chance
		t.Logf("seeds from %d", first)
		seed := first
		for end := time.Now().Add(time.Duration(s.share * float64(*durationFlag))); time.Now().Before(end); seed++ {
			run(seed)
		}
		t.Logf("%d stacks", seed-first)
	default:
		for seed := range s.seeds {
			run(seed + 1)
		}
	}
}

func (s selection) sizeOf(seed uint64) int {
	switch {
	case *componentsFlag >= 0:
		return *componentsFlag
	case *durationFlag == 0:
		return s.size(seed)
	case s.sizes != nil:
		return s.sizes(seed)
	}
	return 0
}

func parent(t *testing.T) string {
	return t.Name()[:strings.LastIndexByte(t.Name(), '/')]
}

// inMemory makes engines that need no process.
func inMemory(t testing.TB, config *stackconfig.Config, fail func(component string) error) engine.Engine {
	t.Helper()
	opts := memengine.Options{
		Providers: map[stackaddrs.Provider]engine.ProviderSchema{stackgen.Provider: stackgen.ProviderSchema},
	}
	if fail != nil {
		opts.Before = func(_ context.Context, call memengine.Call) error {
			if call.Operation == memengine.Apply {
				return fail(call.Component.String())
			}
			return nil
		}
	}
	return stacktest.NewMemory(t, t.TempDir(), opts)
}

// realEngine makes engines that run real modules.
func realEngine(t testing.TB, config *stackconfig.Config, _ func(string) error) engine.Engine {
	t.Helper()
	return stacktest.NewEngine(t, stacktest.EngineOptions{
		WorkDir: t.TempDir(), Environ: append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, "")),
	})
}

func check(t *testing.T, opts stackgen.Options, subject stackcheck.Subject) {
	t.Helper()
	subject.Stack, subject.Dir = stackgen.Generate(opts), t.TempDir()+"/stack"
	defer func() {
		if t.Failed() {
			t.Logf("first version:\n%s\nsecond version:\n%s", subject.Stack.First, subject.Stack.Second)
		}
	}()
	stackcheck.Check(t, subject)
}

func TestGeneratedStacks(t *testing.T) {
	small := func(seed uint64) int { return int(1 + seed%6) } //nolint:gosec // fits
	selection{seeds: 16, size: small, share: 0.6}.each(t, func(t *testing.T, seed uint64, size int) {
		opts := stackgen.Options{Seed: seed, Components: size, Providers: seed%2 == 0, Repeatable: true}
		check(t, opts, stackcheck.Subject{Engine: inMemory})
	})
}

func TestGeneratedStacksOnRealEngine(t *testing.T) {
	small := func(seed uint64) int { return int(1 + seed%2) } //nolint:gosec // fits
	sizes := func(seed uint64) int { return int(1 + seed%8) } //nolint:gosec // fits
	selection{seeds: 3, size: small, sizes: sizes, share: 0.3}.each(t, func(t *testing.T, seed uint64, size int) {
		check(t, stackgen.Options{Seed: seed, Components: size}, stackcheck.Subject{Engine: realEngine, Real: true})
	})
}

// Every mistake is reported.
func TestBrokenStacks(t *testing.T) {
	small := func(uint64) int { return 6 }
	selection{seeds: 80, size: small, share: 0.1}.each(t, func(t *testing.T, seed uint64, size int) {
		opts := stackgen.Options{Seed: seed, Components: size, Providers: seed%2 == 0}
		version, what := stackgen.Break(opts, seed)
		if what == "" {
			t.Skip("nothing to break in this way")
		}
		defer func() {
			if t.Failed() {
				t.Logf("broken so that %s:\n%s", what, version)
			}
		}()
		diags := stackcheck.CheckBroken(t, version, t.TempDir()+"/stack", func(config *stackconfig.Config) engine.Engine {
			return inMemory(t, config, nil)
		})
		if !diags.HasErrors() {
			t.Errorf("no error although %s", what)
		}
	})
}
