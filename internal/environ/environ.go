// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package environ reads environments that are given as [os.Environ] returns them.
package environ

import (
	"runtime"
	"slices"
	"strings"
)

// LookUp returns the value of a variable, and whether there is one. Of several the last one counts,
// as for programs.
func LookUp(environ []string, name string) (value string, found bool) {
	for _, entry := range slices.Backward(environ) {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// Get returns the value of a variable, "" without one.
func Get(environ []string, name string) string {
	value, _ := LookUp(environ, name)
	return value
}

// Without returns an environment without a variable.
func Without(environ []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

// ownPrefixes begin the names of variables that are for cairn alone: they would add arguments and
// input values to the processes that it starts, and values may be secrets, which the children of
// these inherit. Keys are, and a location of states may have a password.
var ownPrefixes = append([]string{"TF_CLI_ARGS", "TF_VAR_", "CAIRN_VAR_", "CAIRN_STATE"}, keyPrefixes...)

// keyPrefixes begin the names of variables with keys: of what is encrypted, of who starts work on
// workers, and of pools of these.
var keyPrefixes = []string{"CAIRN_ENCRYPTION", "CAIRN_RUN_KEY", "CAIRN_POOL_KEY"}

// WithoutKeys returns an environment without keys, for a program that gets input values by it.
func WithoutKeys(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return hasPrefix(entry, keyPrefixes) })
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// IsOwn reports whether a variable must not reach providers, provisioners and engines.
func IsOwn(name string) bool {
	if runtime.GOOS == "windows" { // which does not distinguish case in them
		name = strings.ToUpper(name)
	}
	return hasPrefix(name, ownPrefixes)
}

// WithoutOwn returns an environment without the variables that are for cairn alone.
func WithoutOwn(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return IsOwn(name)
	})
}
