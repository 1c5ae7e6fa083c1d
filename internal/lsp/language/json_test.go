// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/lsp/language"
)

const (
	jsonFile = "stack/more.tfcomponent.json"
	jsonText = `{
  "variable": {"zone": {"type": "string", "description": "Which one."}},
  "locals": {"short": "${var.zone}-${local.prefix}"},
  "component": {
    "json": {
      "source": "../modules/net",
      "inputs": {"cidr": "${component.net.id}", "options": {"dns": true}},
      "depends_on": ["component.many"]
    }
  }
}
`
)

func openJSON(t *testing.T, main string) session {
	t.Helper()
	return open(t, world+"-- "+mainFile+" --\n"+main+"\n-- "+jsonFile+" --\n"+jsonText, "stack")
}

// Files in JSON take part: their declarations and references are found in all files, and from
// there.
func TestJSON(t *testing.T) {
	s := openJSON(t, "locals {\n  a = component.json.id\n  b = var.zone\n}\n")
	at := func(text string) int { return strings.Index(jsonText, text) + len(text) }
	for text, want := range map[string]string{
		"${var.zo":          "stack/more.tfcomponent.json:2 zone",
		"${local.pre":       "stack/other.tfcomponent.hcl:20 prefix",
		"${component.net.i": "modules/net/main.tf:12 id",
		`["component.ma`:    "stack/other.tfcomponent.hcl:30 many",
		`{"ci`:              "modules/net/main.tf:1 cidr",
		`"../modules/n`:     "modules/net/main.tf:1 ",
	} {
		if got := strings.Join(s.places(s.Definition(s.path(jsonFile), at(text))), ", "); got != want {
			t.Errorf("definition at %q: got %q, want %q", text, got, want)
		}
	}
	if hover := s.Hover(s.path(jsonFile), at("${var.zo")); hover == nil || !strings.Contains(hover.Text, "Which one.") {
		t.Errorf("hover: got %v", hover)
	}
	if got := labels(s.Complete(s.path(jsonFile), at("${component.net."))); !slices.Equal(got, []string{"id", "thing", "zones"}) {
		t.Errorf("completion: got %q", got)
	}
	if got := labels(s.Complete(s.path(jsonFile), at(`"inputs": {`))); len(got) > 0 {
		t.Errorf("completion where no template is: got %q", got)
	}

	renaming, err := s.Rename(s.path(mainFile), strings.Index(s.read(mainFile), "json"), "other")
	if err != nil || !strings.Contains(renaming.Note, "component.json to component.other") {
		t.Fatalf("got %v, error %v", renaming, err)
	}
	after := s.apply(renaming.Edits)
	if got := after.read(jsonFile); !strings.Contains(got, `"other": {`) || !json.Valid([]byte(got)) {
		t.Errorf("got %s", got)
	}
	if got := after.read(mainFile); !strings.Contains(got, "component.other.id") {
		t.Errorf("got %s", got)
	}
}

// Every place of a file in JSON has answers.
func TestJSONEveryPlace(t *testing.T) {
	s := openJSON(t, "")
	view := viewOf(t, s.path("stack"))
	for i, file := range view.Files {
		if file.Path != s.path(jsonFile) {
			continue
		}
		for offset := range len(file.Src) + 1 {
			askAll(t, s.Stack, view, file, offset)
			view.Files[i].Src = file.Src[:offset:offset]
			askAll(t, language.New(view), view, view.Files[i], offset)
			view.Files[i].Src = file.Src
		}
	}
}
