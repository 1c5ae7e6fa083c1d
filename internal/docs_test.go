// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// documents are the texts of all Markdown files of the repository, by their paths from its root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := entry.Name(); {
		case entry.IsDir() && name != ".." && (strings.HasPrefix(base, ".") || base == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(base) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		document, err := filepath.Rel("..", name)
		found[filepath.ToSlash(document)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```$")
	quoted = regexp.MustCompile("`[^`\n]*`")

	// link finds links and pictures: their text, and the target in parentheses.
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
)

// prose returns a document without examples of code, in which brackets are no links.
func prose(text string) string {
	return quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
}

// anchors are the names of the headings of a document, as GitHub makes them.
func anchors(text string) []string {
	var names []string
	same := map[string]int{}
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := anchor(match[1])
		names = append(names, name)
		if n := same[name]; n > 0 {
			names[len(names)-1] = fmt.Sprintf("%s-%d", name, n)
		}
		same[name]++
	}
	return names
}

func anchor(title string) string {
	title = link.ReplaceAllStringFunc(title, func(whole string) string { return whole[1:strings.Index(whole, "]")] })
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// deadLinks returns the links of a document that lead to no file of the repository, or to no
// heading of one.
func deadLinks(document string, all map[string]string, exists func(string) bool) []string {
	var dead []string
	for _, match := range link.FindAllStringSubmatch(prose(all[document]), -1) {
		file, name, _ := strings.Cut(match[1], "#")
		if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
			continue
		}
		target := document
		if file != "" {
			target = path.Join(path.Dir(document), file)
		}
		text, isDocument := all[target]
		if !isDocument && !exists(target) || name != "" && !slices.Contains(anchors(text), name) {
			dead = append(dead, match[1])
		}
	}
	return dead
}

func TestLinksBetweenDocuments(t *testing.T) {
	all := documents(t)
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
		return err == nil
	}
	var links int
	for document, text := range all {
		links += len(link.FindAllString(prose(text), -1))
		for _, target := range deadLinks(document, all, exists) {
			t.Errorf("%s: the link to %s is dead", document, target)
		}
	}
	if links < 200 {
		t.Errorf("there are %d links: these are not all", links)
	}
}

func TestDeadLinksAreFound(t *testing.T) {
	all := map[string]string{
		"docs/a.md": "# A `name`: and_more\n## Same\n## Same\n## Same\n```\n# No heading\n[code](nowhere.md)\n```\n`[more](code.md)`\n" +
			"[here](#a-name-and_more) [again](#same-1) [last](#same-2) [up](../b.md#b) ![picture](p.svg) [web](https://example.com/x.md#y)\n" +
			"[gone](gone.md) [no heading](#no-heading) [other](../b.md#c) [above](b.md) [never](#same-3)",
		"b.md": "# B\n",
	}
	got := strings.Join(deadLinks("docs/a.md", all, func(name string) bool { return name == "docs/p.svg" }), " ")
	if want := "gone.md #no-heading ../b.md#c b.md #same-3"; got != want {
		t.Errorf("dead links: %s, want %s", got, want)
	}
}
