// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const modulePath = "github.com/cairnstacks/cairn"

// raced are the packages in which goroutines, processes or locks matter. A test among them that the
// race detector can't find anything in says so itself (testenv.SkipUnderRace, the condition
// [race]).
var raced = []string{
	"promising/...",
	"stackruntime/...",
	"internal/cli/...",
	"internal/engine/auto",
	"internal/engine/binary",
	"internal/engine/binary/command",
	"internal/engine/binary/limiter",
	"internal/engine/binary/rundir",
	"internal/engine/binary/runner",
	"internal/engine/native",
	"internal/engine/native/applying",
	"internal/engine/native/journal",
	"internal/engine/native/planning",
	"internal/engine/remote",
	"internal/fleet/...",
	"internal/format",
	"internal/gitdiff",
	"internal/install",
	"internal/lsp/...",
	"internal/operation/deployment",
	"internal/order/...",
	"internal/page",
	"internal/process",
	"internal/providers/...",
	"internal/rpcapi",
	"internal/rpcapi/dependencies",
	"internal/rpcapi/packages",
	"internal/rpcapi/stacks",
	"internal/show",
	"internal/states/...",
	"internal/statestore/...",
	"internal/telemetry",
	"internal/workers/calls",
	"internal/workers/components",
	"internal/workers/queue/memory",
}

// unraced are those of them in which nothing starts a goroutine, or only as packages that stay do:
// readers and codecs.
var unraced = []string{
	"internal/cli/cmdline",
	"internal/engine/native/journal",
	"internal/lsp/language",
	"internal/lsp/language/schema",
	"internal/lsp/language/syntax",
	"internal/lsp/outline",
	"internal/lsp/position",
	"internal/providers/builtin",
	"internal/providers/locks",
	"internal/providers/release",
	"internal/states/compile",
	"stackruntime/engine",
	"stackruntime/internal/reference",
	"stackruntime/internal/stackeval/claims",
	"stackruntime/internal/stackeval/components",
	"stackruntime/internal/stackeval/expr",
	"stackruntime/internal/stackeval/foreach",
	"stackruntime/internal/stackeval/inputs",
	"stackruntime/internal/stackeval/planning",
	"stackruntime/internal/stackeval/steps",
	"stackruntime/internal/stackeval/variables",
	"stackruntime/marks",
	"stackruntime/safevalue",
	"stackruntime/stackplan",
	"stackruntime/stackstate",
	"stackruntime/storedvalue",
	"stackruntime/tfstate",
}

// racePackages returns the import paths of the packages whose tests run under the race detector, a
// line each.
func racePackages(ctx context.Context) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", modulePath+"/...")
	list.Stderr = os.Stderr
	packages, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("listing packages: %w", err)
	}
	chosen, err := choosePackages(strings.Fields(string(packages)), raced, unraced)
	return strings.Join(chosen, "\n"), err
}

// choosePackages returns the packages that a pattern of with matches, and none of without. A
// pattern that matches nothing is an error: its package was renamed and would leave the tests
// unnoticed.
func choosePackages(packages, with, without []string) ([]string, error) {
	for _, pattern := range with {
		if !slices.ContainsFunc(packages, func(path string) bool { return matchPackage(pattern, path) }) {
			return nil, fmt.Errorf("no package matches %q", pattern)
		}
	}
	packages = slices.DeleteFunc(slices.Clone(packages), func(path string) bool { return !matchAny(with, path) })
	for _, pattern := range without {
		if !slices.ContainsFunc(packages, func(path string) bool { return matchPackage(pattern, path) }) {
			return nil, fmt.Errorf("no package that is tested matches %q", pattern)
		}
	}
	return slices.DeleteFunc(packages, func(path string) bool { return matchAny(without, path) }), nil
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matchPackage(pattern, path) })
}

// matchPackage reports whether a package of the module is the one of a pattern, or below it if the
// pattern ends in "/...".
func matchPackage(pattern, path string) bool {
	path = strings.TrimPrefix(path, modulePath+"/")
	dir, below := strings.CutSuffix(pattern, "/...")
	return path == dir || below && strings.HasPrefix(path, dir+"/")
}
