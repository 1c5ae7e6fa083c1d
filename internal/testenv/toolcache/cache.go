// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// modulePath is how the repository is recognised from inside.
const modulePath = "github.com/cairnstacks/cairn"

// The surroundings at the start: tests move to other directories and change HOME, and still have to
// find the repository and Go's own caches.
var (
	startDir, startDirErr = os.Getwd()
	startEnv              = os.Environ()

	startUserCache, startUserCacheErr = os.UserCacheDir()
)

// Cache is a directory of built programs. Safe for concurrent use, also by several processes.
type Cache struct {
	root string // of the repository
	dir  string
	user string // of programs that do not depend on the clone; empty if these are in dir, too
	log  io.Writer
}

// Open returns the cache of the repository that the process was started in. Steps that take long
// are announced on log.
func Open(log io.Writer) (*Cache, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	user, dir := "", os.Getenv("CAIRN_CACHE")
	if dir == "" {
		dir = filepath.Join(root, ".cache")
		if startUserCacheErr == nil {
			user = filepath.Join(startUserCache, "cairn-tools")
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("locating the cache: %w", err)
	}
	return &Cache{root: root, dir: dir, user: user, log: log}, nil
}

// Dir returns the absolute path of the cache. It need not exist yet.
func (c *Cache) Dir() string {
	return c.dir
}

// repositoryRoot returns the nearest directory upwards with the go.mod of this module.
func repositoryRoot() (string, error) {
	if startDirErr != nil {
		return "", fmt.Errorf("locating the repository: %w", startDirErr)
	}
	for dir := startDir; ; dir = filepath.Dir(dir) {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(raw, []byte("module "+modulePath+"\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("locating the repository: no go.mod of %s above %s", modulePath, startDir)
		}
	}
}

// provide makes sure that the file at path, inside the cache, exists. If it does not, build is
// called with another path to create it at, while the cache is locked.
func (c *Cache) provide(path string, build func(out string) error) error {
	if exists(path) {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return fmt.Errorf("creating the cache: %w", err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(c.dir, "lock")).Lock()
	if err != nil {
		return fmt.Errorf("locking the cache: %w", err)
	}
	defer unlock()
	if exists(path) { // another process was faster
		return nil
	}

	tmp := filepath.Join(c.dir, "build")
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o755)); err != nil { // a killed process may have left it
		return fmt.Errorf("creating a build directory: %w", err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // The next build removes it.
	out := filepath.Join(tmp, filepath.Base(path))
	if err := build(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("creating a folder of the cache: %w", err)
	}
	if err := os.Rename(out, path); err != nil {
		return fmt.Errorf("moving a program into the cache: %w", err)
	}
	return nil
}

// goTool runs the go command without cgo, in dir, with env added to the environment.
func goTool(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(startEnv[:len(startEnv):len(startEnv)], "CGO_ENABLED=0"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running go %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

// exe returns name as an executable file is called here.
func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
