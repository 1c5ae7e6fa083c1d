// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Terms select by tags, as -tags does: alternatives, of one of which each match has all tags.
type Terms [][]string

var tagPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?$`)

// ParseTerms reads terms: tags joined by ":", all of which are needed, and such groups joined by
// ",".
func ParseTerms(text string) (Terms, error) {
	var terms Terms
	for alternative := range strings.SplitSeq(text, ",") {
		tags := strings.Split(alternative, ":")
		for _, tag := range tags {
			if err := CheckTag(tag); err != nil {
				return nil, err
			}
		}
		terms = append(terms, tags)
	}
	return terms, nil
}

// CheckTag returns the mistake in a tag, nil if it has none.
func CheckTag(tag string) error {
	if tag == "" {
		return fmt.Errorf("a tag is missing")
	}
	if !tagPattern.MatchString(tag) {
		return fmt.Errorf("%q is not a tag: tags begin and end with a letter or digit, and have only letters, digits, _, -, . and / between", tag)
	}
	return nil
}

// TagFilter passes tags that match one of Tags, if there are any, and none of NoTags.
type TagFilter struct{ Tags, NoTags []Terms }

// Passes reports whether something with these tags passes.
func (f TagFilter) Passes(tags []string) bool {
	matches := func(t Terms) bool { return t.Matches(tags) }
	return (len(f.Tags) == 0 || slices.ContainsFunc(f.Tags, matches)) && !slices.ContainsFunc(f.NoTags, matches)
}

// Matches reports whether tags satisfy the terms.
func (t Terms) Matches(tags []string) bool {
	return slices.ContainsFunc(t, func(all []string) bool {
		return !slices.ContainsFunc(all, func(tag string) bool { return !slices.Contains(tags, tag) })
	})
}
