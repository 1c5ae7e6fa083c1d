// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import "github.com/cairnstacks/cairn/internal/nearest"

// Nearest is [nearest.Name].
func Nearest(given string, names []string) string { return nearest.Name(given, names) }

// DidYouMean is [nearest.DidYouMean].
func DidYouMean(given string, names []string) string { return nearest.DidYouMean(given, names) }

// Hints is [nearest.Hints].
type Hints = nearest.Hints
