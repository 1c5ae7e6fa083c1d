// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cliconfig reads what the CLI configuration of an engine says, which is in the user's home
// directory and in variables of the environment.
package cliconfig

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// The variables that name a file in place of those in the home directory, and the one that names a directory in which providers are kept for all
// configurations.
const (
	fileVariable      = "TF_CLI_CONFIG_FILE"
	olderFileVariable = "TERRAFORM_CONFIG"

	// CacheVariable beats the setting in a file.
	CacheVariable = "TF_PLUGIN_CACHE_DIR"
)

// pathVariables are those with paths in them.
var pathVariables = []string{fileVariable, olderFileVariable, CacheVariable}

// Files returns the files of the configuration, as far as they can exist; later ones beat earlier ones.
func Files(environ []string) []string {
	for _, name := range []string{fileVariable, olderFileVariable} {
		if path := lookUp(environ, name); path != "" {
			return []string{path}
		}
	}
	home, main, dir := lookUp(environ, "HOME"), ".terraformrc", ".terraform.d"
	if runtime.GOOS == "windows" {
		home, main, dir = lookUp(environ, "APPDATA"), "terraform.rc", "terraform.d"
	}
	if home == "" {
		return nil
	}
	files := []string{filepath.Join(home, main)}
	for _, pattern := range []string{"*.tfrc", "*.tfrc.json"} {
		if found, err := filepath.Glob(filepath.Join(home, dir, pattern)); err == nil {
			files = append(files, found...)
		}
	}
	return files
}

func lookUp(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// AbsolutePaths returns an environment in which the paths of the configuration are absolute, for a process that runs in another directory.
func AbsolutePaths(environ []string) ([]string, error) {
	environ = slices.Clone(environ)
	for i, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !slices.Contains(pathVariables, name) {
			continue
		}
		path, err := filepath.Abs(value)
		if err != nil {
			return nil, err
		}
		environ[i] = name + "=" + path
	}
	return environ, nil
}

// SharesProviders reports whether a file names a directory in which providers are kept for all configurations.
func SharesProviders(environ []string) bool {
	return slices.ContainsFunc(Files(environ), func(name string) bool {
		content, err := os.ReadFile(name)
		return err == nil && cacheSetting.Match(content) // if there is an error, the engine says so
	})
}

var cacheSetting = regexp.MustCompile(`(?m)^\s*plugin_cache_dir\s*=|"plugin_cache_dir"\s*[:=]`)
