// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
)

// Program is a program that one package of a Go module is, in a fixed version.
type Program struct {
	version string
	source  string // the package
}

// Servers of object storage: two of Amazon S3, one of Google Cloud Storage.
var (
	Versitygw = Program{version: "1.8.0", source: "github.com/versity/versitygw/cmd/versitygw"}
	GoFakeS3  = Program{version: "1.2.0", source: "github.com/johannesboyne/gofakes3/cmd/gofakes3"}
	FakeGCS   = Program{version: "1.56.1", source: "github.com/fsouza/fake-gcs-server"}
)

// ErrNoNode is why there is no Azurite on a machine without Node.js, which it runs on.
var ErrNoNode = errors.New("needs node and npm on PATH")

const (
	azuriteVersion = "3.35.0"

	// azuriteDate makes its dependencies the same each time: it names ranges of their versions, and
	// the newest before this day are chosen.
	azuriteDate = "2026-11-15"
)

// Program returns the path of a program, built as it is used first, which takes a minute for the
// larger ones.
func (c *Cache) Program(ctx context.Context, p Program) (string, error) {
	name := path.Base(p.source)
	builder := c.forAllClones()
	built := filepath.Join(builder.dir, name+"-"+p.version, exe(name))
	err := builder.provide(built, func(out string) error {
		fmt.Fprintf(c.log, "building %s %s from its Go module, once\n", name, p.version)
		bin := filepath.Dir(out)
		return goTool(ctx, bin, []string{"GOBIN=" + bin}, "install", "-trimpath", "-ldflags=-s -w", p.source+"@v"+p.version)
	})
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	return built, nil
}

// Azurite returns the command that runs the blob service of Azurite, a server of Azure Storage. It
// is installed by npm as it is used first.
//
// Errors:
//   - [ErrNoNode]: node or npm is missing.
func (c *Cache) Azurite(ctx context.Context) ([]string, error) {
	node, npm := lookPath("node"), lookPath("npm")
	if node == "" || npm == "" {
		return nil, ErrNoNode
	}
	builder := c.forAllClones()
	dir := filepath.Join(builder.dir, "azurite-"+azuriteVersion)
	err := builder.provide(dir, func(out string) error {
		fmt.Fprintf(c.log, "installing Azurite %s by npm, once\n", azuriteVersion)
		install := exec.CommandContext(ctx, npm, "install", "--prefix", out, "--before="+azuriteDate, "--ignore-scripts",
			"--no-audit", "--no-fund", "--no-update-notifier", "azurite@"+azuriteVersion)
		install.Dir, install.Env = filepath.Dir(out), startEnv
		if output, err := install.CombinedOutput(); err != nil {
			return fmt.Errorf("running npm install: %w\n%s", err, bytes.TrimSpace(output))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("installing Azurite: %w", err)
	}
	return []string{node, filepath.Join(dir, "node_modules", "azurite", "dist", "src", "blob", "main.js")}, nil
}

// forAllClones returns the cache of programs that do not depend on the clone.
func (c *Cache) forAllClones() *Cache {
	shared := *c
	if c.user != "" {
		shared.dir = c.user
	}
	return &shared
}
