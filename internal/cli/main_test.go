// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/order"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cairn": func() {
			os.Exit(Main(testContext(), os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
		"panics-in-run": panicInRun,
	})
}

// panicInRun shows a run in which the work on a node panics while the display is drawn.
func panicInRun() {
	var b order.Builder
	b.Add(order.Node{Name: "node"})
	graph, err := b.Build()
	if err != nil {
		panic(err)
	}
	s := newSession(Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, dependencies{})
	display := s.newRunDisplay(runDisplayOptions{title: "Running", total: 2, parallel: true})
	display.during(func() {
		graph.Run(testContext(), order.RunOptions{}, func(context.Context, int) error {
			node := display.output.Node("node")
			fmt.Fprintln(node.Out, "printed before")
			if err := node.Close(); err != nil {
				return err
			}
			<-time.After(300 * time.Millisecond) // so that frames are drawn
			panic("work failed")
		})
	})
}
