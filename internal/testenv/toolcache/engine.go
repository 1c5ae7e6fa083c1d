// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// TofuVersion is the version of OpenTofu that [Cache.Tofu] builds.
	TofuVersion = "1.12.6"

	tofuPackage = "github.com/opentofu/opentofu/cmd/tofu"

	// tofuModule is the module to build OpenTofu in. It needs its own fork of hcl, and replacements in
	// the go.mod of a dependency do not count: hence a module of its own, apart from ours, which uses
	// the real one.
	tofuModule = `module cairn.invalid/tofu

go 1.26

replace github.com/hashicorp/hcl/v2 => github.com/opentofu/hcl/v2 v2.20.2-0.20251021132045-587d123c2828
`
)

// Engine returns the path of terraform or else tofu, from PATH or as built earlier, and the empty
// string if there is none.
func (c *Cache) Engine() string {
	if path := lookPath("terraform"); path != "" {
		return path
	}
	return c.TofuIfThere()
}

// TofuIfThere returns the path of tofu, from PATH or as built earlier, and the empty string if
// there is none.
func (c *Cache) TofuIfThere() string {
	for _, name := range []string{"tofu", c.inClone(), c.tofuPath()} {
		if path := lookPath(name); path != "" {
			return path
		}
	}
	return ""
}

// Engines returns the paths of all engines that are there: terraform, and tofu from PATH or as
// built earlier.
func (c *Cache) Engines() []string {
	var found []string
	for _, path := range []string{lookPath("terraform"), c.TofuIfThere()} {
		if path != "" {
			found = append(found, path)
		}
	}
	return found
}

// lookPath returns the absolute path of a program, and the empty string if there is none.
func lookPath(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	return path
}

// inClone is where OpenTofu is looked for in the cache itself. With CAIRN_CACHE it is also built
// there.
func (c *Cache) inClone() string { return filepath.Join(c.dir, "bin", exe("tofu")) }

// tofuPath is where OpenTofu is built.
func (c *Cache) tofuPath() string {
	if c.user == "" {
		return c.inClone()
	}
	return filepath.Join(c.user, "tofu-"+TofuVersion, exe("tofu"))
}

// Tofu returns the path of tofu, from PATH or as built earlier, and builds it first if there is
// none, which takes minutes and about 3 GB of disk for Go's caches.
func (c *Cache) Tofu(ctx context.Context) (string, error) {
	if path := c.TofuIfThere(); path != "" {
		return path, nil
	}
	path := c.tofuPath()
	err := c.forAllClones().provide(path, func(out string) error {
		fmt.Fprintf(c.log, "building OpenTofu %s from its Go module; this takes some minutes, once\n", TofuVersion)
		start := time.Now()
		if err := buildTofu(ctx, out); err != nil {
			return fmt.Errorf("building OpenTofu: %w", err)
		}
		fmt.Fprintf(c.log, "built OpenTofu in %s\n", time.Since(start).Round(time.Second))
		return nil
	})
	return path, err
}

func buildTofu(ctx context.Context, out string) error {
	dir := filepath.Join(filepath.Dir(out), "module")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(tofuModule), 0o600); err != nil {
		return err
	}
	if err := goTool(ctx, dir, nil, "get", "-tool", tofuPackage+"@v"+TofuVersion); err != nil {
		return err
	}
	return goTool(ctx, dir, nil, "build", "-trimpath", "-ldflags=-s -w -X github.com/opentofu/opentofu/version.dev=no", "-o", out, tofuPackage)
}
