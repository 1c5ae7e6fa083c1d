// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/lsp/language"
)

const workspaceStart = `
stack "network" {
  path = "live/network"
  tags = ["net", "base"]
}
stack "app" { after = ["network"] }
group "all" { members = ["network", "app"] }
`

const workspacePath = "/repo/" + cairnfile.FileName

func openWorkspace(text string) (*language.Stack, []byte) {
	src := []byte(workspaceStart + text)
	directories := func(dir string) []string {
		return map[string][]string{"/repo": {"live", ".git", "modules"}, "/repo/live": {"network", "app"}}[filepath.ToSlash(filepath.Clean(dir))]
	}
	return workspaceOf(src, directories), src
}

func workspaceOf(src []byte, directories func(string) []string) *language.Stack {
	file := language.File{Path: workspacePath, Name: cairnfile.FileName, Src: src}
	return language.New(language.View{Files: []language.File{file}, Directories: directories})
}

func TestWorkspaceCompletion(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		only       bool
	}{
		"top level":         {"|", `stack "NAME",group "NAME",task "NAME",locals,upstream "SOURCE",workers "KIND",workspace`, true},
		"second workspace":  {"workspace {}\n|", `stack "NAME",group "NAME",task "NAME",locals,upstream "SOURCE",workers "KIND"`, true},
		"stack":             {"stack \"x\" {\n  |\n}", "path,kind,deployment", false},
		"task":              {"task \"x\" {\n  |\n}", "command,on_change,stage", false},
		"group":             {"group \"x\" {\n  |\n}", "members,strategy", false},
		"strategy":          {"group \"x\" {\n  strategy {\n    |\n  }\n}", "parallel,one_by_one", true},
		"workspace":         {"workspace {\n  |\n}", "parallel,limits,files,ties", true},
		"names":             {"stack \"x\" {\n  after = [|]\n}", "network,app,all,tag:base,tag:net", true},
		"names in quotes":   {"stack \"x\" {\n  after = [\"|\"]\n}", "network,app,all,tag:base,tag:net", true},
		"names in a word":   {"stack \"x\" {\n  after = [\"net|\"]\n}", "network,app,all,tag:base,tag:net", true},
		"open quote":        {"stack \"x\" {\n  after = [\"|\n}", "network,app,all,tag:base,tag:net", true},
		"further name":      {"stack \"x\" {\n  after = [\"app\", \"|\"]\n}", "network,all,tag:base,tag:net", true},
		"names, no bracket": {"stack \"x\" {\n  after = |\n}", "network,app,all,tag:base,tag:net", true},
		"kind":              {"stack \"x\" {\n  kind = |\n}", "stack,terraform", true},
		"kind in quotes":    {"stack \"x\" {\n  kind = \"|\"\n}", "stack,terraform", true},
		"bool":              {"stack \"x\" {\n  auto_apply = |\n}", "true,false", true},
		"directory":         {"stack \"x\" {\n  path = \"|\"\n}", "live,modules", true},
		"inner directory":   {"stack \"x\" {\n  path = \"live/|\"\n}", "live/app,live/network", true},
		"comment":           {"# |", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			text, offset := cut(t, test.text)
			w, _ := openWorkspace(text)
			got := labels(w.Complete(workspacePath, len(workspaceStart)+offset))
			var want []string
			if test.want != "" {
				want = strings.Split(test.want, ",")
			}
			var known []string
			for _, label := range got {
				if test.only || slices.Contains(want, label) {
					known = append(known, label)
				}
			}
			if diff := cmp.Diff(want, known); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A completion in a list, together with the text around it, is a list of names.
func TestWorkspaceCompletionIsValid(t *testing.T) {
	for _, text := range []string{
		"after = |", "after = [|]", "after = [\"|\"]", "kind = |", "kind = \"|\"", "auto_apply = |", "path = \"|\"",
	} {
		src, offset := cut(t, "stack \"x\" {\n  "+text+"\n}\n")
		w, whole := openWorkspace(src)
		for _, completion := range w.Complete(workspacePath, len(workspaceStart)+offset) {
			after := string(whole[:completion.Replace.Start.Byte]) + completion.Text + string(whole[completion.Replace.End.Byte:])
			if _, diags := cairnfile.Parse(cairnfile.FileName, []byte(after)); diags.HasErrors() {
				t.Errorf("%q with %q: %v", text, completion.Text, diags)
			}
		}
	}
}

func TestWorkspaceNames(t *testing.T) {
	w, src := openWorkspace("stack \"late\" {\n  after = [\"network\", \"tag:net\"]\n  before = [\"aap\"]\n}\n")
	at := func(text string) int { return strings.Index(string(src), text) + strings.Index(text, "network") }
	use := at("[\"network\", \"tag")
	if got := w.Definition(workspacePath, use); len(got) != 1 || got[0].Range.Start.Line != 2 {
		t.Errorf("the definition is %v", got)
	}
	var lines []int
	for _, location := range w.References(workspacePath, use, true) {
		lines = append(lines, location.Range.Start.Line)
	}
	if want := []int{2, 6, 7, 9}; !slices.Equal(lines, want) {
		t.Errorf("references are in lines %v, want %v", lines, want)
	}
	for text, want := range map[string]string{
		"network\", \"tag":   "stack \"network\" {\n  path = \"live/network\"\n}",
		"stack \"late":       "A stack, or a plain root module",
		"before":             "Stacks and tasks that must wait until this is done.",
		"network\" {\n  pat": "Declared in " + cairnfile.FileName + ", line 2.",
	} {
		if hover := w.Hover(workspacePath, strings.Index(string(src), text)+1); hover == nil || !strings.Contains(hover.Text, want) {
			t.Errorf("hover of %q: got %v, want %q", text, hover, want)
		}
	}
	wrong := strings.Index(string(src), "aap")
	actions := w.Actions(workspacePath, hcl.Range{Start: hcl.Pos{Byte: wrong}, End: hcl.Pos{Byte: wrong}})
	if len(actions) != 1 || actions[0].Title != `Change to "app"` {
		t.Errorf("actions are %v", actions)
	}
	if symbols := w.Symbols("ap"); len(symbols) != 1 || symbols[0].Name != "app" {
		t.Errorf("symbols are %v", symbols)
	}
}

func TestWorkspaceRename(t *testing.T) {
	for name, test := range map[string]struct{ text, to, want, err string }{
		"use":             {"stack \"x\" { before = [\"netw|ork\"] }\n", "vpc", "before = [\"vpc\"]", ""},
		"with path":       {"stack \"x\" { before = [\"netw|ork\"] }\n", "vpc", "stack \"vpc\" {\n  path = \"live/network\"", ""},
		"members":         {"stack \"x\" { before = [\"netw|ork\"] }\n", "vpc", "members = [\"vpc\", \"app\"]", ""},
		"path in a line":  {"stack \"|x\" { tags = [\"a\"] }\n", "y", "stack \"y\" {\n  path = \"x\"\n  tags = [\"a\"]\n}", ""},
		"path in nothing": {"stack \"|x\" {}\n", "y", "stack \"y\" {\n  path = \"x\"\n}", ""},
		"path in lines":   {"stack \"|x\" {\n  tags = [\"a\"]\n}\n", "y", "stack \"y\" {\n  path = \"x\"\n  tags = [\"a\"]\n}", ""},
		"group":           {"group \"|x\" { members = [] }\n", "y", "group \"y\" { members = [] }", ""},
		"taken":           {"stack \"|x\" {}\n", "app", "", "There is already a stack \"app\", in line 6 of " + cairnfile.FileName + "."},
		"invalid":         {"stack \"|x\" {}\n", "a/b", "", "cannot be a name"},
		"unknown":         {"stack \"x\" { before = [\"nowhe|re\"] }\n", "y", "", "There is no stack"},
		"no name":         {"stack \"x\" {| }\n", "y", "", "There is no name here"},
	} {
		t.Run(name, func(t *testing.T) {
			text, offset := cut(t, test.text)
			w, src := openWorkspace(text)
			renaming, err := w.Rename(workspacePath, len(workspaceStart)+offset, test.to)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			after := string(src)
			for _, edit := range slices.Backward(renaming.Edits) {
				after = after[:edit.Range.Start.Byte] + edit.Text + after[edit.Range.End.Byte:]
			}
			if !strings.Contains(after, test.want) {
				t.Errorf("got %s, want %q in it", after, test.want)
			}
			if _, diags := cairnfile.Parse(cairnfile.FileName, []byte(after)); diags.HasErrors() {
				t.Error(diags)
			}
		})
	}
}

// Answers about stacks are none for a workspace file.
func TestWorkspaceIsNoStack(t *testing.T) {
	const values = "source = \"./x\"\n  inputs = { a = upper(stack.app.output.b) }"
	w, src := openWorkspace("stack \"late\" {\n  " + values + "\n}\n")
	for offset := strings.Index(string(src), `"./x`); offset <= len(src); offset++ {
		if help := w.SignatureAt(workspacePath, offset); help != nil {
			t.Errorf("signature at %d: %v", offset, help)
		}
		if hover := w.Hover(workspacePath, offset); hover != nil && !strings.HasPrefix(hover.Text, "`inputs`") {
			t.Errorf("hover at %d: %s", offset, hover.Text)
		}
	}
	hints, lenses, left := w.Hints(workspacePath, 0, len(src)), w.Lenses(workspacePath), w.LeftOvers(workspacePath)
	if len(hints)+len(lenses)+len(left) > 0 {
		t.Errorf("got hints %v, lenses %v, leftovers %v", hints, lenses, left)
	}
}

// Every place of the examples has answers.
func TestWorkspaceEveryPlace(t *testing.T) {
	text, err := os.ReadFile("../../../docs/order-workspace.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, example := range regexp.MustCompile("(?ms)^```hcl\n(.*?)^```").FindAllSubmatch(text, -1) {
		for offset := range len(example[1]) + 1 {
			for _, src := range [][]byte{example[1], example[1][:offset:offset]} {
				w := workspaceOf(src, nil)
				at := fmt.Sprintf("example %d at %d", i, offset)
				for _, completion := range w.Complete(workspacePath, offset) {
					if completion.Replace.End.Byte < offset || completion.Replace.Start.Byte > offset {
						t.Errorf("%s: completion %q replaces %v", at, completion.Label, completion.Replace)
					}
				}
				w.Hover(workspacePath, offset)
				w.Actions(workspacePath, hcl.Range{End: hcl.Pos{Byte: offset}})
				for _, use := range w.References(workspacePath, offset, true) {
					if got, want := w.Definition(workspacePath, use.Range.Start.Byte), w.Definition(workspacePath, offset); !slices.Equal(got, want) {
						t.Errorf("%s: definition of a use is %v, want %v", at, got, want)
					}
				}
			}
		}
	}
}
