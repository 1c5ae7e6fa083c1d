// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestMain(m *testing.M) {
	testscript.Main(withSignals{m}, map[string]func(){
		"cairn": func() {
			os.Exit(Main(testContext(), os.Args[1:], session.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
		"await":         await,
		"panics-in-run": panicInRun,
	})
}

// withSignals resets signals for the tests, and not for the programs that this one is, too.
type withSignals struct{ tests *testing.M }

// Run runs the tests.
func (w withSignals) Run() int {
	testenv.ResetSignals()
	return w.tests.Run()
}

// await waits until a file exists, or until a text is in it, in place of loops in scripts that know
// no limit.
func await() {
	text := ""
	if len(os.Args) > 2 {
		text = os.Args[2]
	}
	limit := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	for {
		if content, err := os.ReadFile(os.Args[1]); err == nil && strings.Contains(string(content), text) {
			return
		}
		select {
		case <-limit:
			fmt.Fprintln(os.Stderr, "did not appear within a minute:", strings.Join(os.Args[1:], " "))
			os.Exit(1)
		case <-tick.C:
		}
	}
}

// panicInRun shows a run in which the work on a node panics while the display is drawn.
func panicInRun() {
	var b order.Builder
	b.Add(order.Node{Name: "node"})
	graph, err := b.Build()
	if err != nil {
		panic(err)
	}
	s := session.New(session.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, session.Dependencies{})
	display := s.NewRunDisplay(session.RunDisplayOptions{Title: "Running", Total: 2, Parallel: true})
	display.During(func() {
		graph.Run(testContext(), order.RunOptions{}, func(context.Context, int) error {
			node := display.Output.Node("node")
			fmt.Fprintln(node.Out, "printed before")
			if err := node.Close(); err != nil {
				return err
			}
			<-time.After(300 * time.Millisecond) // so that frames are drawn
			panic("work failed")
		})
	})
}
