// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citedRule     = regexp.MustCompile(`\brules? ([A-Z]{1,2}[0-9]+[a-z]?(?:(?:, | and | or | to )[A-Z]{1,2}[0-9]+[a-z]?)*)(?: of package ([a-z]+))?`)
	ruleName      = regexp.MustCompile(`[A-Z]{1,2}[0-9]+[a-z]?`)
	declaredRule  = regexp.MustCompile(`(?m)^\s*//\s+(?:- )?([A-Z]{1,2}[0-9]+[a-z]?)(?:\.| ) `)
	citedSection  = regexp.MustCompile(`\b(docs/[a-z-]+\.md), sections? ([0-9]+(?:\.[0-9]+)*)`)
	citedDecision = regexp.MustCompile(`\bdecision ([0-9]{4})\b`)
	commentBreak  = regexp.MustCompile(`\n\s*//\s*`)
)

// A comment that cites a rule, a section or a decision leads the reader to one that is there: rules
// to the comments of its own package or of the one above, unless it names another.
func TestCitationsLeadSomewhere(t *testing.T) {
	rules := map[string]map[string]bool{} // by directories, the last elements of which are the names of packages
	sources := map[string]string{}
	goFiles(t, func(name string, source []byte) {
		sources[name] = string(source)
		dir := path.Dir(filepath.ToSlash(name))
		if rules[dir] == nil {
			rules[dir] = map[string]bool{}
		}
		for _, match := range declaredRule.FindAllStringSubmatch(string(source), -1) {
			rules[dir][match[1]] = true
		}
	})
	isRule := func(dir, pkg, rule string) bool {
		if pkg == "" || path.Base(dir) == pkg {
			return rules[dir][rule] || rules[path.Dir(dir)][rule]
		}
		for other, declared := range rules {
			if (path.Base(other) == pkg || other == ".." && pkg == "cairn") && declared[rule] {
				return true
			}
		}
		return false
	}
	var count int
	for name, source := range sources {
		source = commentBreak.ReplaceAllString(source, " ") // a citation may go on in the next line
		dir := path.Dir(filepath.ToSlash(name))
		dead := func(citation string) {
			t.Errorf("%s cites %q, which is not there", strings.TrimPrefix(name, "../"), citation)
		}
		for _, match := range citedRule.FindAllStringSubmatch(source, -1) {
			for _, rule := range ruleName.FindAllString(match[1], -1) {
				count++
				if !isRule(dir, match[2], rule) {
					dead(match[0])
				}
			}
		}
		for _, match := range citedSection.FindAllStringSubmatch(source, -1) {
			count++
			if !hasSection(match[1], match[2]) {
				dead(match[0])
			}
		}
		for _, match := range citedDecision.FindAllStringSubmatch(source, -1) {
			count++
			if found, err := filepath.Glob("../docs/decisions/" + match[1] + "-*.md"); err != nil || len(found) != 1 {
				dead(match[0])
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d citations were found", count)
	}
}

// hasSection reports whether a document has a heading with a number.
func hasSection(name, number string) bool {
	content, err := os.ReadFile("../" + name)
	if err != nil {
		return false
	}
	found, err := regexp.Match(fmt.Sprintf(`(?m)^#+ %s[. ]`, regexp.QuoteMeta(number)), content)
	return err == nil && found
}
