// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cliconfig reads the CLI configuration of an engine, which is in the user's home directory
// and in variables of the environment.
package cliconfig

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/environ"
)

// The variables that name a file in place of those in the home directory, and the one that names a
// directory in which providers are kept for all configurations.
const (
	fileVariable      = "TF_CLI_CONFIG_FILE"
	olderFileVariable = "TERRAFORM_CONFIG"

	// CacheVariable beats the setting in a file.
	CacheVariable = "TF_PLUGIN_CACHE_DIR"
)

// pathVariables are those with paths in them.
var pathVariables = []string{fileVariable, olderFileVariable, CacheVariable}

// Files returns the files of the configuration, as far as they can exist; later ones beat earlier
// ones.
func Files(env []string) []string {
	home, main, dir := homeNames(env)
	file := filepath.Join(home, main)
	for _, name := range []string{fileVariable, olderFileVariable} {
		path := environ.Get(env, name)
		if path != "" && path == tofuFile(env) { // which stands for that of terraform, see [ForTofu]
			file = path
			break
		}
		if path != "" {
			return []string{path}
		}
	}
	if home == "" {
		return nil
	}
	files := []string{file}
	for _, pattern := range []string{"*.tfrc", "*.tfrc.json"} {
		if found, err := filepath.Glob(filepath.Join(home, dir, pattern)); err == nil {
			files = append(files, found...)
		}
	}
	return files
}

// ForTofu returns an environment by which the configuration is that of tofu, which has a file of
// its own in the home directory, and reads the one of terraform where there is none.
func ForTofu(env []string) []string {
	file := tofuFile(env)
	if _, err := os.Stat(file); err != nil || environ.Get(env, fileVariable) != "" || environ.Get(env, olderFileVariable) != "" {
		return env
	}
	return append(slices.Clone(env), fileVariable+"="+file)
}

// tofuFile is the file of tofu in the home directory; "" without one.
func tofuFile(env []string) string {
	home, main, _ := homeNames(env)
	if home == "" {
		return ""
	}
	return filepath.Join(home, strings.Replace(main, "terraform", "tofu", 1))
}

// homeNames returns the directory of the user, and the names of the main file and of the directory
// for others in it.
func homeNames(env []string) (home, main, dir string) {
	if runtime.GOOS == "windows" {
		return environ.Get(env, "APPDATA"), "terraform.rc", "terraform.d"
	}
	return environ.Get(env, "HOME"), ".terraformrc", ".terraform.d"
}

// Dir returns the directory for tokens and plugins, "" without a home.
func Dir(env []string) string {
	home, _, dir := homeNames(env)
	if home == "" {
		return ""
	}
	return filepath.Join(home, dir)
}

// AbsolutePaths returns an environment in which the paths of the configuration are absolute, for a
// process that runs in another directory than the one that they are relative to.
func AbsolutePaths(env []string, dir string) []string {
	env = slices.Clone(env)
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && slices.Contains(pathVariables, name) && !filepath.IsAbs(value) {
			env[i] = name + "=" + filepath.Join(dir, value)
		}
	}
	return env
}

// SharesProviders reports whether a file names a directory in which providers are kept for all
// configurations.
func SharesProviders(env []string) bool {
	return slices.ContainsFunc(Files(env), func(name string) bool {
		content, err := os.ReadFile(name)
		return err == nil && cacheSetting.Match(content) // if there is an error, the engine says so
	})
}

var cacheSetting = regexp.MustCompile(`(?m)^\s*plugin_cache_dir\s*=|"plugin_cache_dir"\s*[:=]`)
