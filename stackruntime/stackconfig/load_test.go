// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// memory is a file system of slash-separated absolute names.
type memory struct {
	fstest.MapFS
	unreadable string // the name of a file or directory that cannot be read
}

func inMemory(files map[string]string) memory {
	m := memory{MapFS: fstest.MapFS{}}
	for name, src := range files {
		m.MapFS[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(src)}
	}
	return m
}

func (m memory) name(name string) (string, error) {
	if m.unreadable != "" && name == m.unreadable {
		return "", errors.New("permission denied")
	}
	name = strings.TrimPrefix(path.Clean(filepath.ToSlash(name)), "/")
	if name == "" {
		return ".", nil
	}
	return name, nil
}

func (m memory) ReadDir(name string) ([]fs.DirEntry, error) {
	name, err := m.name(name)
	if err != nil {
		return nil, err
	}
	return m.MapFS.ReadDir(name)
}

func (m memory) ReadFile(name string) ([]byte, error) {
	name, err := m.name(name)
	if err != nil {
		return nil, err
	}
	return m.MapFS.ReadFile(name)
}

func (m memory) Stat(name string) (fs.FileInfo, error) {
	return m.MapFS.Stat(strings.TrimPrefix(name, "/"))
}

func (m memory) RealPath(name string) (string, error) { return name, nil }

func mustLoad(t *testing.T, dir string) *Config {
	t.Helper()
	cfg, diags := Load(dir)
	if diags.HasErrors() {
		t.Fatalf("Load(%q): %s", dir, details(diags))
	}
	return cfg
}

func TestIsComponentFile(t *testing.T) {
	for name, want := range map[string]bool{
		"x.tfcomponent.hcl":      true,
		"x.tfcomponent.json":     true,
		".tfcomponent.hcl":       true,
		"x.tfcomponent.hcl.json": false,
		"x.tfstack.hcl":          true,
		"x.tfstack.json":         true,
		"x.tfdeploy.hcl":         false,
		"tfcomponent.hcl":        false,
		"main.tf":                false,
	} {
		if got := IsComponentFile(name); got != want {
			t.Errorf("IsComponentFile(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestParseFileOfUnknownType(t *testing.T) {
	file, diags := ParseFile("main.tf", []byte("x"))
	if len(diags) != 1 || diags[0].Summary != "File type not supported" {
		t.Errorf("ParseFile: got %v", diags)
	}
	if string(file.Bytes) != "x" {
		t.Errorf("the source text is %q", file.Bytes)
	}
}

func TestLoadWithoutDirectory(t *testing.T) {
	for dir, want := range map[string]string{
		"testdata/nowhere":         "No such stack directory",
		"testdata/modules/m/x.tf":  "No such stack directory",
		"testdata/stacks/leaf/../": "",
	} {
		cfg, diags := Load(dir)
		switch {
		case want == "" && (cfg == nil || len(diags) > 0):
			t.Errorf("Load(%q): unexpected %v", dir, diags)
		case want != "" && (cfg != nil || len(diags) != 1 || diags[0].Summary != want):
			t.Errorf("Load(%q) = %v, %v; want only %q", dir, cfg, diags, want)
		}
	}
}

func TestLoadUnreadable(t *testing.T) {
	files := inMemory(map[string]string{
		"/s/a.tfcomponent.hcl":   "provider \"perhaps\" \"main\" {\n}\n",
		"/s/b.tfcomponent.hcl":   "stack \"c\" {\n  source = \"./c\"\n}\n",
		"/s/c/c.tfcomponent.hcl": "",
	})
	for name, want := range map[string]string{
		"/s":                   "<nil>: Stack source unreadable",
		"/s/b.tfcomponent.hcl": "b.tfcomponent.hcl:1,1-1: Stack source unreadable",
		"/s/c":                 "b.tfcomponent.hcl:2,12-17: Stack source unreadable",
	} {
		t.Run(name, func(t *testing.T) {
			files.unreadable = name
			cfg, diags := load(files, "/s")
			if (cfg == nil) != (name == "/s") {
				t.Errorf("load returned the configuration %v", cfg)
			}
			if name == "/s/c" { // all files of the root were read, so there is no doubt
				diags = diags[1:]
			}
			if len(diags) != 1 {
				t.Fatalf("load: %s", details(diags))
			}
			if got := fmt.Sprintf("%s: %s", diags[0].Subject, diags[0].Summary); got != want {
				t.Errorf("load: got %s, want %s", got, want)
			}
		})
	}
}

// chainOf returns a chain of stacks, each embedding the next one.
func chainOf(depth int) memory {
	files := map[string]string{}
	for i := range depth {
		files[fmt.Sprintf("/s%d/main.tfcomponent.hcl", i)] = fmt.Sprintf("stack \"s%d\" {\n  source = \"../s%d\"\n}\n", i+1, i+1)
	}
	files[fmt.Sprintf("/s%d/main.tfcomponent.hcl", depth)] = ""
	return inMemory(files)
}

func TestNestingLimit(t *testing.T) {
	if _, diags := load(chainOf(20), "/s0"); len(diags) > 0 {
		t.Errorf("20 levels: %s", details(diags))
	}
	cfg, diags := load(chainOf(21), "/s0")
	if len(diags) != 1 || diags[0].Summary != "Stacks nested too deeply" {
		t.Fatalf("21 levels: %s", details(diags))
	}
	if got := diags[0].Subject.String(); got != "../s20/main.tfcomponent.hcl:2,12-20" {
		t.Errorf("the error is at %s", got)
	}
	for _, caller := range []string{"<main>, stack.s1, ", "stack.s20.stack.s21 at ../s20/main.tfcomponent.hcl line 2"} {
		if !strings.Contains(diags[0].Detail, caller) {
			t.Errorf("the chain of callers has no %q: %s", caller, diags[0].Detail)
		}
	}
	depth := 0
	cfg.Walk(func(s *Stack) { depth = max(depth, s.Addr.Depth()) })
	if depth != 20 {
		t.Errorf("the tree is %d deep", depth)
	}
}

// A stack that calls itself twice would have a million descendants.
func TestSelfInclusionEnds(t *testing.T) {
	_, diags := load(inMemory(map[string]string{
		"/s/main.tfcomponent.hcl": "stack \"a\" {\n  source = \"./\"\n}\nstack \"b\" {\n  source = \"../s\"\n}\n",
	}), "/s")
	if len(diags) != 2 {
		t.Errorf("got %s", details(diags))
	}
}

func TestFileNames(t *testing.T) {
	cfg := mustLoad(t, "testdata/valid/climbing")
	want := []string{
		"../../stacks/leaf/main.tfcomponent.hcl",
		"inner/main.tfcomponent.hcl",
		"main.tfcomponent.hcl",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(cfg.Files))); diff != "" {
		t.Errorf("file names (-want +got):\n%s", diff)
	}
	inner := cfg.Root.Children["inner"]
	wantDir, err := filepath.Abs("testdata/modules/m")
	if err != nil {
		t.Fatal(err)
	}
	if got := inner.Components["outside"].Source.Dir; got != wantDir {
		t.Errorf("the module directory is %s, want %s", got, wantDir)
	}
	leaf := cfg.Descendant(stackaddrs.RootStack.Child("inner").Child("leaf"))
	if leaf == nil || leaf.Components["x"].Source.Dir != wantDir {
		t.Errorf("stack.inner.stack.leaf is %v", leaf)
	}
	if got := cfg.Descendant(stackaddrs.RootStack.Child("other").Child("leaf")); got != nil {
		t.Errorf("Descendant found %v at an address without a stack", got.Addr)
	}
}

// Stacks of one directory share its declarations but not their place in the tree.
func TestDirectoryEmbeddedTwice(t *testing.T) {
	cfg, diags := load(inMemory(map[string]string{
		"/s/main.tfcomponent.hcl": "stack \"a\" {\n  source = \"../c\"\n}\nstack \"b\" {\n  source = \"../c\"\n" +
			"}\nremoved {\n  from = stack.a.stack.old\n  source = \"../d\"\n}\n",
		"/c/main.tfcomponent.hcl": "locals {\n  x = 1\n}\n",
		"/d/main.tfcomponent.hcl": "",
	}), "/s")
	if len(diags) > 0 {
		t.Fatal(details(diags))
	}
	a, b := cfg.Root.Children["a"], cfg.Root.Children["b"]
	if a.Addr.String() != "stack.a" || b.Addr.String() != "stack.b" {
		t.Errorf("the addresses are %s and %s", a.Addr, b.Addr)
	}
	if a.Locals["x"] != b.Locals["x"] {
		t.Error("the directory was decoded twice")
	}
	if len(a.Children) != 1 || len(b.Children) != 0 {
		t.Errorf("stack.a has %d children and stack.b %d, want 1 and 0", len(a.Children), len(b.Children))
	}
}

func TestRemovedStacksAreInTheTree(t *testing.T) {
	cfg := mustLoad(t, "testdata/valid/removed")
	var got []string
	cfg.Walk(func(s *Stack) { got = append(got, s.Addr.String()) })
	want := []string{"<main>", "stack.here", "stack.old", "stack.old.stack.older"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stacks of the tree (-want +got):\n%s", diff)
	}
}

// Where the stack directory is a symbolic link, relative sources start from
// where it leads, as for any program that runs inside of it.
func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"real/stack/main.tfcomponent.hcl": "component \"x\" {\n  source = \"../m\"\n}\n",
		"real/m/main.tf":                  "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"link":                            "real/stack",
		"real/stack/x.tfcomponent.hcl":    "../m",
		"real/stack/y.tfcomponent.json":   "nowhere",
		"real/stack/z.tfcomponent.hcl":    "main.tfcomponent.hcl",
		"real/stack/ignored.tfstacks.hcl": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	_, diags := Load(filepath.Join(dir, "link"))
	var got []string
	for _, diag := range diags {
		got = append(got, diag.Subject.Filename+": "+diag.Summary)
	}
	want := []string{
		"x.tfcomponent.hcl: Directory where a file was expected",
		"y.tfcomponent.json: Stack source unreadable",
		"z.tfcomponent.hcl: Component declared twice",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

// The order of diagnostics does not depend on the order of maps.
func TestDiagnosticsAreDeterministic(t *testing.T) {
	for _, dir := range []string{"components", "providers", "required-providers", "json", "embedded-twice"} {
		_, diags := Load("testdata/invalid/" + dir)
		want := details(diags)
		for range 20 {
			_, diags := Load("testdata/invalid/" + dir)
			if got := details(diags); got != want {
				t.Fatalf("%s: first\n%s\nand then\n%s", dir, want, got)
			}
		}
	}
}

func TestRow004BuiltinProviderNames(t *testing.T) {
	for src, want := range map[string]string{
		"": "terraform",
		"terraform = { source = \"terraform.io/builtin/terraform\" }":            "terraform",
		"tf = { source = \"terraform.io/builtin/terraform\" }":                   "tf",
		"terraform = { source = \"example/terraform\", version = \">= 1.0.0\" }": "",
	} {
		cfg, diags := load(inMemory(map[string]string{"/s/main.tfcomponent.hcl": "required_providers {\n" + src + "\n}\n"}), "/s")
		if diags.HasErrors() {
			t.Error(details(diags))
		}
		got := ""
		if requirement := cfg.Root.RequiredProviders.Of(stackaddrs.BuiltinProvider); requirement != nil {
			got = requirement.LocalName
		}
		if got != want {
			t.Errorf("%s: the local name is %q, want %q", src, got, want)
		}
	}
	var none *ProviderRequirements
	if none.Of(stackaddrs.BuiltinProvider) != nil || none.Named("terraform") != nil {
		t.Error("a stack without requirements has one of the built-in provider")
	}
}

// Mistakes leave placeholders, so that the evaluator finds no further mistakes
// because of them.
func TestPlaceholders(t *testing.T) {
	cfg, _ := Load("testdata/invalid/variables")
	for name, want := range map[string]cty.Value{
		"untyped":      cty.DynamicVal,
		"unfit":        cty.UnknownVal(cty.Number),
		"unfit_inside": cty.UnknownVal(cty.List(cty.Object(map[string]cty.Type{"size": cty.Number}))),
		"not_literal":  cty.UnknownVal(cty.String),
		"nullable":     cty.NilVal,
	} {
		if got := cfg.Root.Variables[name].Default; !got.RawEquals(want) {
			t.Errorf("the default of var.%s is %#v, want %#v", name, got, want)
		}
	}
	cfg, _ = Load("testdata/invalid/components")
	if v, diags := cfg.Root.Components["arguments"].Inputs.Value(nil); v != cty.DynamicVal || diags.HasErrors() {
		t.Errorf("inputs that may be misspelt are %#v", v)
	}
	if n := len(cfg.Root.Components["depends"].DependsOn); n != 3 {
		t.Errorf("%d targets are left in depends_on, want 3", n)
	}
	cfg, _ = Load("testdata/invalid/outputs")
	if v, diags := cfg.Root.Outputs["no_value"].Value.Value(nil); v != cty.DynamicVal || diags.HasErrors() {
		t.Errorf("the missing value is %#v", v)
	}
	cfg, _ = Load("testdata/invalid/providers")
	if ref := (stackaddrs.ProviderConfigRef{LocalName: "azure", Name: "main"}); !cfg.Root.Rejected[ref] {
		t.Errorf("%s is not marked as rejected", ref)
	}
	for dir, want := range map[string]bool{"syntax": true, "language": true, "toplevel": true, "types": false} {
		if cfg, _ := Load("testdata/invalid/" + dir); cfg.Root.Incomplete != want {
			t.Errorf("%s: Incomplete = %v, want %v", dir, cfg.Root.Incomplete, want)
		}
	}
}

func TestRow003DecodedStack(t *testing.T) {
	s := mustLoad(t, "testdata/valid/native").Root
	cloud := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "example", Type: "cloud"}

	wantProviders := map[string]string{
		"cloud":     "registry.terraform.io/example/cloud >= 2.0.0",
		"random":    "example.com/corp/random ~> 1.2, != 1.2.5",
		"terraform": "terraform.io/builtin/terraform ",
	}
	gotProviders := map[string]string{}
	for name, req := range s.RequiredProviders.Providers {
		gotProviders[name] = req.Provider.String() + " " + req.Version
	}
	if diff := cmp.Diff(wantProviders, gotProviders); diff != "" {
		t.Errorf("required providers (-want +got):\n%s", diff)
	}

	if got := s.Variables["regions"].Default; !got.RawEquals(cty.SetVal([]cty.Value{cty.StringVal("north")})) {
		t.Errorf("the default of var.regions is %#v", got)
	}
	if got := s.Variables["none"].Default; !got.RawEquals(cty.NullVal(cty.String)) {
		t.Errorf("the default of var.none is %#v", got)
	}
	if v := s.Variables["regions"]; v.Description != "Where to run." || v.Sensitive || v.Ephemeral {
		t.Errorf("var.regions is %+v", v)
	}
	if v := s.Variables["token"]; v.Default != cty.NilVal || !v.Sensitive || !v.Ephemeral || len(v.Validations) != 1 {
		t.Errorf("var.token is %+v", v)
	}
	if got, want := s.Variables["targets"].Type.Constraint, cty.Map(ProviderRefType(cloud)); !got.Equals(want) {
		t.Errorf("the type of var.targets is %#v, want %#v", got, want)
	}

	ref := stackaddrs.ProviderConfigRef{LocalName: "cloud", Name: "by_region"}
	if p := s.Providers[ref]; p == nil || p.Provider != cloud || p.ForEach == nil {
		t.Errorf("%s is %+v", ref, p)
	}
	c := s.Components["network"]
	var slots []engine.ProviderSlot
	for _, assignment := range c.Providers {
		slots = append(slots, assignment.Slot)
	}
	if diff := cmp.Diff([]engine.ProviderSlot{{LocalName: "cloud"}, {LocalName: "cloud", Alias: "east"}}, slots); diff != "" {
		t.Errorf("provider slots (-want +got):\n%s", diff)
	}
	if len(s.Removed) != 3 || s.Removed[0].Destroy || !s.Removed[1].Destroy {
		t.Errorf("removed blocks: %+v", s.Removed)
	}
	if o := s.Outputs["urls"]; !o.Type.Constraint.Equals(cty.Map(cty.String)) ||
		!o.Sensitive || o.Ephemeral || o.Description != "Where it runs." {
		t.Errorf("output.urls is %+v", o)
	}
	if o := s.Outputs["token"]; !o.Type.Constraint.Equals(cty.String) || o.Sensitive || !o.Ephemeral {
		t.Errorf("output.token is %+v", o)
	}
	if s.Children["apps"] == nil || s.Children["old"] == nil {
		t.Fatalf("children: %v", s.Children)
	}
	apps := s.Children["apps"]
	if apps.Variables["name"] == nil || apps.Components["x"] == nil {
		t.Errorf("stack.apps has variables %v and components %v", apps.Variables, apps.Components)
	}
}

// Default values of optional attributes are filled in at all levels, in the
// default of a variable and for the evaluator.
func TestOptionalAttributeDefaults(t *testing.T) {
	v := mustLoad(t, "testdata/valid/native").Root.Variables["settings"]
	on := cty.ObjectVal(map[string]cty.Value{"on": cty.True})
	pairType := cty.Tuple([]cty.Type{cty.String, cty.Object(map[string]cty.Type{"deep": cty.String})})
	want := cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal("first"),
		"size": cty.NumberIntVal(3),
		"tags": cty.MapVal(map[string]cty.Value{"a": on}),
		"pair": cty.NullVal(pairType),
	})})
	if !v.Default.RawEquals(want) {
		t.Errorf("the default is %#v, want %#v", v.Default, want)
	}
	if !v.Default.Type().Equals(v.Type.WithoutOptional()) {
		t.Errorf("the default has the type %#v", v.Default.Type())
	}

	given := cty.TupleVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal("x"),
		"size": cty.NullVal(cty.Number),
		"tags": cty.NullVal(cty.DynamicPseudoType),
		"pair": cty.TupleVal([]cty.Value{cty.StringVal("p"), cty.EmptyObjectVal}),
	})})
	got, err := v.Type.Convert(given)
	if err != nil {
		t.Fatal(err)
	}
	want = cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal("x"),
		"size": cty.NumberIntVal(3),
		"tags": cty.MapVal(map[string]cty.Value{"a": on}),
		"pair": cty.TupleVal([]cty.Value{cty.StringVal("p"), cty.ObjectVal(map[string]cty.Value{"deep": cty.StringVal("d")})}),
	})})
	if !got.RawEquals(want) {
		t.Errorf("converted to %#v, want %#v", got, want)
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	native := describe(t, mustLoad(t, "testdata/valid/native").Root)
	inJSON := describe(t, mustLoad(t, "testdata/valid/json").Root)
	if len(native) < 30 {
		t.Errorf("the description is too short to compare anything: %v", native)
	}
	if diff := cmp.Diff(native, inJSON); diff != "" {
		t.Errorf("native and JSON syntax differ (-native +json):\n%s", diff)
	}
}

// describe lists all that a stack declares, without source ranges. Expressions are described by
// their references and by their value in a made-up scope.
func describe(t *testing.T, s *Stack) []string {
	t.Helper()
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	expr := func(e hcl.Expression) string { return describeExpression(e) }
	for name, r := range s.RequiredProviders.Providers {
		add("requirement %s %s %s %q", name, r.LocalName, r.Provider, r.Version)
	}
	for name, v := range s.Variables {
		add("variable %s %q %v %v %#v", name, v.Description, v.Sensitive, v.Ephemeral, v.Default)
		add("variable %s type %#v", name, v.Type.Constraint)
		for _, rule := range v.Validations {
			add("variable %s validation %s %s", name, expr(rule.Condition), expr(rule.ErrorMessage))
		}
	}
	for name, l := range s.Locals {
		add("local %s %s", name, expr(l.Value))
	}
	for name, o := range s.Outputs {
		add("output %s %q %v %v %#v %s", name, o.Description, o.Sensitive, o.Ephemeral, o.Type.Constraint, expr(o.Value))
	}
	for ref, p := range s.Providers {
		attrs, diags := p.Config.JustAttributes()
		if diags.HasErrors() {
			t.Error(diags)
		}
		add("provider %s %s %s", ref, p.Provider, expr(p.ForEach))
		for name, attr := range attrs {
			add("provider %s config %s %s", ref, name, expr(attr.Expr))
		}
	}
	assignments := func(where string, list []ProviderAssignment) {
		for i, a := range list {
			add("%s provider %d %s %s", where, i, a.Slot, expr(a.Value))
		}
	}
	for name, c := range s.Components {
		add("component %s %s %s %s %v", name, c.Source.Written, expr(c.ForEach), expr(c.Inputs), traversals(c.DependsOn))
		assignments("component "+name, c.Providers)
	}
	for name, c := range s.Calls {
		add("stack %s %s %s %s %v", name, c.Source.Written, expr(c.ForEach), expr(c.Inputs), traversals(c.DependsOn))
	}
	for i, r := range s.Removed {
		add("removed %d %s %s %s %v", i, r.Source.Written, expr(r.ForEach), expr(r.Inputs), r.Destroy)
		assignments(fmt.Sprintf("removed %d", i), r.Providers)
		for _, step := range r.From.Stacks {
			add("removed %d stack %s %s", i, step.Name, expr(step.Index))
		}
		if c := r.From.Component; c != nil {
			add("removed %d component %s %s", i, c.Name, expr(c.Index))
		}
	}
	slices.Sort(lines)
	return lines
}

func describeExpression(expr hcl.Expression) string {
	if expr == nil {
		return "none"
	}
	object := func(s string) cty.Value { return cty.ObjectVal(map[string]cty.Value{s: cty.StringVal(s)}) }
	byRegion := cty.MapVal(map[string]cty.Value{"k": cty.StringVal("config k"), "east": cty.StringVal("config east")})
	value, diags := expr.Value(&hcl.EvalContext{Variables: map[string]cty.Value{
		"each": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal("k"), "value": cty.StringVal("k")}),
		"var": cty.ObjectVal(map[string]cty.Value{
			"regions":  cty.SetVal([]cty.Value{cty.StringVal("north")}),
			"token":    cty.StringVal("secret"),
			"none":     cty.StringVal("none"),
			"settings": cty.TupleVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("n"), "size": cty.Zero})}),
		}),
		"local":     object("prefix"),
		"component": cty.ObjectVal(map[string]cty.Value{"network": cty.ObjectVal(map[string]cty.Value{"a": object("zone")})}),
		"stack":     cty.ObjectVal(map[string]cty.Value{"apps": cty.ObjectVal(map[string]cty.Value{"a": object("url")})}),
		"provider":  cty.ObjectVal(map[string]cty.Value{"cloud": cty.ObjectVal(map[string]cty.Value{"by_region": byRegion})}),
	}})
	var summaries []string
	for _, diag := range diags {
		summaries = append(summaries, diag.Summary)
	}
	return fmt.Sprintf("%v = %#v %v", traversals(expr.Variables()), value, summaries)
}

func traversals(list []hcl.Traversal) []string {
	texts := make([]string, 0, len(list))
	for _, t := range list {
		text := ""
		for _, step := range t {
			switch step := step.(type) {
			case hcl.TraverseRoot:
				text += step.Name
			case hcl.TraverseAttr:
				text += "." + step.Name
			case hcl.TraverseIndex:
				text += fmt.Sprintf("[%#v]", step.Key)
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// Texts stand for files, of which some are not there.
func TestBuffers(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	onDisk, onlyText := filepath.Join(dir, "a.tfcomponent.hcl"), filepath.Join(dir, "b.tfcomponent.json")
	if err := os.WriteFile(onDisk, []byte("locals {\n  x = 1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var parsed []string
	cfg, diags := LoadWith(dir, LoadOptions{
		Buffers: map[string][]byte{
			onDisk:                     []byte("locals {\n  y = 1\n}\n"),
			onlyText:                   []byte(`{"locals": {"z": 1}}`),
			filepath.Join(dir, "c.tf"): nil,
		},
		Parse: func(path, name string, src []byte) (*hcl.File, hcl.Diagnostics) {
			parsed = append(parsed, path)
			return ParseFileAs(filepath.Base(path), name, src)
		},
	})
	if len(diags) > 0 {
		t.Fatal(details(diags))
	}
	if diff := cmp.Diff([]string{onDisk, onlyText}, parsed); diff != "" {
		t.Errorf("files parsed (-want +got):\n%s", diff)
	}
	if locals := cfg.Root.Locals; len(locals) != 2 || locals["y"] == nil || locals["z"] == nil {
		t.Errorf("the locals are %v, want y and z", locals)
	}
}
