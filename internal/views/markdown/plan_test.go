// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func unit(name string, changes ...Change) Unit {
	part := Part{Name: "component.c", Changes: changes}
	for _, change := range changes {
		switch change.rank {
		case replaces:
			part.Counts.Replace++
		case creates:
			part.Counts.Add++
		}
	}
	return Unit{Name: name, State: "planned", Parts: []Part{part}}
}

func TestWrite(t *testing.T) {
	got := string(Write(Options{Title: "cairn run plan"}, []Unit{
		unit("a", Change{"create", "x.a", creates}),
		{Name: "quiet"},
		unit("b", Change{"replace", `x.b["k|` + "`" + `</code><script>\n"]`, replaces}),
	}))
	want := `## cairn run plan

1 to add, 0 to change, 0 to destroy, 1 to replace in 3 stacks.

| stack | component | add | change | destroy | replace | deferred | |
|---|---|---:|---:|---:|---:|---:|---|
| <code>b</code> | <code>component.c</code> |  |  |  | **1** |  | planned |
| <code>a</code> | <code>component.c</code> | 1 |  |  |  |  | planned |
| <code>quiet</code> | | | | | | | no changes |

<details><summary><code>b</code></summary>

<code>component.c</code>

- **replace** <code>x.b&#91;"k&#124;&#96;&#60;/code&#62;&#60;script&#62;&#92;n"&#93;</code>

</details>

<details><summary><code>a</code></summary>

<code>component.c</code>

- create <code>x.a</code>

</details>
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Rule M2.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"a\nb":     "<code>aU+000Ab</code>",
		"@team #1": "<code>&#64;team &#35;1</code>",
		"\u202ex":  "<code>U+202Ex</code>",
		"ü/x-1.y":  "<code>ü/x-1.y</code>",
		"a_b.__c_": "<code>a_b.&#95;&#95;c&#95;</code>",
		`x["a&b"]`: `<code>x&#91;"a&#38;b"&#93;</code>`,
	} {
		if got := Code(name); got != want {
			t.Errorf("Code(%q) = %q, want %q", name, got, want)
		}
	}
}

// Rule M3.
func TestCut(t *testing.T) {
	for name, units := range map[string]func() []Unit{
		"many stacks": func() []Unit {
			var units []Unit
			for i := range 5000 {
				units = append(units, unit(fmt.Sprintf("stack-%d", i), Change{"create", "x.a", creates}))
			}
			return units
		},
		"many changes": func() []Unit {
			var changes []Change
			for i := range 5000 {
				changes = append(changes, Change{"create", fmt.Sprintf("x.a[%d]", i), creates})
			}
			return []Unit{unit("a", changes...), unit("b", changes...)}
		},
		"wide characters": func() []Unit {
			var changes []Change
			for i := range 5000 {
				changes = append(changes, Change{"create", fmt.Sprintf("ü.ü%d", i), creates})
			}
			return []Unit{unit("a", changes...)}
		},
	} {
		got := string(Write(Options{Title: "plan"}, units()))
		if n := utf8.RuneCountInString(got); n > MaxLength || n < MaxLength-1000 {
			t.Errorf("%s: %d characters", name, n)
		}
		if !strings.HasSuffix(got, (Options{}).note()) || strings.Count(got, "<details>") != strings.Count(got, "</details>") {
			t.Errorf("%s: ends with %q", name, got[len(got)-200:])
		}
	}
}

// Rule M3: changes that take something away are kept, wherever they are among others.
func TestCutKeepsWhatTakesAway(t *testing.T) {
	var units []Unit
	for i := range 3 {
		u := Unit{Name: fmt.Sprint("stack-", i)}
		for j := range 1000 {
			u.Parts = append(u.Parts, unit("", Change{"create", "x.a", creates}).Parts...)
			u.Parts[j].Name = fmt.Sprint("component.c", j)
		}
		last := unit("", Change{"replace", fmt.Sprint("x.gone", i), replaces}).Parts[0]
		last.Name = "component.z"
		u.Parts = append(u.Parts, last)
		units = append(units, u)
	}
	got := string(Write(Options{Title: "plan"}, units))
	for i := range 3 {
		for _, want := range []string{
			fmt.Sprintf("| <code>stack-%d</code> | <code>component.z</code> |  |  |  | **1** |  |  |\n", i),
			fmt.Sprintf("<code>component.z</code>\n\n- **replace** <code>x.gone%d</code>\n\n</details>\n", i),
		} {
			if !strings.Contains(got, want) {
				t.Errorf("not kept: %s", want)
			}
		}
	}
	if n := utf8.RuneCountInString(got); n > MaxLength || !strings.HasSuffix(got, (Options{}).note()) {
		t.Errorf("%d characters, ending in %q", n, got[len(got)-200:])
	}
}
