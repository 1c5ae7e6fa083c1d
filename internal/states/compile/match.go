// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// index finds calls by requisites (line C-39).
type index struct {
	calls []*Call

	// By module ("" for any, "sls" for files, "id" for ids) and id or name, in the order of calls.
	exact map[[2]string][]int

	patterns map[[2]string][]int // the calls found for patterns, by module and pattern
}

func newIndex(calls []*Call) *index {
	x := &index{calls: calls, exact: map[[2]string][]int{}, patterns: map[[2]string][]int{}}
	for i, call := range calls {
		x.add("sls", call.SLS, i)
		x.add("id", call.ID, i)
		for _, module := range []string{"", call.Module} {
			x.add(module, call.ID, i)
			if call.Name != call.ID {
				x.add(module, call.Name, i)
			}
		}
	}
	return x
}

func (x *index) add(module, identifier string, call int) {
	key := [2]string{module, identifier}
	x.exact[key] = append(x.exact[key], call)
}

// match returns the calls that a requisite of a call names. A pattern does not match the call
// itself.
func (x *index) match(r Requisite, of int) []int {
	key := [2]string{r.Module, r.Identifier}
	if found := x.exact[key]; len(found) > 0 || !isPattern(r.Identifier) {
		return found
	}
	found, known := x.patterns[key]
	if !known {
		matches := r.matcher()
		for i, call := range x.calls {
			if matches(call) {
				found = append(found, i)
			}
		}
		x.patterns[key] = found
	}
	if at, itself := slices.BinarySearch(found, of); itself {
		return slices.Concat(found[:at], found[at+1:])
	}
	return found
}

// cost is about the cost of finding the target of a requisite, in steps of some nanoseconds.
func (x *index) cost(r Requisite) int {
	key := [2]string{r.Module, r.Identifier}
	if _, known := x.patterns[key]; known || len(x.exact[key]) > 0 || !isPattern(r.Identifier) {
		return 0
	}
	const averageName = 20
	return len(x.calls) * (averageName + averageName*len(r.Identifier))
}

// names yields the names of all possible targets.
func (x *index) names(module string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range x.exact {
			if key[0] == module && !yield(key[1]) {
				return
			}
		}
	}
}

// matcher returns a function that reports whether a call is named.
func (r Requisite) matcher() func(*Call) bool {
	matches := func(text string) bool { return text == r.Identifier }
	if isPattern(r.Identifier) {
		pattern := compilePattern(r.Identifier)
		matches = func(text string) bool { return text == r.Identifier || pattern.MatchString(text) }
	}
	switch r.Module {
	case "sls":
		return func(call *Call) bool { return matches(call.SLS) }
	case "id":
		return func(call *Call) bool { return matches(call.ID) }
	}
	return func(call *Call) bool {
		return (r.Module == "" || r.Module == call.Module) && (matches(call.ID) || matches(call.Name))
	}
}

func isPattern(text string) bool { return strings.ContainsAny(text, "*?[") }

// compilePattern makes a regular expression of a pattern of shells, in which "*" stands for
// slashes, too.
func compilePattern(pattern string) *regexp.Regexp {
	pattern = strings.ToValidUTF8(pattern, "\ufffd")
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '[':
			set, length := patternSet(pattern[i:])
			b.WriteString(set)
			i += length - 1
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString("$")
	compiled, err := regexp.Compile(b.String())
	if err != nil {
		return regexp.MustCompile(`(?s)^` + regexp.QuoteMeta(pattern) + `$`) // such as a range that ends before it begins
	}
	return compiled
}

// patternSet returns the expression for a set in brackets at the start of a pattern, and how long
// the set is. Without a closing bracket, the opening one stands for itself.
func patternSet(pattern string) (set string, length int) {
	from := 1
	if strings.HasPrefix(pattern[from:], "!") {
		from++
	}
	end := strings.IndexByte(pattern[min(from+1, len(pattern)):], ']') // one right at the start belongs to the set
	if end < 0 {
		return `\[`, 1
	}
	end += from + 1
	inside := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(pattern[from:end])
	if from == 2 {
		return "[^" + inside + "]", end + 1
	}
	return "[" + inside + "]", end + 1
}
