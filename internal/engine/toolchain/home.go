// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hashicorp/go-version"
)

// HomeVariable is the environment variable that names the directory of installed engines.
const HomeVariable = "CAIRN_ENGINE_DIR"

// Home returns the absolute path of the directory where engines are installed for the user. It need
// not exist.
//
// It is the value of [HomeVariable], or else cairn/engines in the user's directory for data:
// XDG_DATA_HOME or ~/.local/share, ~/Library/Application Support on macOS, %LocalAppData% on
// Windows.
func Home() (string, error) {
	dir := os.Getenv(HomeVariable)
	if dir == "" {
		data, err := dataDir()
		if err != nil {
			return "", fmt.Errorf("finding the directory for engines: %w; name one in %s", err, HomeVariable)
		}
		dir = filepath.Join(data, "cairn", "engines")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the directory for engines: %w", err)
	}
	return dir, nil
}

func dataDir() (string, error) {
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("LocalAppData"); dir != "" {
			return dir, nil
		}
		return "", errors.New("%LocalAppData% is not set")
	}
	if dir := os.Getenv("XDG_DATA_HOME"); runtime.GOOS != "darwin" && filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}

// installedBinary is a binary below the directory of installed toolchain.
type installedBinary struct {
	program string
	version *version.Version
	path    string
}

// installed lists the installed versions of a program, the newest first. Other contents of the
// directory are passed over.
func installed(home, program string) []installedBinary {
	entries, err := os.ReadDir(filepath.Join(home, program))
	if err != nil {
		return nil
	}
	var found []installedBinary
	for _, entry := range entries {
		v, err := version.NewSemver(entry.Name())
		path := binaryPath(home, program, entry.Name())
		if err != nil || !isFile(path) {
			continue
		}
		found = append(found, installedBinary{program, v, path})
	}
	slices.SortFunc(found, newestFirst)
	return found
}

func newestFirst(a, b installedBinary) int {
	return cmp.Or(b.version.Compare(a.version), cmp.Compare(a.path, b.path))
}

// binaryPath returns where a version of a program is installed.
func binaryPath(home, program, version string) string {
	return filepath.Join(home, program, version, executable(program))
}

// executable returns the name of a program's file.
func executable(program string) string {
	if runtime.GOOS == "windows" {
		return program + ".exe"
	}
	return program
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
