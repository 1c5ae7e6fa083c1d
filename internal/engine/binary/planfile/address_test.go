// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"slices"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, text := range []string{
		"a.b", "data.a.b", "ephemeral.a.b[0]", "a.b[12]", `a.b["x"]`, `a.b["x.y]z[\"q\"\n"]`, `a.b["$${x}%%{y}$$"]`, `a.b["\u00a0\U000e0001"]`,
		"module.m.a.b", `module.m["k.l"].data.a.b`, "module.m[1].module.n.a.b", "module.m[*].a.b", "a.b[*]", "check.c", "module.m.output.o",
	} {
		addr, err := parseAddress(text)
		if err != nil {
			t.Errorf("parseAddress(%q): %s", text, err)
			continue
		}
		if got := addr.String(); got != text {
			t.Errorf("parseAddress(%q) is written as %q", text, got)
		}
	}
	for _, text := range []string{
		"", "a", "a.", ".a", "a..b", "a.b.c", "a.b[", "a.b[]", "a.b[x]", `a.b["x]`, `a.b["x"`, "a[0].b", "data.x", "module.m", "a.b[0]c",
	} {
		if addr, err := parseAddress(text); err == nil {
			t.Errorf("parseAddress(%q) = %v, want an error", text, addr)
		}
	}
}

func TestAddressOrder(t *testing.T) {
	sorted := []string{
		"ephemeral.z.z", "data.z.z", "a.b", "a.b[*]", "a.b[2]", "a.b[10]", `a.b["1"]`, "a.c", "b.a",
		"module.a.data.z.z", "module.a.a.a", "module.a[2].a.a", "module.a[10].a.a", `module.a["0"].a.a`, "module.b.a.a",
		"module.a.module.a.a.a",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			x, errX := parseAddress(a)
			y, errY := parseAddress(b)
			if errX != nil || errY != nil {
				t.Fatal(errX, errY)
			}
			if got, want := compareAddresses(x, y), slices.Index(sorted, a)-slices.Index(sorted, b); sign(got) != sign(want) {
				t.Errorf("compare(%s, %s) = %d, want the sign of %d", sorted[i], sorted[j], got, want)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }
