// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Widths are in columns, of which a tab is one.
const (
	maxCommentWidth = 100
	maxCodeWidth    = 140
)

// goFiles calls a function for each Go file of the module that was written by hand.
func goFiles(t *testing.T, visit func(path string, source []byte)) {
	t.Helper()
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name := entry.Name(); path != ".." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err == nil && !generated.Match(source) {
			visit(path, source)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tokens calls a function for each token of a file.
func tokens(source []byte, visit func(at token.Position, tok token.Token, literal string)) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		visit(file.Position(pos), tok, literal)
	}
}

// comments calls a function for each comment of a file, with the column at which it begins, from 1.
func comments(source []byte, visit func(line, column int, text string)) {
	tokens(source, func(at token.Position, tok token.Token, literal string) {
		if tok == token.COMMENT {
			visit(at.Line, at.Column, literal)
		}
	})
}

// Comments that have lines of their own are wrapped. Tables and commands, which are indented by a
// tab, are as wide as they are, and so are directives.
func TestCommentsAreWrapped(t *testing.T) {
	var wide []string
	goFiles(t, func(path string, source []byte) {
		lines := bytes.Split(source, []byte("\n"))
		comments(source, func(line, column int, text string) {
			alone := len(bytes.TrimSpace(lines[line-1][:column-1])) == 0
			if !alone || strings.HasPrefix(text, "//\t") || strings.HasPrefix(text, "//go:") || strings.HasPrefix(text, "//nolint") {
				return
			}
			if width := column - 1 + utf8.RuneCountInString(text); width > maxCommentWidth && strings.HasPrefix(text, "//") {
				wide = append(wide, fmt.Sprintf("%s:%d", strings.TrimPrefix(path, "../"), line))
			}
		})
	})
	if len(wide) > 0 {
		t.Errorf("%d lines of comments are wider than %d columns:\n%s", len(wide), maxCommentWidth, strings.Join(wide, "\n"))
	}
}

// Raw strings are as wide as they are: breaking JSON or a regular expression would hide its shape.
func TestCodeIsWrapped(t *testing.T) {
	var wide []string
	goFiles(t, func(path string, source []byte) {
		raw := map[int]bool{} // by lines
		tokens(source, func(at token.Position, tok token.Token, literal string) {
			if tok == token.STRING && literal[0] == '`' {
				for i := range 1 + strings.Count(literal, "\n") {
					raw[at.Line+i] = true
				}
			}
		})
		for i, line := range bytes.Split(source, []byte("\n")) {
			if utf8.RuneCount(line) > maxCodeWidth && !raw[i+1] {
				wide = append(wide, fmt.Sprintf("%s:%d", strings.TrimPrefix(path, "../"), i+1))
			}
		}
	})
	if len(wide) > 0 {
		t.Errorf("%d lines of code are wider than %d columns:\n%s", len(wide), maxCodeWidth, strings.Join(wide, "\n"))
	}
}

// The share of "what" in the words of comments and of messages, in thousandths. A clause with it
// stands where a noun would say more.
const (
	maxWhatInComments = 3
	maxWhatInMessages = 1
)

func TestNounsInPlaceOfClauses(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z']+`)
	var comment, message share
	goFiles(t, func(path string, source []byte) {
		comments(source, func(_, _ int, text string) { comment.add(word.FindAllString(text, -1)) })
		if !strings.HasSuffix(path, "_test.go") {
			messages(source, func(text string) { message.add(word.FindAllString(text, -1)) })
		}
	})
	for _, part := range []struct {
		name  string
		share share
		most  float64
	}{{"comments", comment, maxWhatInComments}, {"messages", message, maxWhatInMessages}} {
		rate := 1000 * float64(part.share.what) / float64(part.share.words)
		t.Logf("%d of %d words of %s are \"what\": %.2f in 1 000", part.share.what, part.share.words, part.name, rate)
		if rate >= part.most {
			t.Errorf("at most %g in 1 000 words of %s may be \"what\"", part.most, part.name)
		}
	}
}

type share struct{ words, what int }

func (s *share) add(words []string) {
	s.words += len(words)
	for _, word := range words {
		if strings.EqualFold(word, "what") {
			s.what++
		}
	}
}

// messages calls a function for each string of a file that has a space, as texts for people do.
func messages(source []byte, visit func(text string)) {
	tokens(source, func(_ token.Position, tok token.Token, literal string) {
		if tok == token.STRING && strings.Contains(literal, " ") {
			visit(literal)
		}
	})
}
