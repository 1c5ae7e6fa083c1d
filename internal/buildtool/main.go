// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command buildtool prepares the needs of the Makefile beyond the go command.
//
//	go run ./internal/buildtool mirror   # providers for tests; prints the path of a CLI configuration that uses them
//	go run ./internal/buildtool engine   # prints the path of terraform or tofu; builds tofu where neither exists
//	go run ./internal/buildtool engine-if-there # prints the path of terraform or tofu, or nothing
//	go run ./internal/buildtool skip-file # empties the file in which tests record that they are skipped, and prints its path
//	go run ./internal/buildtool skipped  # prints its contents, by reasons
//	go run ./internal/buildtool tofu     # prints the path of tofu; builds it where it does not exist
//	go run ./internal/buildtool tofu-if-there # prints the path of tofu, or nothing
//	go run ./internal/buildtool tofu-path # prints PATH with tofu in front and without terraform; builds tofu as above
//	go run ./internal/buildtool objects  # builds the servers of object storage that tests run, and prints their paths
//	go run ./internal/buildtool temporal # builds cairn-server, which runs Temporal for tests, and prints its path
//	go run ./internal/buildtool licences # writes the licence texts of all modules linked into cairn, and prints the path of the file
//	go run ./internal/buildtool server-licences FILE # writes those of cairn-server to a file
//	go run ./internal/buildtool sbom PROGRAM FILE VERSION # writes the modules of a program with their licences to a file
//	go run ./internal/buildtool images DIST # writes the container images of a release that GoReleaser has made to DIST/images
//	go run ./internal/buildtool race-packages # prints the packages whose tests run under the race detector
//	go run ./internal/buildtool cache    # prints the path of the cache
//
// Results are kept in the cache (see package toolcache), so that a second run is fast. Steps that
// take long are announced on standard error.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "buildtool:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	ofRelease := map[string]int{"server-licences": 1, "sbom": 3, "images": 1}
	if len(args) == 0 || len(args) != 1+ofRelease[args[0]] {
		return fmt.Errorf("usage: go run ./internal/buildtool " +
			"mirror|engine|engine-if-there|skip-file|skipped|tofu|tofu-if-there|tofu-path|objects|temporal|licences|race-packages|cache|" +
			"server-licences FILE|sbom PROGRAM FILE VERSION|images DIST")
	}
	cache, err := toolcache.Open(os.Stderr)
	if err != nil {
		return err
	}
	var result string
	// Long because there is a case for each command, which is named above.
	switch args[0] {
	case "mirror":
		result, err = mirror(ctx, cache)
	case "engine":
		result, err = engine(ctx, cache)
	case "engine-if-there":
		result = cache.Engine()
	case "skip-file":
		result, err = newSkipFile(cache)
	case "skipped":
		return printSkipped(os.Stdout, skipFile(cache))
	case "tofu":
		result, err = cache.Tofu(ctx)
	case "tofu-if-there":
		result = cache.TofuIfThere()
	case "tofu-path":
		result, err = cache.TofuPath(ctx)
	case "objects":
		result, err = objectServers(ctx, cache)
	case "temporal":
		result, err = cache.Server(ctx)
	case "licences":
		result, err = licences(ctx)
	case "server-licences":
		result, err = serverLicences(ctx, args[1])
	case "sbom":
		result, err = sbom(ctx, args[1], args[2], args[3])
	case "images":
		result, err = images(args[1])
	case "race-packages":
		result, err = racePackages(ctx)
	case "cache":
		result = cache.Dir()
	default:
		err = fmt.Errorf("no command %q", args[0])
	}
	if err != nil {
		return err
	}
	fmt.Println(result)
	return nil
}

// mirror builds all providers and returns the path of a CLI configuration that takes them from the
// mirror.
func mirror(ctx context.Context, cache *toolcache.Cache) (string, error) {
	dir, err := cache.Mirror(ctx, toolcache.Fake, toolcache.Time)
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache.Dir(), "cli.tfrc")
	if err := os.WriteFile(path, toolcache.CLIConfig(dir), 0o600); err != nil {
		return "", fmt.Errorf("writing the CLI configuration: %w", err)
	}
	return path, nil
}

// engine returns the path of an engine and builds one if there is none.
func engine(ctx context.Context, cache *toolcache.Cache) (string, error) {
	if path := cache.Engine(); path != "" {
		return path, nil
	}
	return cache.Tofu(ctx)
}

// objectServers returns the paths of all servers of object storage, a line each.
func objectServers(ctx context.Context, cache *toolcache.Cache) (string, error) {
	var paths []string
	for _, server := range []toolcache.Program{toolcache.Versitygw, toolcache.GoFakeS3, toolcache.FakeGCS} {
		path, err := cache.Program(ctx, server)
		if err != nil {
			return "", err
		}
		paths = append(paths, path)
	}
	azurite, err := cache.Azurite(ctx)
	if err != nil {
		return "", err
	}
	return strings.Join(append(paths, azurite[len(azurite)-1]), "\n"), nil
}
