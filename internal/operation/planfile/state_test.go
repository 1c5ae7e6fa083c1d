// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestStateVersionCheck(t *testing.T) {
	dir := t.TempDir()
	here, there, link := filepath.Join(dir, "here"), filepath.Join(dir, "there"), filepath.Join(dir, "link")
	for _, name := range []string{here, there} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(here, link); err != nil {
		t.Skip(err)
	}
	at := func(dir, lineage string, serial uint64) StateVersion {
		return StateVersion{File: filepath.Join(dir, "s.db"), Lineage: lineage, Serial: serial}
	}
	const elsewhere, another, stale = "State in another place", "Plan for another state", "Stale plan"
	for name, test := range map[string]struct {
		made, now StateVersion
		want      string // summary, "" if it fits
		says      string
	}{
		"as it was":                     {at(here, "a", 3), at(here, "a", 3), "", ""},
		"changed":                       {at(here, "a", 3), at(here, "a", 4), stale, "at serial 4"},
		"same state, mounted elsewhere": {at(here, "a", 3), at(there, "a", 3), "", ""},
		"mounted elsewhere and changed": {at(here, "a", 3), at(there, "a", 4), stale, "at serial 4"},
		"another one":                   {at(here, "a", 3), at(here, "b", 3), another, "lineage b"},
		"another one elsewhere":         {at(here, "a", 3), at(there, "b", 3), elsewhere, "which is another one, of lineage b"},
		"gone":                          {at(here, "a", 3), at(here, "", 0), another, "there is none"},
		"none elsewhere":                {at(here, "a", 3), at(there, "", 0), elsewhere, "where there is none"},
		"first apply":                   {at(here, "", 0), at(here, "", 0), "", ""},
		"first apply by another path":   {at(here, "", 0), at(link, "", 0), "", ""},
		"first apply elsewhere":         {at(here, "", 0), at(there, "", 0), elsewhere, "must not begin one each"},
		"first apply, of another file": {
			at(here, "", 0),
			StateVersion{File: filepath.Join(here, "t.db")},
			elsewhere,
			"must not begin one each",
		},
		"first apply where nothing is": {
			at(filepath.Join(dir, "no"), "", 0), at(filepath.Join(dir, "none"), "", 0), elsewhere,
			"must not begin one each",
		},
		"first apply was done":            {at(here, "", 0), at(here, "a", 1), stale, "applied already"},
		"first apply, another elsewhere":  {at(here, "", 0), at(there, "b", 2), elsewhere, "where there is one already, at serial 2"},
		"place unknown":                   {StateVersion{Lineage: "a"}, at(here, "b", 0), another, "of lineage a, and the state in"},
		"place unknown, first apply":      {StateVersion{}, at(here, "", 0), "", ""},
		"in no file, before and after":    {StateVersion{Lineage: "a", Serial: 1}, StateVersion{Lineage: "a", Serial: 1}, "", ""},
		"in no file, another one":         {StateVersion{Lineage: "a"}, StateVersion{Lineage: "b"}, another, "lineage b"},
		"in no file, and there is no one": {StateVersion{Lineage: "a"}, StateVersion{}, another, "there is none"},
	} {
		diag := test.made.Check(test.now)
		switch {
		case diag == nil:
			if test.want != "" {
				t.Errorf("%s: it fits, want %q", name, test.want)
			}
		case diag.Summary != test.want || !strings.Contains(diag.Detail, test.says) || !strings.Contains(diag.Detail, "Nothing was done."):
			t.Errorf("%s: got %q: %s\nwant %q that says %q", name, diag.Summary, diag.Detail, test.want, test.says)
		default:
			code := engine.FaultOf(diag)
			if isOther := code == CodeOtherState; isOther == (test.want == stale) {
				t.Errorf("%s: got code %q for %q", name, code, diag.Summary)
			}
		}
	}
}

func TestStatePlace(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for file, want := range map[string]string{
		"":                                 "",
		"s.db":                             filepath.Join(dir, "s.db"),
		filepath.Join(link, "s.db"):        filepath.Join(dir, "s.db"),
		filepath.Join(dir, "none", "s.db"): filepath.Join(dir, "none", "s.db"),
		filepath.Join("..", filepath.Base(dir), "s.db"): filepath.Join(dir, "s.db"),
	} {
		if got := StatePlace(file); got != want {
			t.Errorf("StatePlace(%q): got %q, want %q", file, got, want)
		}
	}
}
