// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package internal_test checks how the packages of this module import each other.
package internal_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "github.com/cairnstacks/cairn" // the package at the root, by its whole path
	module = root + "/"
)

// imports returns the imports of each package of the module without its tests, by its path in the
// module. Packages of the module are given by these paths, too, with "./" before them; all others
// as they are.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for i, name := range fields[1:] {
			if own, ok := strings.CutPrefix(name, module); ok {
				fields[i+1] = "./" + own
			}
		}
		packages[strings.TrimPrefix(fields[0], module)] = fields[1:]
	}
	if len(packages) < 50 {
		t.Fatalf("there are %d packages: these are not all", len(packages))
	}
	return packages
}

// under reports whether a package, as imports gives it, is one of the module or below it.
func under(name string, parents ...string) bool {
	return slices.ContainsFunc(parents, func(parent string) bool {
		return name == "./"+parent || strings.HasPrefix(name, "./"+parent+"/")
	})
}

// sharedFormats are the formats that others read along with their own, and which these are.
var sharedFormats = map[string][]string{
	"internal/format/terramate":  {"internal/format/cairnfile"}, // changes of stack directories
	"internal/format/terragrunt": {"internal/format/terramate"}, // modules and includes of stack directories
}

// terraformJSON are the packages that read or write JSON in terraform's format.
var terraformJSON = []string{
	"internal/engine/binary",               // schemas of providers
	"internal/engine/binary/valueschema",   // the same
	"internal/providers/schema/schemajson", // the same
	"internal/document",                    // documents of plans and states
	"internal/document/terraformjson",      // changes and checks
	"internal/document/terraformplan",      // terraform's own documents of plans
	"internal/views/viewtest",              // changes of test plans
}

func TestImports(t *testing.T) {
	packages := imports(t)
	order := packages["internal/order"]
	if len(order) == 0 {
		t.Fatal("there is no package internal/order")
	}
	for _, name := range order {
		if strings.Contains(name, ".") && !under(name, "promising") {
			t.Errorf("internal/order imports %s: it is for the standard library and promises only", name)
		}
	}
	for pkg, names := range packages {
		for _, name := range names {
			switch {
			case name == "github.com/hashicorp/terraform-json" && !slices.Contains(terraformJSON, pkg):
				t.Errorf("%s imports %s: values are cty values where no JSON is read or written", pkg, name)
			case under(name, "internal/cli") && pkg != "cmd/cairn" && !under("./"+pkg, "internal/cli"):
				t.Errorf("%s imports %s, which is for cmd/cairn", pkg, name)
			case name == root && !under("./"+pkg, "examples"):
				t.Errorf("%s imports package cairn, which is for other programs", pkg)
			case under(name, "internal/operation") && pkg != root && !under("./"+pkg, "internal"):
				t.Errorf("%s imports %s: package cairn is what programs outside of internal plan and apply with", pkg, name)
			case under("./"+pkg, "stackruntime", "stackaddrs", "promising") &&
				under(name, "internal/cli", "internal/views", "internal/show", "internal/fleet", "internal/format", "internal/order",
					"internal/states"):
				t.Errorf("%s imports %s: the runtime is below all that is shown, and below what knows many stacks", pkg, name)
			case under("./"+pkg, "internal/operation", "internal/views") && pkg != "internal/operation/engines" &&
				name == "./internal/engine/binary":
				t.Errorf("%s imports %s: an engine is known by its contract, but where one is opened", pkg, name)
			case under("./"+pkg, "internal/operation") && under(name, "internal/cli", "internal/views", "internal/show", "internal/fleet",
				"internal/format", "internal/order", "internal/states"):
				t.Errorf("%s imports %s: an operation is on one stack, for callers of all kinds", pkg, name)
			case under("./"+pkg, "internal/document", "internal/diagnostic") && under(name, "internal/cli", "internal/views", "internal/show",
				"internal/operation", "internal/fleet"):
				t.Errorf("%s imports %s: documents are for callers of all kinds", pkg, name)
			case under("./"+pkg, "internal/fleet") && under(name, "internal/engine/binary", "internal/engine/native"):
				t.Errorf("%s imports %s: sessions of internal/engine/rootmodule work on root modules, operations on stacks", pkg, name)
			case under("./"+pkg, "internal/engine") &&
				under(name, "internal/cli", "internal/views", "internal/show", "internal/operation", "internal/fleet"):
				t.Errorf("%s imports %s: engines are below all that uses them", pkg, name)
			case under("./"+pkg, "internal/deployments", "internal/settings", "internal/deferral", "internal/format") &&
				under(name, "internal/operation"):
				t.Errorf("%s imports %s: operations use it", pkg, name)
			case under("./"+pkg, "internal/order", "internal/gitdiff", "internal/problem", "internal/localsource") &&
				under(name, "internal/format", "internal/fleet"):
				t.Errorf("%s imports %s: it is for all formats", pkg, name)
			case under("./"+pkg, "internal/format", "internal/fleet", "internal/states") && under(name, "internal/cli", "internal/views",
				"internal/show"):
				t.Errorf("%s imports %s: nothing is shown there", pkg, name)
			}
		}
	}
}

func TestFormatsDoNotImportEachOther(t *testing.T) {
	for pkg, names := range imports(t) {
		if !under("./"+pkg, "internal/format") || pkg == "internal/format" || pkg == "internal/format/convert" {
			continue // convert is from one format to another
		}
		for _, name := range names {
			if under(name, "internal/format") && !slices.Contains(sharedFormats[strings.TrimPrefix(name, "./")], pkg) {
				t.Errorf("%s imports %s, which is another format", pkg, name)
			}
		}
	}
}
