// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/nearest"
)

// Asked takes down the existing tags while queries are evaluated that matched nothing yet, to find
// out afterwards which of them may have been meant. The zero value is ready for use; nil takes down
// nothing.
type Asked struct {
	tags    map[string]bool // that something has
	dirs    map[string]bool
	missing []term // that queries ask for, in the order in which they are written
	matched bool
}

// term is a condition of a query, outside of negations.
type term interface {
	// meant returns the nearest term for which there is something; "" if there is something for this
	// one, or nothing near.
	meant(a *Asked) string
}

// Look takes down the subjects of a query and of terms, of which one is to match if there are any.
func (a *Asked) Look(q Query, terms []Terms, subjects []Subject) {
	if a == nil || a.matched || q.root == nil && len(terms) == 0 {
		return
	}
	if a.tags == nil {
		a.tags, a.dirs = map[string]bool{}, map[string]bool{}
	}
	filter := TagFilter{Tags: terms}
	for _, s := range subjects {
		if q.Match(s) && filter.Passes(slices.Collect(maps.Keys(s.Tags))) {
			a.matched = true // so that nothing is to be suggested
			return
		}
		maps.Copy(a.tags, s.Tags)
		a.dirs[s.Dir] = true
	}
	if q.root != nil {
		a.missing = append(a.missing, q.root.terms()...)
	}
	for _, one := range terms {
		for _, all := range one {
			for _, text := range all {
				a.missing = append(a.missing, plain(text))
			}
		}
	}
}

// mostMeant is how many suggestions there are at most.
const mostMeant = 3

// DidYouMean suggests names that are near tags and directories for which there is nothing, in a
// sentence with a space before it. It is "" if something matched, and for subjects that are left
// out by other tags, which exist.
func (a *Asked) DidYouMean() string {
	if a == nil || a.matched {
		return ""
	}
	var found []string
	for _, missing := range a.missing {
		text := missing.meant(a)
		if text == "" {
			continue
		}
		if text = fmt.Sprintf("%q", text); !slices.Contains(found, text) && len(found) < mostMeant {
			found = append(found, text)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(found, " and ") + "?"
}

// wellKnown are tags that are meant as they are, also where nothing has them.
var wellKnown = []string{"kind:stack", "kind:terraform", "kind:task"}

func (t tag) meant(a *Asked) string {
	text := string(t)
	if dir, ok := strings.CutPrefix(text, dirPrefix); ok {
		if a.dirs[dir] {
			return ""
		}
		return prefixed(dirPrefix, near(dir, slices.Collect(maps.Keys(a.dirs))))
	}
	if a.tags[text] || slices.Contains(wellKnown, text) {
		return ""
	}
	values := map[string][]string{} // by key; those of tags without a key by ""
	for known := range a.tags {
		key, value := split(known)
		values[key] = append(values[key], value)
	}
	key, value := split(text)
	if key == "" {
		return meantPlain(value, values)
	}
	if values[key] == nil {
		keys := slices.DeleteFunc(slices.Collect(maps.Keys(values)), func(key string) bool { return key == "" })
		if key = near(key, keys); key == "" {
			return ""
		}
		if slices.Contains(values[key], value) {
			return key + ":" + value
		}
	}
	return prefixed(key+":", near(value, values[key]))
}

// split takes a tag apart that has a key, as in "deployment:prod".
func split(tag string) (key, value string) {
	if key, value, ok := strings.Cut(tag, ":"); ok {
		return key, value
	}
	return "", tag
}

// meantPlain returns the tag that may be meant by a text without a key: a tag, or a value of which
// the key was left out or is written in another way.
func meantPlain(text string, values map[string][]string) string {
	if best := near(text, values[""]); best != "" {
		return best
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(values[key], text) {
			return key + ":" + text
		}
	}
	if key, value, ok := strings.Cut(text, "="); ok && key != "" && slices.Contains(values[key], value) {
		return key + ":" + value
	}
	return ""
}

// plain is a tag of terms, in which ":" stands between tags.
type plain string

func (p plain) meant(a *Asked) string {
	if a.tags[string(p)] {
		return ""
	}
	tags := slices.DeleteFunc(slices.Collect(maps.Keys(a.tags)), func(tag string) bool { return CheckTag(tag) != nil })
	return near(string(p), tags)
}

func (i inside) meant(a *Asked) string {
	elements := strings.Count(string(i), "/") + 1
	var parts []string
	for dir := range a.dirs {
		if i.match(Subject{Dir: dir}) {
			return ""
		}
		of := strings.Split(dir, "/")
		for from := 0; from+elements <= len(of); from++ {
			parts = append(parts, path.Join(of[from:from+elements]...))
		}
	}
	return prefixed(insidePrefix, near(string(i), parts))
}

func prefixed(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + name
}

// near returns the name that is meant by one that was mistyped; "" if none is near. Values are
// often short, and one such as "dev" is not meant by another one such as "web": in up to five
// letters, one may be wrong, and in the longest three.
func near(given string, names []string) string {
	if strings.ContainsAny(given, "*?[]{}") {
		return "" // a pattern, which no query knows
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.EqualFold(given, name) {
			return name
		}
	}
	const fewest, most = 1, 3
	return nearest.Within(min(max(len(given)/3, fewest), most, len(given)-1), given, names)
}
