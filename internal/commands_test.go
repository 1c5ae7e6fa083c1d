// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// commandLines are the packages and files whose texts are for users of the command line only.
var commandLines = map[string]string{
	"cmd":                     "the programs",
	"internal/cli":            "their command lines",
	"internal/bench":          "measures commands, and its report names them",
	"internal/format/convert": "writes workspaces with instructions for work in a shell",
	"internal/show":           "writes and reads the reports of one command, which name it",

	"internal/forge/event.go":   "the comment by which people ask for an apply",
	"internal/bundle/header.go": "the first line of a file that people find in their repositories, without a program beside it",
}

// A command line has commands and options, and other callers of a library have not. So its messages
// name none: they have codes, for which the command line knows remedies.
func TestOnlyCommandLinesNameCommands(t *testing.T) {
	named := commandOrOption(t)
	for text, want := range map[string]string{
		"run \"cairn init\" first": "cairn init", "cairn state rm A": "cairn state rm", "use -json": "-json", "(-var=a=b)": "-var",
		"a cairn state: it": "", "cairn plans it": "", "as with terraform-json": "", "option --json": "",
	} {
		if got := strings.Join(named.FindStringSubmatch(text), ""); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("in %q, %q is found, want %q", text, got, want)
		}
	}
	unused := map[string]bool{}
	for at := range commandLines {
		unused[at] = true
	}
	goFiles(t, func(name string, source []byte) {
		name = strings.TrimPrefix(filepath.ToSlash(name), "../")
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		for at := name; at != "."; at = path.Dir(at) {
			if commandLines[at] != "" {
				unused[at] = false
				return
			}
		}
		messages(source, func(text string) {
			if found := named.FindString(text); found != "" {
				t.Errorf("%s names %q: %s", name, strings.TrimSpace(found), text)
			}
		})
	})
	for at, isUnused := range unused {
		if isUnused {
			t.Errorf("there is no %s, which may name commands", at)
		}
	}
}

// commandOrOption finds the commands of the program cairn, and its options.
func commandOrOption(t *testing.T) *regexp.Regexp {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/cairn", "completion", "bash")
	cmd.Dir = ".."
	script, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var commands, options []string
	for _, match := range regexp.MustCompile(`(?m)^ +" ([a-z ]+)"\) words="(.*?)"`).FindAllStringSubmatch(string(script), -1) {
		words := strings.Fields(match[2])
		if isGroup := !strings.HasPrefix(words[0], "-") && len(words) > 2 && words[len(words)-3][0] != '-'; !isGroup {
			commands = append(commands, match[1])
		}
		for _, word := range words {
			if name, ok := strings.CutPrefix(strings.TrimSuffix(word, "="), "-"); ok && len(name) > 1 {
				options = append(options, name)
			}
		}
	}
	if len(commands) < 30 || len(options) < 100 {
		t.Fatalf("there are %d commands with %d options: these are not all", len(commands), len(options))
	}
	return regexp.MustCompile(`\bcairn (` + strings.Join(commands, "|") + `)\b` +
		"|[\\s\"'(`]-(" + strings.Join(options, "|") + ")(?:[\\s\"').,;:=\\\\`]|$)")
}
