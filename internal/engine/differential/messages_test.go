// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import "testing"

func TestInWordsOf(t *testing.T) {
	for _, test := range []struct{ want, got, answer string }{
		{"# 1\nerror: Cycle\n", "# 1\nerror main.tf:2: Circular dependency\n", "# 1\nerror: Cycle\n"},
		{"# 1\nerror main.tf:2 a.b: Cycle\n", "# 1\nerror main.tf:2 a.b: Circular dependency\n", "# 1\nerror main.tf:2 a.b: Cycle\n"},
		{"# 1\n# 2\nerror: Cycle\n", "# 1\nerror: Circular dependency\n# 2\n", "# 1\nerror: Circular dependency\n# 2\n"},
		{"error main.tf:2: Cycle\n", "error main.tf:3: Circular dependency\n", "error main.tf:3: Circular dependency\n"},
		{"error: Cycle\n", "error a:1: Circular dependency\nerror a:2: Circular dependency\n", "error: Cycle\n"},
		{"error a:1: X\n", "error a:1 a.b[0]: X\nerror a:1 a.b[1]: X\n", "error a:1: X\n"},
		{"error a:1: X\n", "error a:1: X\nerror a:2: X\n", "error a:1: X\nerror a:2: X\n"},
		{"error m/a.tf:1: X\nerror a.b: X\n", "error m/a.tf:1 a.b: X\nerror m/a.tf:2 a.b: X\n", "error a.b: X\nerror m/a.tf:1: X\n"},
		{"error a.b: X\n", "error: X\n", "error: X\n"},
		{"warning: Cycle\n", "error: Circular dependency\n", "error: Circular dependency\n"},
	} {
		if got := InWordsOf(test.want, test.got); got != test.answer {
			t.Errorf("InWordsOf(%q, %q): got %q, want %q", test.want, test.got, got, test.answer)
		}
	}
}
