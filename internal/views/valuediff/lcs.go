// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

// maxTable bounds the table for the longest common subsequence. Beyond it all of the middle,
// between the common elements at both ends, counts as changed.
const maxTable = 4 << 20

// pair is a step through two lists: an index into each, or -1.
type pair struct {
	before, after int
}

// align pairs the items of two lists: equal ones with each other in the longest
// way that keeps the order, those in between one by one, the rest with nothing.
// With inPlace unset, different items are never paired.
func align(before, after []string, inPlace bool) []pair {
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	endBefore, endAfter := len(before), len(after)
	for endBefore > start && endAfter > start && before[endBefore-1] == after[endAfter-1] {
		endBefore--
		endAfter--
	}
	pairs := make([]pair, 0, max(len(before), len(after)))
	for i := range start {
		pairs = append(pairs, pair{i, i})
	}
	i, j := start, start
	for _, common := range commonPairs(before[start:endBefore], after[start:endAfter]) {
		pairs = appendGap(pairs, pair{i, j}, pair{start + common.before, start + common.after}, inPlace)
		i, j = start+common.before+1, start+common.after+1
		pairs = append(pairs, pair{i - 1, j - 1})
	}
	pairs = appendGap(pairs, pair{i, j}, pair{endBefore, endAfter}, inPlace)
	for k := endBefore; k < len(before); k++ {
		pairs = append(pairs, pair{k, k - endBefore + endAfter})
	}
	return pairs
}

func appendGap(pairs []pair, from, to pair, inPlace bool) []pair {
	i, j := from.before, from.after
	for ; inPlace && i < to.before && j < to.after; i, j = i+1, j+1 {
		pairs = append(pairs, pair{i, j})
	}
	for ; i < to.before; i++ {
		pairs = append(pairs, pair{i, -1})
	}
	for ; j < to.after; j++ {
		pairs = append(pairs, pair{-1, j})
	}
	return pairs
}

// commonPairs finds a longest common subsequence.
func commonPairs(before, after []string) []pair {
	rows, columns := len(before)+1, len(after)+1
	if rows == 1 || columns == 1 || rows > maxTable/columns {
		return nil
	}
	length := make([]int32, rows*columns)
	for i := rows - 2; i >= 0; i-- {
		for j := columns - 2; j >= 0; j-- {
			if before[i] == after[j] {
				length[i*columns+j] = length[(i+1)*columns+j+1] + 1
			} else {
				length[i*columns+j] = max(length[(i+1)*columns+j], length[i*columns+j+1])
			}
		}
	}
	var pairs []pair
	for i, j := 0, 0; i < rows-1 && j < columns-1; {
		switch {
		case before[i] == after[j]:
			pairs = append(pairs, pair{i, j})
			i, j = i+1, j+1
		case length[(i+1)*columns+j] >= length[i*columns+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
