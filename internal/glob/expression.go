// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package glob

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// The limits of patterns and regular expressions from untrusted files. Matching takes time in
// proportion to the size and to the text, so that a large one makes each of many names slow.
const (
	MaxLength       = 1000 // bytes
	maxInstructions = 2000 // of a regular expression; a{1000} has 1000 of them
)

var errLong = fmt.Errorf("it is longer than %d characters", MaxLength)

// Expression reads a regular expression. The size is about how many steps matching takes for each
// character of a text.
func Expression(text string) (matcher *regexp.Regexp, size int, err error) {
	if len(text) > MaxLength {
		return nil, 0, errLong
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(program.Inst) > maxInstructions {
		return nil, 0, errors.New("it is too large, as its repetitions stand for many copies")
	}
	matcher, err = regexp.Compile(text)
	return matcher, len(program.Inst), err
}
