// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// onePackage resolves all sources into one package.
type onePackage struct{ dir string }

func (p onePackage) Resolve(source sourceaddrs.Source, _ string) (stackconfig.Resolved, error) {
	below := ""
	switch source := source.(type) {
	case sourceaddrs.RemoteSource:
		below = source.SubPath()
	case sourceaddrs.RegistrySource:
		below = source.SubPath()
	}
	return stackconfig.Resolved{Dir: filepath.Join(p.dir, filepath.FromSlash(below)), Version: "1.2.0"}, nil
}

func (p onePackage) Locate(name string) (stackconfig.Place, bool) {
	rel, err := filepath.Rel(p.dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return stackconfig.Place{}, false
	}
	return stackconfig.Place{Package: p.dir, Address: path.Join("package:", filepath.ToSlash(rel))}, true
}

// withPackage makes a new engine that finds all sources in a directory of the stack.
func (b *bench) withPackage(dir string) {
	b.t.Helper()
	b.engine = open(b.t, b.stack, Options{
		Binary:   testenv.Engine(b.t),
		WorkDir:  filepath.Join(b.stack, ".cairn"),
		Resolver: onePackage{filepath.Join(b.stack, dir)},
	})
}

// The engine compares the sources in its list of modules with those in the files, in a normal form
// of its own.
func TestEngineAcceptsAllKindsOfSources(t *testing.T) {
	sources := []string{
		"git::https://example.com/x.git",
		"git::https://example.com/x.git?ref=v1",
		"git::https://example.com/x.git//sub?ref=v1",
		"git::https://example.com/x.git//sub?ref=feature%2Fx",
		"git::https://example.com/x.git//sub?ref=feature/x",
		"git::ssh://example.com/x.git//sub",
		"git::ssh://git@example.com/x.git//sub?ref=v1",
		"git::ssh://git@example.com:2222/x.git",
		"git@github.com:acme/x.git",
		"git@github.com:acme/x.git//sub?ref=v2",
		"github.com/acme/x",
		"github.com/acme/x//sub?ref=v1",
		"github.com/acme/x/sub",
		"https://example.com/x.tgz",
		"https://example.com/x.tar.gz//sub",
		"https://example.com/x?archive=tgz",
		"https://example.com/x//sub?archive=tar.gz&a=b",
		"acme/x/null",
		"registry.terraform.io/acme/x/null",
		"app.example.com/acme/x/null//sub",
		"./local/",
		"./other/../local",
	}
	var main strings.Builder
	for i, source := range sources {
		version := ""
		if strings.Count(strings.Split(source, "//sub")[0], "/") >= 2 && !strings.Contains(source, ":") &&
			!strings.HasPrefix(source, "github.com") && source[0] != '.' {
			version = `version = "~> 1.0"`
		}
		fmt.Fprintf(&main, "module \"m%d\" {\n  source = %q\n  %s\n}\noutput \"o%d\" { value = module.m%[1]d.path }\n", i, source, version, i)
	}
	b := newBench(t, map[string]string{
		"mod/main.tf":         main.String(),
		"mod/local/main.tf":   `output "path" { value = path.module }`,
		"pkg/main.tf":         `output "path" { value = path.module }`,
		"pkg/sub/main.tf":     "module \"deep\" {\n  source = \"../deep\"\n}\noutput \"path\" { value = module.deep.path }",
		"pkg/deep/main.tf":    `output "path" { value = trimspace(file("${path.module}/../data/a.txt")) }`,
		"pkg/data/a.txt":      "data",
		"pkg/unused/wrong.tf": "this is not configuration",
	})
	b.withPackage("pkg")
	result := b.once(nil)
	for i, source := range sources {
		want := fmt.Sprintf(".terraform/modules/m%d", i)
		switch {
		case strings.Contains(source, "sub"):
			want = "data"
		case source[0] == '.':
			want = "local"
		}
		if got := result.Outputs[fmt.Sprintf("o%d", i)]; !got.RawEquals(cty.StringVal(want)) {
			t.Errorf("%s: got %#v, want %s", source, got, want)
		}
	}
}

// The module of a component can be in a package itself; nothing above the package is looked at.
func TestComponentModuleInPackage(t *testing.T) {
	b := newBench(t, map[string]string{
		"pkg/mod/main.tf": `
module "child" { source = "../child" }
module "other" { source = "git::https://example.com/x.git//child" }
output "texts" { value = [module.child.text, module.other.text, file("../text.txt")] }
# ../../../../../../..
`,
		"pkg/child/main.tf": `output "text" { value = path.module }`,
		"pkg/text.txt":      "text",
		"secret/file":       "",
	})
	b.withPackage("pkg")
	req := b.request(nil)
	req.ModuleDir = filepath.Join(b.stack, "pkg", "mod")
	result := b.apply(applyRequest(req, b.plan(req).Plan, nil))
	want := cty.TupleVal([]cty.Value{cty.StringVal("../child"), cty.StringVal(".terraform/modules/other/child"), cty.StringVal("text")})
	if got := result.Outputs["texts"]; !got.RawEquals(want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestRow049DiagnosticsInPackages(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf":       `module "child" { source = "git::https://example.com/x.git//child" }`,
		"pkg/child/main.tf": `output "text" { value = plantimestamp() + terraform_data.nowhere }`,
	})
	b.withPackage("pkg")
	diags := b.engine.ValidateModule(context.Background(), filepath.Join(b.stack, "mod"))
	if len(diags) != 1 || diags[0].Subject == nil || diags[0].Subject.Filename != "package:/child/main.tf" {
		t.Errorf("got %v", diags)
	}
}
