// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package marks defines the two annotations that values carry through an evaluation, and moves
// them between values and lists of paths.
//
// A value is sensitive (shown as "sensitive", never printed) or ephemeral (never written to a plan
// or a state), or both, or neither. While expressions are evaluated a mark lives in the [cty.Value]
// itself and spreads as cty spreads marks. Where values are stored or sent, the marks are kept
// next to the bare value as a list of paths: [Split] takes a value apart and [MarkPaths] puts it
// together again.
//
// The rules the compiler cannot check:
//
//	M1. A mark on a value holds for everything inside it.
//	M2. A set has no marked elements: a mark put on an element moves to the set.
//	M3. Lists of paths are sorted by [ComparePaths] and hold no path twice, so that written files do
//	    not depend on map order.
package marks
