// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// hostile is a text that would end its place in Markdown, in HTML or on a screen.
const hostile = "a`|</code></details><script>@all #1\n\n```\u202e"

func failing() []Unit {
	return []Unit{
		unit("a", Change{"create", "x.a", creates}),
		{
			Name: "broken", State: "failed", Problem: &Problem{Summary: hostile, Place: "main.tf:3", Detail: hostile},
			Checks: Checks{Passed: 2, Unknown: 1, Failed: []Check{{Component: "component.c", Address: `check.b["` + hostile + `"]`, Messages: []string{hostile}}}},
		},
		unit("b", Change{"replace", "x.b", replaces}),
	}
}

func TestWriteAll(t *testing.T) {
	got := string(Write(Options{
		Title: "Plan", Link: "https://ci.example/1", Commit: "abc" + hostile, Made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Attached: []Attachment{{Name: "policy", Text: "FAIL - </pre>\n\n" + hostile + "\n"}},
	}, failing()))
	want := `## Plan

1 to add, 0 to change, 0 to destroy, 1 to replace in 3 stacks.

commit <code>abcHOSTILE</code> · 2026-01-02 03:04 UTC · [run](https://ci.example/1)

| stack | component | add | change | destroy | replace | deferred | |
|---|---|---:|---:|---:|---:|---:|---|
| <code>b</code> | <code>component.c</code> |  |  |  | **1** |  | planned |
| <code>broken</code> | | | | | | | failed: <code>HOSTILE</code> |
| <code>a</code> | <code>component.c</code> | 1 |  |  |  |  | planned |

### Errors

- <code>broken</code>: **<code>HOSTILE</code>** at <code>main.tf:3</code>: <code>LINE</code>

Checks: **1 failed**, 2 passed, 1 known after apply.

- <code>broken</code> <code>component.c</code> **<code>check.b&#91;"HOSTILE"&#93;</code>** <code>LINE</code>

<details><summary><code>policy</code></summary>

<pre>
FAIL - &#60;/pre&#62;
 
FIRST
 
LAST
</pre>

</details>

<details><summary><code>b</code></summary>

<code>component.c</code>

- **replace** <code>x.b</code>

</details>

<details><summary><code>a</code></summary>

<code>component.c</code>

- create <code>x.a</code>

</details>
`
	const first = "a&#96;&#124;&#60;/code&#62;&#60;/details&#62;&#60;script&#62;&#64;all &#35;1"
	const last = "&#96;&#96;&#96;U+202E"
	want = strings.NewReplacer("HOSTILE", first+"U+000AU+000A"+last, "LINE", first+" "+last, "FIRST", first, "LAST", last).Replace(want)
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Rule M3, for every limit: no element is left open.
func TestCutAtAnyLimit(t *testing.T) {
	units := failing()
	for i := range 300 {
		units = append(units, unit(fmt.Sprint("more-", i), Change{"create", "x.a", creates}))
	}
	options := Options{Link: "https://ci.example/1", Attached: []Attachment{{"policy", strings.Repeat("line\n", 5000)}}}
	for limit := MinLimit; limit < 3*MinLimit; limit += 41 {
		options.Limit = limit
		got := string(Write(options, units))
		if n := utf8.RuneCountInString(got); n > limit || n < limit-1500 {
			t.Fatalf("limit %d: %d characters", limit, n)
		}
		for _, element := range []string{"details", "summary", "code", "pre"} {
			if strings.Count(got, "<"+element+">") != strings.Count(got, "</"+element+">") {
				t.Fatalf("limit %d leaves %s open:\n%s", limit, element, got)
			}
		}
		if !strings.HasSuffix(got, "See the whole plan [where it was made](https://ci.example/1).*\n") {
			t.Fatalf("limit %d has no note at its end", limit)
		}
	}
}

func TestIsLink(t *testing.T) {
	for url, want := range map[string]bool{
		"https://ci.example/a/b?c=d#e": true, "http://x:1/": true, "javascript:alert(1)": false, "https://x/)[a](b": false, "": false,
		"https://x/\n": false, "https://x/<b>": false,
	} {
		if got := IsLink(url); got != want {
			t.Errorf("IsLink(%q) = %t, want %t", url, got, want)
		}
	}
}
