// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairnstacks/cairn/internal/views/markdown"
)

// Comment is one on a request, as both APIs have it.
type Comment struct {
	ID     int64
	Author string
	Body   string
}

// person is a user, whose name is the login at GitHub, and the username at GitLab.
type person struct {
	Login    string `json:"login"`
	Username string `json:"username"`
}

func (p person) name() string { return cmp.Or(p.Login, p.Username) }

// ReadUser returns the name in the document of a user.
func ReadUser(document []byte) (string, error) {
	var read person
	if err := json.Unmarshal(document, &read); err != nil {
		return "", fmt.Errorf("read user: %w", err)
	}
	return read.name(), nil
}

// ReadComments returns the comments of one page.
func ReadComments(page []byte) ([]Comment, error) {
	var read []struct {
		ID     int64  `json:"id"`
		Body   string `json:"body"`
		User   person `json:"user"`
		Author person `json:"author"`
	}
	if err := json.Unmarshal(page, &read); err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	var comments []Comment
	for _, one := range read {
		comments = append(comments, Comment{ID: one.ID, Author: cmp.Or(one.User.name(), one.Author.name()), Body: one.Body})
	}
	return comments, nil
}

// Ours are the comments of an id.
type Ours struct {
	Keep   int64   // 0 if there is none
	Remove []int64 // repetitions
	Run    string  // that has the plans of the kept one; "" if none has
	Body   string  // of the kept one
}

// Find finds our comments among all of a request (rules F1 and F2). IDs grow with time.
func Find(comments []Comment, author, id string) Ours {
	var ours []Comment
	for _, comment := range comments {
		if comment.Author == author && strings.HasPrefix(comment.Body, markerOf(id)) {
			ours = append(ours, comment)
		}
	}
	if len(ours) == 0 {
		return Ours{}
	}
	slices.SortFunc(ours, func(a, b Comment) int { return cmp.Compare(a.ID, b.ID) })
	found := Ours{Keep: ours[0].ID, Body: ours[0].Body}
	if match := markedRun.FindStringSubmatch(found.Body); match != nil {
		found.Run = match[1]
	}
	for _, other := range ours[1:] {
		found.Remove = append(found.Remove, other.ID)
	}
	return found
}

var markedRun = regexp.MustCompile(`^<!-- cairn id=[^ \n]* run=([0-9]+) -->\n`)

// markerOf is the beginning of a marker. Escaped, an id cannot end it.
func markerOf(id string) string { return "<!-- cairn id=" + url.QueryEscape(id) + " run=" }

// MaxNote is the greatest number of characters that a note adds to a text.
const MaxNote = 2_200

const (
	noteStart = "<!-- note -->\n"
	noteEnd   = "<!-- end of note -->\n\n"
	maxQuote  = 1_800 // of the characters of an explanation, with their escapes
)

// Text is a comment without its marker.
type Text struct {
	Title string // of the note; "" for none
	Note  string // explains a refusal: the output of a command
	Main  string // about the plan
}

// Body returns the text of a comment with the marker of an id and of the run that has the plans.
func (t Text) Body(id, run string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s -->\n", markerOf(id), run)
	if t.Title != "" {
		b.WriteString(noteStart + "**" + markdown.Code(t.Title) + "**\n\n<pre>\n")
		left := maxQuote
		for line := range strings.Lines(strings.TrimSpace(t.Note)) {
			line = cmp.Or(markdown.Text(strings.TrimRight(line, "\r\n")), " ") + "\n"
			if left -= utf8.RuneCountInString(line); left < 0 {
				b.WriteString("…\n")
				break
			}
			b.WriteString(line)
		}
		b.WriteString("</pre>\n" + noteEnd)
	}
	b.WriteString(t.Main)
	return b.String()
}

// MainOf returns the text about the plan in the body of a comment of ours.
func MainOf(body string) string {
	_, rest, _ := strings.Cut(body, "\n")
	// A site may have changed the ends of lines.
	rest = strings.ReplaceAll(rest, "\r\n", "\n")
	if noted, ok := strings.CutPrefix(rest, noteStart); ok {
		if _, after, ok := strings.Cut(noted, noteEnd); ok {
			return after
		}
	}
	return rest
}

// Document returns the document that makes or changes a comment.
func Document(body string) ([]byte, error) {
	return json.Marshal(struct {
		Body string `json:"body"`
	}{body})
}
