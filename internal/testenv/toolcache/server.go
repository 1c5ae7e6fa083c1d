// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"context"
	"fmt"
	"path/filepath"
)

// serverSource is the folder of the module of cairn-server below the repository's root.
const serverSource = "server"

// Server returns the path of cairn-server, which runs Temporal, built from the sources of this
// clone. The first build compiles all of Temporal, in more than five minutes of processor time.
func (c *Cache) Server(ctx context.Context) (string, error) {
	key, err := c.digest(serverSource, serverSource+"/go.mod", serverSource+"/go.sum")
	if err != nil {
		return "", err
	}
	const name = "cairn-server"
	builder := c.forAllClones()
	dir := filepath.Join(builder.dir, name+"-"+key)
	built := filepath.Join(dir, exe(name))
	err = builder.provide(built, func(out string) error {
		removeUnused(builder.dir, name+"-", filepath.Base(dir))
		fmt.Fprintf(c.log, "building %s, once; compiling Temporal takes minutes the first time\n", name)
		// The flags are those of the Makefile, so that all builds share the compiled packages.
		return goTool(ctx, filepath.Join(c.root, serverSource), nil, "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./cmd/"+name)
	})
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	return built, markUsed(dir)
}
