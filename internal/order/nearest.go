// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"fmt"
	"slices"
)

// Nearest returns the one of the names that may have been meant by another, "" if none is near. Of equally near ones it is the
// smallest.
func Nearest(given string, names []string) string {
	best, distance := "", max(2, len(given)/3)+1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := editDistance(given, name); d < distance {
			best, distance = name, d
		}
	}
	return best
}

// DidYouMean offers the nearest of the names in a sentence with a space before it; "" if none is near.
func DidYouMean(given string, names []string) string {
	if best := Nearest(given, names); best != "" {
		return fmt.Sprintf(" Did you mean %q?", best)
	}
	return ""
}

// editDistance counts the letters to insert, delete, replace or swap to turn one word into the other.
func editDistance(a, b string) int {
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, previous, row = previous, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(previous[j]+cost, previous[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
