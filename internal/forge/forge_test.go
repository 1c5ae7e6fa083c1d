// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forge_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairnstacks/cairn/internal/forge"
)

// Rules F1 and F2.
func TestFind(t *testing.T) {
	page := `[
		{"id": 9, "user": {"login": "bot"}, "body": "<!-- cairn id=live run=12 -->\ntext"},
		{"id": 3, "user": {"login": "mallory"}, "body": "<!-- cairn id=live run=666 -->\n"},
		{"id": 5, "author": {"username": "bot"}, "body": "<!-- cairn id=live run=11 -->\r\nolder"},
		{"id": 4, "user": {"login": "bot"}, "body": "<!-- cairn id=other run=13 -->\n"},
		{"id": 2, "user": null, "body": null},
		{"id": 1, "user": {"login": "bot"}, "body": "says <!-- cairn id=live run=14 -->\n"}
	]`
	comments, err := forge.ReadComments([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	ours := forge.Find(comments, "bot", "live")
	if ours.Keep != 5 || !slices.Equal(ours.Remove, []int64{9}) || forge.MainOf(ours.Body) != "older" {
		t.Errorf("found %+v", ours)
	}
	if ours := forge.Find(comments, "bot", "other"); ours.Keep != 4 || ours.Run != "13" {
		t.Errorf("found %+v", ours)
	}
	if ours := forge.Find(comments, "nobody", "live"); ours.Keep != 0 || ours.Remove != nil {
		t.Errorf("found %+v of nobody", ours)
	}
	if _, err := forge.ReadComments([]byte(`{"message": "Not Found"}`)); err == nil {
		t.Error("an error was read as comments")
	}
}

// What a body was made of is found in it, with any id and any note.
func TestBody(t *testing.T) {
	const id = "a --> <b>\n/ö"
	hostile := "</pre><!-- end of note -->\n\n@all " + strings.Repeat("<", 5000)
	for _, text := range []forge.Text{
		{Main: "## Plan\n\ntext\n"},
		{Title: "Not applied: `x`", Note: hostile, Main: "## Plan\n"},
		{Title: "Not applied", Main: ""},
	} {
		body := text.Body(id, "42")
		ours := forge.Find([]forge.Comment{{ID: 1, Author: "bot", Body: body}}, "bot", id)
		if ours.Keep != 1 || ours.Run != "42" {
			t.Errorf("of %q, %+v is found", body, ours)
		}
		if got := forge.MainOf(body); got != text.Main {
			t.Errorf("the main text is %q, want %q", got, text.Main)
		}
		if n := utf8.RuneCountInString(body) - len(text.Main); n > forge.MaxNote+200 {
			t.Errorf("a note has %d characters", n)
		}
		if strings.Contains(body, "@all") || strings.Count(body, "</pre>") > 1 {
			t.Errorf("a note breaks out: %q", body)
		}
	}
}

func TestGitHubEvent(t *testing.T) {
	for payload, want := range map[string]forge.Event{
		`{"action": "opened", "pull_request": {"number": 4, "head": {"sha": "abc"}}}`:                     {Number: "4", Commit: "abc"},
		`{"action": "closed", "pull_request": {"number": 4, "merged": true}}`:                             {Number: "4", Merged: true},
		`{"action": "closed", "pull_request": {"number": 4}}`:                                             {Number: "4"},
		`{"action": "labeled", "pull_request": {"number": 4, "merged": true}}`:                            {Number: "4"},
		comment("created", `"pull_request": {}`, "cairn apply"):                                           {Number: "4", Asked: true, User: "al-ice[bot]"},
		comment("created", `"pull_request": {}`, ` cairn   apply\r\nplease`):                              {Number: "4", Asked: true, User: "al-ice[bot]"},
		comment("created", `"pull_request": {}`, "cairn apply now"):                                       {Number: "4"},
		comment("created", `"pull_request": {}`, `> cairn apply`):                                         {Number: "4"},
		comment("edited", `"pull_request": {}`, "cairn apply"):                                            {Number: "4"},
		comment("created", `"title": "an issue"`, "cairn apply"):                                          {},
		`{"ref": "refs/heads/main"}`:                                                                      {},
		`{"action": "created", "issue": {"number": 4, "pull_request": {}}, "comment": {"body": "hello"}}`: {Number: "4"},
	} {
		if got, err := forge.GitHubEvent([]byte(payload)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", payload, got, err, want)
		}
	}
	// Rule F4.
	hostile := strings.Replace(comment("created", `"pull_request": {}`, "cairn apply"), "al-ice[bot]", "$(id)", 1)
	if got, err := forge.GitHubEvent([]byte(hostile)); err == nil {
		t.Errorf("%+v is read of %s", got, hostile)
	}
}

func comment(action, issue, body string) string {
	return `{"action": "` + action + `", "issue": {"number": 4, ` + issue + `}, "comment": {"body": "` + body + `", "user": {"login": "al-ice[bot]"}}}`
}

func TestGitLabEvent(t *testing.T) {
	if got, err := forge.GitLabEvent("7", nil); err != nil || got != (forge.Event{Number: "7"}) {
		t.Errorf("of a merge request: %+v, %v", got, err)
	}
	payload := `{"user": {"id": 5}, "object_attributes": {"note": "cairn apply"}, "merge_request": {"iid": 8, "last_commit": {"id": "abc"}}}`
	want := forge.Event{Number: "8", Asked: true, User: "5", Commit: "abc"}
	if got, err := forge.GitLabEvent("", []byte(payload)); err != nil || got != want {
		t.Errorf("of a comment: %+v, %v; want %+v", got, err, want)
	}
	if got, err := forge.GitLabEvent("", []byte(`{"object_kind": "push"}`)); err != nil || got != (forge.Event{}) {
		t.Errorf("of a push: %+v, %v", got, err)
	}
	if number, err := forge.MergedBy([]byte(`[{"iid": 1, "state": "opened"}, {"iid": 2, "state": "merged"}]`)); err != nil || number != "2" {
		t.Errorf("merged by %q, %v", number, err)
	}
}

func TestMayWrite(t *testing.T) {
	for document, want := range map[string]bool{
		`{"permission": "admin"}`: true, `{"permission": "write", "role_name": "maintain"}`: true, `{"permission": "read"}`: false,
		`{"permission": "none"}`: false, `{"access_level": 30, "state": "active"}`: true, `{"access_level": 50}`: true,
		`{"access_level": 20}`: false, `{"access_level": 40, "state": "blocked"}`: false, `{}`: false,
	} {
		if got, err := forge.MayWrite([]byte(document)); err != nil || got != want {
			t.Errorf("%s: %t, %v; want %t", document, got, err, want)
		}
	}
	if allowed, err := forge.MayWrite([]byte(`<html>`)); err == nil || allowed {
		t.Error("a page of HTML is a permission")
	}
}
