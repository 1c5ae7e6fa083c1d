// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/cli"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/testenv"
)

var (
	killsFlag = flag.Int("kills", 6, "kill so many times, in lives of another seed each")
	cutsFlag  = flag.Int("cuts", 6, "cut the power so many times, in lives of another seed each")
	storeFlag = flag.String("store", "sqlite", "keep the states in `sqlite|directory|postgres|s3|gofakes3|gcs`; a server is killed, too")

	togetherFlag = flag.Duration("together", 5*time.Second, "have users change one stack for so long")
	usersFlag    = flag.Int("users", 4, "so many users at the same time")
	basesFlag    = flag.Int("bases", 2, "a stack of ten times as many components")

	seedFlag = flag.Uint64("seed", 0, "live only the life of this seed")
)

// mainVariable makes the test binary the program that is killed.
const mainVariable = "CAIRN_SOAK_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], session.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	testenv.ResetSignals()
	os.Exit(m.Run())
}

// tally counts the events of all lives.
type tally struct {
	mu struct {
		sync.Mutex
		left   int // kills
		counts map[string]int
	}
}

func (y *tally) add(what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.mu.counts[what]++
}

// kill counts a kill.
func (y *tally) kill(kind string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.mu.left--
	y.mu.counts["kills of "+kind]++
}

func (y *tally) done() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.mu.left <= 0
}

func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(y.mu.counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", what, y.mu.counts[what]))
	}
	return strings.Join(parts, ", ")
}

func TestKills(t *testing.T) {
	config := testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t))
	server := startDatabase(t)
	for i := range modulesEngines {
		engine := &modulesEngines[i]
		t.Run(engine.name, func(t *testing.T) {
			sum := &tally{}
			sum.mu.left, sum.mu.counts = *killsFlag, map[string]int{}
			opts := lifeOptions{engine: engine, setting: engine.setting(t), config: config, sum: sum, database: server}
			if opts.seed = *seedFlag; opts.seed != 0 {
				newLife(t, opts).live()
				t.Log(sum)
				return
			}
			opts.seed = testenv.Seed(t)
			liveAll(t, opts)
		})
	}
}

// liveAll lives until there were enough kills.
func liveAll(t *testing.T, opts lifeOptions) {
	first := opts.seed
	var next sync.Mutex
	t.Run("lives", func(t *testing.T) {
		for worker := range runtime.NumCPU() {
			t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
				t.Parallel()
				for !opts.sum.done() && !t.Failed() {
					next.Lock()
					mine := opts
					opts.seed++
					next.Unlock()
					t.Run(fmt.Sprint(mine.seed), func(t *testing.T) {
						if l := newLife(t, mine); mine.cuts {
							l.liveWithoutPower()
						} else {
							l.live()
						}
					})
				}
			})
		}
	})
	t.Logf("seeds from %d to %d; %s", first, opts.seed-1, opts.sum)
}
