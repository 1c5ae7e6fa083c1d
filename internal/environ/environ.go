// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package environ reads environments that are given as [os.Environ] returns them.
package environ

import (
	"slices"
	"strings"
)

// LookUp returns the value of a variable, and whether there is one. Of several the last one counts, as for programs.
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
