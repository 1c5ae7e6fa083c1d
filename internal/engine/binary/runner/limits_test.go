// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import "testing"

func TestCapture(t *testing.T) {
	for name, test := range map[string]struct {
		head, tail int
		writes     []string
		want       string
		dropped    bool
	}{
		"all":        {4, 4, []string{"ab", "cdef"}, "abcdef", false},
		"both ends":  {2, 2, []string{"abcd", "efgh", "i"}, "ab\n" + omitted + "\nghi", true},
		"in one":     {2, 3, []string{"abcdefghijkl"}, "ab\n" + omitted + "\njkl", true},
		"full":       {4, 0, []string{"abcd"}, "abcd", false},
		"head only":  {4, 0, []string{"abc", "de", "f"}, "abcd\n" + omitted + "\n", true},
		"no writing": {4, 4, nil, "", false},
	} {
		dropped := false
		c := Capture{Head: test.head, Tail: test.tail, OnWrite: func(yes bool) { dropped = yes }}
		for _, text := range test.writes {
			if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: Write(%q) = %d, %v", name, text, n, err)
			}
		}
		if got := string(c.Bytes()); got != test.want || dropped != test.dropped {
			t.Errorf("%s: got %q, dropped %t; want %q, %t", name, got, dropped, test.want, test.dropped)
		}
	}
}
