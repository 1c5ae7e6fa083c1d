// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/glob"
)

// matcher returns which ids a target of a top file stands for. All that is known of a machine is
// its id.
func matcher(kind, expression string) (func(id string) bool, error) {
	switch kind {
	case "glob":
		return compilePattern(expression).MatchString, nil
	case "list":
		names := strings.Split(expression, ",")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		return func(id string) bool { return slices.Contains(names, id) }, nil
	case "pcre":
		// From the start of the id, and not necessarily to its end.
		compiled, _, err := glob.Expression(`^(?:` + expression + `)`)
		if err != nil {
			return nil, fmt.Errorf("it is not a regular expression that cairn understands: %w", err)
		}
		return compiled.MatchString, nil
	case "compound":
		return parseCompound(expression)
	}
	return nil, fmt.Errorf("only the id of a machine is known, so that \"match\" can be glob, list, pcre or compound, and not %q", kind)
}

// compound reads a combination of other targets with "and", "or", "not" and parentheses. The words
// are between spaces.
type compound struct {
	words []string
}

func parseCompound(expression string) (func(id string) bool, error) {
	c := &compound{words: strings.Fields(expression)}
	matches, err := c.either()
	if err != nil {
		return nil, err
	}
	if len(c.words) > 0 {
		return nil, fmt.Errorf("%q stands where \"and\" or \"or\" should", c.words[0])
	}
	return matches, nil
}

func (c *compound) next(word string) bool {
	if len(c.words) == 0 || c.words[0] != word {
		return false
	}
	c.words = c.words[1:]
	return true
}

func (c *compound) either() (func(string) bool, error) {
	first, err := c.both()
	for err == nil && c.next("or") {
		var second func(string) bool
		before := first
		if second, err = c.both(); err == nil {
			first = func(id string) bool { return before(id) || second(id) }
		}
	}
	return first, err
}

func (c *compound) both() (func(string) bool, error) {
	first, err := c.single()
	for err == nil && c.next("and") {
		var second func(string) bool
		before := first
		if second, err = c.single(); err == nil {
			first = func(id string) bool { return before(id) && second(id) }
		}
	}
	return first, err
}

func (c *compound) single() (func(string) bool, error) {
	negated := false
	for c.next("not") {
		negated = !negated
	}
	matches, err := c.word()
	if err != nil || !negated {
		return matches, err
	}
	return func(id string) bool { return !matches(id) }, nil
}

func (c *compound) word() (func(string) bool, error) {
	if len(c.words) == 0 {
		return nil, errors.New("it ends where a target is expected")
	}
	if c.next("(") {
		matches, err := c.either()
		if err == nil && !c.next(")") {
			err = errors.New("a parenthesis is not closed; put spaces around each")
		}
		return matches, err
	}
	word := c.words[0]
	c.words = c.words[1:]
	if word == "and" || word == "or" || word == ")" {
		return nil, fmt.Errorf("%q stands where a target is expected", word)
	}
	if kind, rest, ok := strings.Cut(word, "@"); ok && len(kind) == 1 {
		switch kind {
		case "E":
			return matcher("pcre", rest)
		case "L":
			return matcher("list", rest)
		}
		return nil, fmt.Errorf("only the id of a machine is known, so that whether %q matches is unknown; use a glob, E@ or L@", word)
	}
	return matcher("glob", word)
}
