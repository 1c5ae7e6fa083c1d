// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func subject(dir string, tags ...string) Subject {
	s := Subject{Dir: dir, Tags: map[string]bool{"dir:" + dir: true}}
	for _, t := range tags {
		s.Tags[t] = true
	}
	return s
}

func TestOrderBMatch(t *testing.T) {
	for _, test := range []struct {
		name, query, dir, tags string
		want                   bool
	}{
		{"B-80 and", "a and b", "", "a b", true},
		{"B-80 and without one", "a and b", "", "a", false},
		{"B-80 or", "a or b", "", "b", true},
		{"B-80 or without any", "a or b", "", "c", false},
		{"B-80 any case", "a AND b Or c", "", "c", true},
		{"B-80 any case of not", "NOT a", "", "a", false},
		{"B-80 any case of in", "x IN dir", "a/x", "", true},
		{"B-80 side by side", "a b", "", "a", false},
		{"B-80 side by side holds", "a b", "", "a b", true},
		{"B-80 and before or", "a or b and c", "", "a", true},
		{"B-80 and before or, other side", "a and b or c", "", "c", true},
		{"B-80 side by side before or", "a or b c", "", "b", false},
		{"B-80 parentheses", "(a or b) and c", "", "a", false},
		{"B-80 parentheses side by side", "(a or b)(c)", "", "a c", true},
		{"B-81 not a tag", "not a and b", "", "b", true},
		{"B-81 not takes one tag", "not a or b", "", "a b", true},
		{"B-81 not a parenthesis", "not (a or b)", "", "b", false},
		{"B-81 not elements", "not x in dir", "a/x", "", false},
		{"B-82 empty", "", "a", "", true},
		{"B-82 spaces", " \t\n", "a", "", true},
		{"B-83 elements", "bar/baz in dir", "foo/bar/baz/zoom", "", true},
		{"B-83 whole elements", "az in dir", "foo/bar/baz/zoom", "", false},
		{"B-83 not beyond", "bar/zoom in dir", "foo/bar/baz/zoom", "", false},
		{"B-83 no globbing", "b* in dir", "foo/bar", "", false},
		{"B-83 first", "foo in dir", "foo/bar", "", true},
		{"B-83 last", "bar in dir", "foo/bar", "", true},
		{"B-83 tilde", "dir~bar/baz", "foo/bar/baz/zoom", "", true},
		{"B-83 tilde, whole elements", "dir~az", "foo/bar/baz/zoom", "", false},
		{"B-84 double quotes", `"and"`, "", "and", true},
		{"B-84 single quotes", `a 'or'`, "", "a or", true},
		{"B-84 single quotes without", `a 'or'`, "", "a", false},
		{"B-84 a tag with spaces", `"a b"`, "", "a b", true},
		{"B-86 dir", "dir:a/b", "a/b", "", true},
		{"B-86 dir is the whole path", "dir:a", "a/b", "", false},
		{"B-86 dir with a slash at the end", "dir:a/b/", "a/b", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			q, err := Parse(test.query)
			if err != nil {
				t.Fatal(err)
			}
			s := subject(test.dir, strings.Fields(test.tags)...)
			if test.name == "B-84 a tag with spaces" {
				s.Tags["a b"] = true
			}
			if got := q.Match(s); got != test.want {
				t.Errorf("%s on %s with %s is %t", test.query, test.dir, test.tags, got)
			}
			if tags, ok := q.AnyOf(func(tag string) int { return len(tag) }); ok && test.want && !hasAny(s, tags) {
				t.Errorf("%s matches without any of %v", test.query, tags)
			}
		})
	}
}

// expression is a random query: a text, with spaces, quotes and letters as somebody may write them,
// and its meaning.
type expression struct {
	text  string
	means func(s Subject) bool
}

// randomExpression makes one whose operators bind at least as tightly as level says: 0 or, 1 and, 2
// not, 3 a term.
func randomExpression(random *rand.Rand, level, depth int) expression {
	space := func() string { return []string{" ", "  ", "\t", " \n "}[random.IntN(4)] }
	gap := func() string { return []string{"", "", " ", "\t"}[random.IntN(4)] }
	word := func(text string) string {
		return []string{text, strings.ToUpper(text), strings.ToUpper(text[:1]) + text[1:]}[random.IntN(3)]
	}
	if depth == 0 && level < 3 {
		level = 3
	}
	switch level {
	case 0, 1:
		one := randomExpression(random, level+1, depth-1)
		if random.IntN(2) == 0 {
			return one
		}
		other := randomExpression(random, level, depth-1)
		if level == 0 {
			return expression{one.text + space() + word("or") + space() + other.text, func(s Subject) bool { return one.means(s) || other.means(s) }}
		}
		joined := space() + word("and") + space()
		if random.IntN(3) == 0 {
			joined = space() // side by side
		}
		return expression{one.text + joined + other.text, func(s Subject) bool { return one.means(s) && other.means(s) }}
	case 2:
		term := randomExpression(random, 3, depth-1)
		if random.IntN(3) > 0 {
			return term
		}
		return expression{word("not") + space() + term.text, func(s Subject) bool { return !term.means(s) }}
	}
	if depth > 0 && random.IntN(3) == 0 {
		inner := randomExpression(random, 0, depth-1)
		return expression{"(" + gap() + inner.text + gap() + ")", inner.means}
	}
	tag := []string{"a", "b", "c", "x-y", "and", "In", "a b"}[random.IntN(7)]
	if quotes := strings.ContainsAny(tag, " ") || tag == "and" || tag == "In"; quotes || random.IntN(5) == 0 {
		quote := []string{"'", `"`}[random.IntN(2)]
		return expression{quote + tag + quote, func(s Subject) bool { return s.Tags[tag] }}
	}
	elements := []string{"p", "p/q", "q", "q/r", "r"}[random.IntN(5)]
	within := func(s Subject) bool { return strings.Contains("/"+s.Dir+"/", "/"+elements+"/") }
	switch random.IntN(6) {
	case 0:
		return expression{elements + space() + word("in") + space() + "dir", within}
	case 1:
		return expression{"dir~" + elements, within}
	case 2:
		return expression{"dir:" + elements, func(s Subject) bool { return s.Dir == elements }}
	}
	return expression{tag, func(s Subject) bool { return s.Tags[tag] }}
}

// Lines B-80 to B-84 for random queries: however they are written, their meaning follows from their
// structure.
func TestOrderB80B81B83B84RandomQueries(t *testing.T) {
	for seed := range uint64(5000) {
		random := rand.New(rand.NewPCG(seed, 80))
		e := randomExpression(random, 0, 5)
		q, err := Parse(e.text)
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, e.text, err)
		}
		for range 8 {
			s := Subject{Dir: []string{"p", "p/q", "q/r", "x/p/q/r", "pp/q"}[random.IntN(5)], Tags: map[string]bool{}}
			s.Tags["dir:"+s.Dir] = true
			for _, tag := range []string{"a", "b", "c", "x-y", "and", "In", "a b"} {
				if random.IntN(2) == 0 {
					s.Tags[tag] = true
				}
			}
			if got, want := q.Match(s), e.means(s); got != want {
				t.Fatalf("seed %d: %q on %v is %t, want %t", seed, e.text, s, got, want)
			}
			if tags, ok := q.AnyOf(func(tag string) int { return len(tag) }); ok && q.Match(s) && !hasAny(s, tags) {
				t.Fatalf("seed %d: %q matches %v without any of %v", seed, e.text, s, tags)
			}
		}
	}
}

func hasAny(s Subject, tags []string) bool {
	for _, name := range tags {
		if s.Tags[name] {
			return true
		}
	}
	return false
}

func TestOrderB86RelativeDir(t *testing.T) {
	q, err := Parse("relative_dir:../base or (x and relative_dir:.)")
	if err != nil {
		t.Fatal(err)
	}
	q = q.At("projects/one/database")
	for dir, want := range map[string]bool{
		"projects/one/base":     true,
		"projects/two/base":     false,
		"projects/one/database": true,
	} {
		if got := q.Match(subject(dir, "x")); got != want {
			t.Errorf("%s: got %t", dir, got)
		}
	}
	if outside, err := Parse("relative_dir:../../x"); err != nil || outside.At("a").Match(subject("x")) {
		t.Error("a path that leaves the repository matches inside of it")
	}
}

func TestKeysAndAlternatives(t *testing.T) {
	parse := func(text, dir string) Query {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return q.At(dir)
	}
	if a, b := parse("relative_dir:../x", "p/a"), parse("relative_dir:../x", "q/a"); a.Key() == b.Key() {
		t.Errorf("%s for different directories", a.Key())
	}
	if a, b := parse("a and  (b)", "x"), parse("a b", "y"); a.Key() != b.Key() {
		t.Errorf("%s and %s", a.Key(), b.Key())
	}
	if a, b := parse("'a and' b", ""), parse("a and b", ""); a.Key() == b.Key() {
		t.Errorf("%s for different tags", a.Key())
	}
	var keys []string
	for _, q := range parse("a b or relative_dir:. or x in dir", "d").Alternatives() {
		keys = append(keys, q.Key())
	}
	if got, want := strings.Join(keys, "; "), `("a" and "b"); "dir:d"; inside"x"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if all := parse("", "").Alternatives(); len(all) != 1 || !all[0].Match(subject("x")) {
		t.Errorf("the empty query has %d alternatives", len(all))
	}
}

func TestOrderB85Errors(t *testing.T) {
	for query, want := range map[string]string{
		"(a or b":                      "(: no closing",
		"a) or b":                      "): no opening",
		")":                            "): no opening",
		"a or ()":                      "(: nothing between",
		"(":                            "(: no closing",
		"and a":                        "and: nothing before",
		"a and":                        "and: nothing after",
		"a or OR b":                    "OR: nothing before",
		"(a or) b":                     "or: nothing after",
		"not":                          "not: needs a tag",
		"not and":                      "not: needs a tag",
		"not NOT a":                    "not: needs a tag",
		"in dir":                       "in: nothing before",
		"a in":                         "in: needs the word \"dir\"",
		"a in tags":                    "tags: only the word \"dir\"",
		`a in "dir"`:                   `"dir": only the word "dir"`,
		"a in dir in":                  "in: nothing before",
		`a "b`:                         `"b: no closing "`,
		"a 'b c":                       "'b c: no closing '",
		"dir~":                         "dir~: no part of a path",
		strings.Repeat("(", 300) + "a": "(: more than 200 deep",
	} {
		t.Run(query, func(t *testing.T) {
			_, err := Parse(query)
			var problem *Error
			if !errors.As(err, &problem) {
				t.Fatalf("got %v, want an error with %q", err, want)
			}
			place, text, _ := strings.Cut(want, ": ")
			if got := query[problem.Offset : problem.Offset+problem.Length]; got != place {
				t.Errorf("at %q, want %q", got, place)
			}
			if !strings.Contains(problem.Message, strings.TrimPrefix(text, "no ")) ||
				strings.HasPrefix(text, "no ") && !strings.Contains(problem.Message, "no ") {
				t.Errorf("got %q, want %q in it", problem.Message, text)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a and (b or not c)", "x in dir", "dir~x 'a b'", "relative_dir:../a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			var problem *Error
			if !errors.As(err, &problem) || problem.Offset+problem.Length > len(text) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		s := subject("a/b", "a", "x")
		if tags, ok := q.AnyOf(func(tag string) int { return len(tag) }); ok && q.Match(s) && !hasAny(s, tags) {
			t.Errorf("%q matches without any of %v", text, tags)
		}
	})
}

// Spaces beyond ASCII take time in proportion to their number.
func TestManySpaces(t *testing.T) {
	begun := time.Now()
	q, err := Parse("a" + strings.Repeat("\u00a0", 1<<17) + "b")
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("reading takes %s", took)
	}
	if !q.Match(subject("", "a", "b")) || q.Match(subject("", "a")) {
		t.Error("the query does not mean both tags")
	}
}
