// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package glob matches slash-separated paths with patterns. Matching takes time linear in the path,
// whatever the pattern, which has at most [MaxLength] bytes.
//
// In a pattern, * stands for any text without a slash, ? for one such character, ** as a whole path
// element for any number of elements, also none, [ab-c] and [!a] for one character of a set, and
// {a,b} for one of several texts. A backslash takes the meaning from the character that follows.
// Everything else stands for itself.
package glob

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Pattern is a compiled pattern.
type Pattern struct {
	text   string
	prefix string // the beginning of each path that matches

	// One of these, or none for a pattern without special characters. Most patterns have a single *,
	// or ** at the end, and need no regular expression, which costs a hundred times as much to
	// compile.
	matcher *regexp.Regexp
	suffix  func(rest string) bool // for the part after the prefix
}

const metaCharacters = `*?[{\`

// HasMeta reports whether a text is more than a plain path.
func HasMeta(text string) bool { return strings.ContainsAny(text, metaCharacters) }

// Compile reads a pattern.
func Compile(text string) (Pattern, error) {
	if len(text) > MaxLength {
		return Pattern{}, fmt.Errorf("pattern is longer than %d characters", MaxLength)
	}
	first := strings.IndexAny(text, metaCharacters)
	if first < 0 {
		return Pattern{text: text, prefix: text}, nil
	}
	prefix, rest := text[:first], text[first:]
	if suffix := simple(prefix, rest); suffix != nil {
		return Pattern{text: text, prefix: prefix, suffix: suffix}, nil
	}
	expr, err := translate(text)
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	matcher, err := regexp.Compile(`^(?s:` + expr + `)$`)
	if problem, ok := errors.AsType[*syntax.Error](err); ok && problem.Code == syntax.ErrNestingDepth {
		return Pattern{}, fmt.Errorf("pattern %q has braces that are nested too deep", text)
	}
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q has an invalid set of characters", text)
	}
	return Pattern{text: text, prefix: prefix, matcher: matcher}, nil
}

// simple returns a function that matches the rest of a simple pattern, after its prefix; nil if it
// is not simple.
func simple(prefix, rest string) func(path string) bool {
	if rest == "**" && (prefix == "" || strings.HasSuffix(prefix, "/")) {
		return func(string) bool { return true }
	}
	end, ok := strings.CutPrefix(rest, "*")
	if !ok || HasMeta(end) {
		return nil
	}
	return func(path string) bool {
		middle, ok := strings.CutSuffix(path, end)
		return ok && !strings.Contains(middle, "/")
	}
}

// Size is about how many steps matching takes for each character of a path.
func (p Pattern) Size() int {
	if p.matcher == nil {
		return 1
	}
	return len(p.text) + 1
}

// Prefix returns the text that each path begins with which the pattern matches.
func (p Pattern) Prefix() string { return p.prefix }

// Match reports whether the pattern is one for the whole path.
func (p Pattern) Match(path string) bool {
	switch {
	case p.matcher != nil:
		return p.matcher.MatchString(path)
	case p.suffix != nil:
		rest, ok := strings.CutPrefix(path, p.prefix)
		return ok && p.suffix(rest)
	}
	return p.text == path
}

func (p Pattern) String() string { return p.text }

// translate makes a regular expression of a pattern.
func translate(text string) (string, error) {
	var b strings.Builder
	braces := 0
	for i := 0; i < len(text); {
		rest := text[i:]
		atStart := i == 0 || text[i-1] == '/'
		switch {
		case atStart && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case atStart && rest == "**":
			b.WriteString(`.*`)
			i += 2
		case rest[0] == '*':
			// Several within a segment are like one, as in the patterns of git.
			b.WriteString(`[^/]*`)
			i += len(rest) - len(strings.TrimLeft(rest, "*"))
		case rest[0] == '?':
			b.WriteString(`[^/]`)
			i++
		case rest[0] == '[':
			set, length, err := translateSet(rest)
			if err != nil {
				return "", err
			}
			b.WriteString(set)
			i += length
		case rest[0] == '{':
			b.WriteString(`(?:`)
			braces++
			i++
		case rest[0] == '}' && braces > 0:
			b.WriteString(`)`)
			braces--
			i++
		case rest[0] == ',' && braces > 0:
			b.WriteString(`|`)
			i++
		case rest[0] == '\\':
			if len(rest) == 1 {
				return "", errors.New("nothing follows the last backslash")
			}
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
	if braces > 0 {
		return "", errors.New("a { has no closing }")
	}
	return b.String(), nil
}

var quoter = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`)

// Quote returns a pattern that a path matches, and nothing else.
func Quote(path string) string { return quoter.Replace(path) }

// translateSet makes a regular expression of the set of characters that a text starts with.
func translateSet(text string) (expr string, length int, err error) {
	end := strings.IndexByte(text[1:], ']')
	if end <= 0 {
		return "", 0, errors.New("a [ has no closing ], or nothing in it")
	}
	set := text[1 : end+1]
	not := ""
	if set[0] == '!' || set[0] == '^' {
		not, set = "^/", set[1:]
	}
	if set == "" {
		return "", 0, errors.New("a [ has nothing in it")
	}
	return "[" + not + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(set) + "]", end + 2, nil
}
