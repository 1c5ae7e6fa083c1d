// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package textstyle

import "github.com/charmbracelet/x/ansi"

const ellipsis = "…"

// Shorten makes addresses no wider than a number of columns, with an ellipsis in place of the cut.
// The end of an address says most, so that the beginning is cut, unless two addresses would look
// the same then: they keep as much of it as distinguishes them, if anything does. The result has
// the order of the argument, which stays as it is.
func Shorten(addresses []string, width int) []string {
	short := make([]string, len(addresses))
	var wide []int // indices
	taken := map[string]bool{}
	for i, address := range addresses {
		short[i] = address
		if ansi.StringWidth(address) > width {
			wide = append(wide, i)
		} else {
			taken[address] = true
		}
	}
	for head := 0; head < max(width, 1) && len(wide) > 0; head++ {
		similar := map[string][]int{}
		for _, i := range wide {
			cut := cutAfter(addresses[i], head, width)
			similar[cut] = append(similar[cut], i)
		}
		var left []int
		for _, i := range wide {
			cut := cutAfter(addresses[i], head, width)
			if head == 0 {
				short[i] = cut // unless there is better
			}
			if len(similar[cut]) > 1 || taken[cut] {
				left = append(left, i)
				continue
			}
			short[i], taken[cut] = cut, true
		}
		wide = left
	}
	return short
}

// cutAfter cuts an address, which is wider than width, after its first columns.
func cutAfter(address string, head, width int) string {
	tail := max(width-head-ansi.StringWidth(ellipsis), 0)
	return ansi.Truncate(address, head, "") + ansi.TruncateLeft(address, ansi.StringWidth(address)-tail, ellipsis)
}
