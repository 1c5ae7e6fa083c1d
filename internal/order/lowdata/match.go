// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lowdata

import (
	"regexp"
	"strings"
)

// index finds calls by what requisites say (line C-39).
type index struct {
	calls []*Call

	// By module ("" for any, "sls" for files, "id" for ids) and id or name, in the order of calls.
	exact map[[2]string][]int
}

func newIndex(calls []*Call) *index {
	x := &index{calls: calls, exact: map[[2]string][]int{}}
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

// match returns the calls that a requisite of a call names. A pattern does not match the call itself.
func (x *index) match(r Requisite, of int) []int {
	if found := x.exact[[2]string{r.Module, r.Identifier}]; len(found) > 0 || !isPattern(r.Identifier) {
		return found
	}
	var found []int
	matches := r.matcher()
	for i, call := range x.calls {
		if i != of && matches(call) {
			found = append(found, i)
		}
	}
	return found
}

// names returns what could have been named.
func (x *index) names(module string) []string {
	var names []string
	for key := range x.exact {
		if key[0] == module {
			names = append(names, key[1])
		}
	}
	return names
}

func (r Requisite) matches(call *Call) bool { return r.matcher()(call) }

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

// compilePattern makes a regular expression of a pattern of shells, in which "*" stands for slashes, too.
func compilePattern(pattern string) *regexp.Regexp {
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

// patternSet returns the expression for a set in brackets at the start of a pattern, and how long the set is. Without a closing
// bracket, the opening one stands for itself.
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
