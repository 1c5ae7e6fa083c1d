// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/cairnstacks/cairn/internal/lsp/position"
)

const network = `
-- main.tfcomponent.hcl --
component "net" {
  source = "./net"
  inputs = { size = var.size }
}
-- variables.tfcomponent.hcl --
variable "size" {
  type = number
}
-- net/main.tf --
variable "size" {
  type = number
}
output "id" {
  value = 1
}
`

func TestDiagnosticsWhileTyping(t *testing.T) {
	e := open(t, network)
	e.open("main.tfcomponent.hcl")
	e.want("main.tfcomponent.hcl")

	e.replace("main.tfcomponent.hcl", "var.size", "var.sizes")
	e.want("main.tfcomponent.hcl", "3:21 Unknown variable")
	if got := e.last("main.tfcomponent.hcl"); got.Version != protocol.NewOptional[int32](2) {
		t.Errorf("the version is %v, want 2", got.Version)
	}
	diag := e.last("main.tfcomponent.hcl").Diagnostics[0]
	if source, _ := diag.Source.Get(); source != "cairn" || diag.Severity != protocol.DiagnosticSeverityError {
		t.Errorf("diagnostic: %+v", diag)
	}

	e.replace("main.tfcomponent.hcl", "{ size", "{ {size")
	e.until(func() string {
		if got := e.shown("main.tfcomponent.hcl"); len(got) == 0 || strings.Contains(got[0], "Unknown variable") {
			return "no error of the syntax"
		}
		return ""
	}, "after a mistake in the syntax")
	e.replace("main.tfcomponent.hcl", "{ {size", "{ size")
	e.replace("main.tfcomponent.hcl", "var.sizes", "var.size")
	e.want("main.tfcomponent.hcl")

	// A mistake in one file shows in another, also one that is not open.
	e.open("variables.tfcomponent.hcl")
	e.replace("variables.tfcomponent.hcl", "size", "length")
	e.want("main.tfcomponent.hcl", "3:21 Unknown variable")
	e.close("main.tfcomponent.hcl")
	e.want("main.tfcomponent.hcl", "3:21 Unknown variable")
	e.close("variables.tfcomponent.hcl")
	e.want("main.tfcomponent.hcl")
	e.leave()
}

// Of very many diagnostics in a file, its beginning tells the number of those left out.
func TestVeryManyDiagnostics(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- main.tfcomponent.hcl --\nlocals {\n")
	for n := range 1234 {
		fmt.Fprintf(&b, "  l%d = var.nope\n", n)
	}
	b.WriteString("}\n")
	e := open(t, b.String())
	e.open("main.tfcomponent.hcl")
	e.until(func() string { return cmp.Diff(501, len(e.shown("main.tfcomponent.hcl"))) }, "with 1234 mistakes")
	shown := e.shown("main.tfcomponent.hcl")
	if !slices.Contains(shown, "1:1 More problems") {
		t.Errorf("the last ones: %q", shown[len(shown)-2:])
	}
	last := e.last("main.tfcomponent.hcl").Diagnostics[500]
	if text := fmt.Sprint(last.Message); !strings.Contains(text, "There are 734 more problems") {
		t.Errorf("the last one says %q", text)
	}
	e.leave()
}

func TestDiagnosticsOfModules(t *testing.T) {
	e := open(t, network)
	e.open("main.tfcomponent.hcl")
	e.want("main.tfcomponent.hcl")
	put(t, filepath.Join(e.dir, "net/main.tf"), "variable \"size\" {\n  type = number\n}\nvariable \"zone\" {\n  type = string\n}\n")
	e.diskChanged("net/main.tf")
	e.until(func() string {
		return cmp.Diff(1, len(e.shown("main.tfcomponent.hcl")))
	}, "after the module has changed")
	put(t, filepath.Join(e.dir, "net/main.tf"), "variable \"size\" {\n  type = number\n")
	e.diskChanged("net/main.tf")
	e.until(func() string { return cmp.Diff(1, len(e.shown("net/main.tf"))) }, "after a mistake in the module")
	put(t, filepath.Join(e.dir, "net/main.tf"), "variable \"size\" {\n  type = number\n}\n")
	e.diskChanged("net/main.tf")
	e.want("net/main.tf")
	e.want("main.tfcomponent.hcl")
	if err := os.RemoveAll(filepath.Join(e.dir, "net")); err != nil {
		t.Fatal(err)
	}
	e.diskChanged("net/main.tf")
	e.want("main.tfcomponent.hcl", "2:12 Source cannot be used here")
}

func TestEmbeddedStacks(t *testing.T) {
	e := open(t, `
-- root/main.tfcomponent.hcl --
stack "a" {
  source = "../child"
  inputs = { name = "x" }
}
-- child/main.tfcomponent.hcl --
variable "name" {
  type = string
}
-- other/main.tfcomponent.hcl --
locals {
  x = var.none
}
`)
	e.open("child/main.tfcomponent.hcl")
	e.want("child/main.tfcomponent.hcl")
	e.replace("child/main.tfcomponent.hcl", `"name"`, `"title"`)
	e.until(func() string {
		if len(e.shown("root/main.tfcomponent.hcl")) == 0 {
			return "nothing"
		}
		return ""
	}, "diagnostics of the stack that embeds the edited one")
	if got := e.shown("other/main.tfcomponent.hcl"); got != nil {
		t.Errorf("a stack of which nothing is open has diagnostics %q", got)
	}
	e.open("other/main.tfcomponent.hcl")
	e.want("other/main.tfcomponent.hcl", "2:7 Unknown variable")
	e.close("other/main.tfcomponent.hcl")
	e.want("other/main.tfcomponent.hcl")
	e.close("child/main.tfcomponent.hcl")
	e.want("root/main.tfcomponent.hcl")
}

func TestRelatedInformation(t *testing.T) {
	e := open(t, "-- a.tfcomponent.hcl --\nlocals {\n  x = 1\n}\n-- b.tfcomponent.hcl --\nlocals {\n  x = 2\n}\n")
	e.open("b.tfcomponent.hcl")
	e.until(func() string { return cmp.Diff(1, len(e.shown("b.tfcomponent.hcl"))) }, "diagnostics")
	diag := e.last("b.tfcomponent.hcl").Diagnostics[0]
	if len(diag.RelatedInformation) != 1 || diag.RelatedInformation[0].Location.URI != e.uri("a.tfcomponent.hcl") ||
		diag.RelatedInformation[0].Location.Range.Start.Line != 1 {
		t.Errorf("related information: %+v of %v", diag.RelatedInformation, diag.Message)
	}
}

func TestWorkspaceFile(t *testing.T) {
	e := open(t, "-- cairn.workspace.hcl --\nstack \"a\" {\n  path = \"a\"\n}\n-- a/main.tfcomponent.hcl --\n")
	e.open("cairn.workspace.hcl")
	e.want("cairn.workspace.hcl")
	e.replace("cairn.workspace.hcl", "}\n", "  after = [\"b\"]\n}\n")
	e.until(func() string { return cmp.Diff(1, len(e.shown("cairn.workspace.hcl"))) }, "diagnostics")
	if code := e.last("cairn.workspace.hcl").Diagnostics[0].Code; code != protocol.String("order/unknown-ref") {
		t.Errorf("the code is %v", code)
	}
	e.replace("cairn.workspace.hcl", "  after = [\"b\"]\n", "")
	e.want("cairn.workspace.hcl")
}

// A run that reads the versions of files before an edit, and their texts after it, reports the new
// text under the old version. The next run, for which nothing is new, reports it under its own.
func TestEditDuringCheck(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := &editor{dir: write(t, shop)}
	e.mu.diagnostics, e.mu.changed = map[uri.URI]*protocol.PublishDiagnosticsParams{}, make(chan struct{})
	s := newServer(ctx, Options{Log: slog.New(slog.DiscardHandler), Timing: Timing{Quiet: time.Hour}}, screen{e: e})
	defer s.stop()
	defer cancel()
	s.mu.client.versions = true
	path := s.pathOf(e.uri(mainFile))
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(version int32, text string) {
		s.setDocument(&document{uri: e.uri(mainFile), path: path, version: version, text: position.NewText([]byte(text))})
	}
	check := func(between func()) (version int32) {
		r := &run{checks: s.checks, generation: s.checks.mu.generation, versions: s.versions()}
		between()
		if !r.do(ctx, false) {
			t.Fatal("the run was given up")
		}
		version, _ = e.last(mainFile).Version.Get()
		return version
	}
	edit(1, string(src))
	if got := check(func() { edit(2, string(src)+"#") }); got != 1 {
		t.Fatalf("the first run has reported version %d", got)
	}
	if got := check(func() {}); got != 2 {
		t.Errorf("the next run has reported version %d, want 2", got)
	}
}
