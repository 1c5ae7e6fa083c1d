// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package nearest finds the name that may have been meant by one that was mistyped.
package nearest

import (
	"fmt"
	"iter"
	"slices"
)

// longestMistyped is the length in bytes of the longest words that are compared with others, which
// takes time in proportion to its square.
const longestMistyped = 200

// Name returns the one of the names that may have been meant by another, "" if none is near. Of
// equally near ones it is the smallest.
func Name(given string, names []string) string {
	return Within(max(2, len(given)/3), given, names)
}

// Within is [Name] for names that differ in at most so many letters.
func Within(most int, given string, names []string) string {
	if len(given) > longestMistyped {
		return ""
	}
	best, distance := "", most+1
	for _, name := range names {
		if d := editDistance(given, name, distance); d < distance || d == distance && best != "" && name < best {
			best, distance = name, d
		}
	}
	return best
}

// DidYouMean offers the nearest of the names in a sentence with a space before it; "" if none is
// near.
func DidYouMean(given string, names []string) string {
	return DidYouMeanBelow("", given, names)
}

// DidYouMeanBelow is [DidYouMean] for names that are given without the prefix that all of them
// have.
func DidYouMeanBelow(prefix, given string, names []string) string {
	if best := Name(given, names); best != "" {
		return fmt.Sprintf(" Did you mean %q?", prefix+best)
	}
	return ""
}

// Hints is [DidYouMean] for files in which there may be any number of mistakes: it compares with
// all names for the first hundred only, so that the time is linear in the names. The zero value is
// ready for use.
type Hints struct{ asked int }

// DidYouMean offers the nearest of the names, as the function of this name does.
func (h *Hints) DidYouMean(given string, names iter.Seq[string]) string {
	const most = 100
	if h.asked == most {
		return ""
	}
	h.asked++
	return DidYouMean(given, slices.Collect(names))
}

// editDistance counts the letters to insert, delete, replace or swap to turn one word into the
// other. It stops counting above most.
func editDistance(a, b string, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	leastBefore := 0 // of the row before
	for i := range len(a) {
		before, previous, row = previous, row, before
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(previous[j]+cost, previous[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		// A swap comes from two rows before, so that one row above the limit is not the end.
		if least > most && leastBefore > most {
			return most + 1
		}
		leastBefore = least
	}
	return row[len(b)]
}
