// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore/locations"
)

// storeSizes are the numbers of components with which stores are compared.
var storeSizes = []int{300, 10_000}

// storeSteps are the commands that are measured in each store, one after the other.
var storeSteps = []struct {
	title string
	args  []string
}{
	{"plan", []string{"plan", "-out=" + stackPlan}},
	{"apply", []string{"apply", stackPlan}},
	{"no changes", []string{"plan"}},
	{"destroy", []string{"destroy", "-auto-approve"}},
}

// measureStores compares states in files with those in the place of opts.
func (r *report) measureStores(ctx context.Context, opts options, dir string) error {
	if opts.cairn == "" || !locations.NeedsKey(opts.database) {
		return errors.New("-only=stores needs -cairn, and -database with the URL of a place that has the states of many stacks")
	}
	heads := []string{"components", "state in"}
	for _, step := range storeSteps {
		heads = append(heads, step.title+" s")
	}
	for _, step := range storeSteps {
		heads = append(heads, step.title+" ×")
	}
	table := newTable(heads...)
	for _, n := range storeSizes {
		rounds := opts.rounds
		if n > 1000 {
			rounds = opts.largeRounds
		}
		if err := measureStoresWith(ctx, table, opts, n, rounds, filepath.Join(dir, fmt.Sprint("stores-", n))); err != nil {
			return err
		}
	}
	r.section("States in another place", fmt.Sprintf("Wide stacks of the same modules, with the native engine. "+
		"Medians of %d rounds (10 000 components: %d). The server is on the same machine. "+
		"The last columns say how many times as long it takes as with a file.",
		opts.rounds, opts.largeRounds), table)
	return nil
}

// measureStoresWith adds the rows for stacks of n components.
func measureStoresWith(ctx context.Context, table *table, opts options, n, rounds int, dir string) error {
	f, err := newFixture(dir, n, wide, builtInModule())
	if err != nil {
		return err
	}
	scheme, _, _ := strings.Cut(opts.database, ":")
	kinds := []string{"an SQLite file", scheme}
	took := make([][][]float64, len(kinds)) // seconds by kind, step and round
	for i := range kinds {
		took[i] = make([][]float64, len(storeSteps))
	}
	for round := range rounds {
		if err := f.reset(); err != nil {
			return err
		}
		for i, location := range []string{
			"cairn.state.db",
			locations.WithKey(opts.database, fmt.Sprintf("bench_%d_%d_%d", time.Now().UnixNano(), n, round)),
		} {
			p := &program{kinds[i], opts.cairn, "native"}
			f.env = []string{"CAIRN_STATE=" + location}
			for step, s := range storeSteps {
				progress("stores: %d components, %s, %s, round %d", n, kinds[i], s.title, round+1)
				var t timing
				cost, err := p.command(ctx, f, &t, s.args...)
				if err != nil {
					return err
				}
				took[i][step] = append(took[i][step], cost.elapsed.Seconds())
			}
		}
	}
	if rounds == 0 {
		return nil
	}
	for i, kind := range kinds {
		cells := []any{n, kind}
		for step := range storeSteps {
			cells = append(cells, seconds(median(took[i][step])))
		}
		for step := range storeSteps {
			cells = append(cells, fmt.Sprintf("%.2f", median(took[i][step])/median(took[0][step])))
		}
		table.row(cells...)
	}
	return nil
}
