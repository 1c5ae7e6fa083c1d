// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/cli"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/queue/temporal"
)

var (
	faultsFlag  = flag.Int("faults", 8, "bring so many faults, in lives of another seed each")
	seedFlag    = flag.Uint64("seed", 0, "live only the life of this seed")
	historyFlag = flag.String("history", "", "write what has happened in each life into `DIR`")
	speedFlag   = flag.Bool("speed", false, "measure the speed of units on workers")
)

// mainVariable makes the test binary the program that workers and runs are processes of.
const mainVariable = "CAIRN_WORKERSTEST_MAIN"

// The times after which somebody else may take over, in all processes.
const (
	leaseTime = 8 * time.Second
	liveness  = 4 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) != "" {
		statestore.LeaseTime, temporal.Liveness = leaseTime, liveness
		calls.Hasten(leaseTime)
		os.Exit(cli.Main(context.Background(), os.Args[1:], session.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	testenv.ResetSignals()
	os.Exit(m.Run())
}
