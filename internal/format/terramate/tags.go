// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Query selects stacks by their tags: alternatives, of each of which a stack has all tags.
type Query [][]string

var tagPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?$`)

// ParseQuery reads a query: tags joined by ":", all of which are needed, and such groups joined by ",".
func ParseQuery(text string) (Query, error) {
	var query Query
	for alternative := range strings.SplitSeq(text, ",") {
		tags := strings.Split(alternative, ":")
		for _, tag := range tags {
			if err := checkTag(tag); err != nil {
				return nil, err
			}
		}
		query = append(query, tags)
	}
	return query, nil
}

func checkTag(tag string) error {
	if tag == "" {
		return fmt.Errorf("a tag is missing")
	}
	if !tagPattern.MatchString(tag) {
		return fmt.Errorf("%q is not a tag: tags begin and end with a letter or digit, and have only letters, digits, _, -, . and / between", tag)
	}
	return nil
}

// TagFilter lets pass what matches one of Tags, if there are any, and none of NoTags.
type TagFilter struct{ Tags, NoTags []Query }

// Passes tells whether something with these tags passes.
func (f TagFilter) Passes(tags []string) bool {
	matches := func(q Query) bool { return q.Matches(tags) }
	return (len(f.Tags) == 0 || slices.ContainsFunc(f.Tags, matches)) && !slices.ContainsFunc(f.NoTags, matches)
}

// Matches tells whether tags satisfy the query.
func (q Query) Matches(tags []string) bool {
	return slices.ContainsFunc(q, func(all []string) bool {
		return !slices.ContainsFunc(all, func(tag string) bool { return !slices.Contains(tags, tag) })
	})
}
