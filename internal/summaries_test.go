// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A program is the type-checked source of all packages of the module, without tests and generated
// code.
type program struct {
	fset     *token.FileSet
	files    []*ast.File
	packages map[string]*types.Package
	info     *types.Info
}

// load type-checks the packages of the module. Others it takes as compiled.
func load(t *testing.T) *program {
	t.Helper()
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{
		fset: token.NewFileSet(), packages: map[string]*types.Package{},
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
		},
	}
	exports := map[string]string{}
	compiled := importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	imports := importerFunc(func(path string) (*types.Package, error) {
		if pkg, ok := p.packages[path]; ok {
			return pkg, nil
		}
		return compiled.Import(path)
	})
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); { // dependencies come first
		var pkg listed
		if err := decoder.Decode(&pkg); err != nil {
			t.Fatal(err)
		}
		if exports[pkg.ImportPath] = pkg.Export; pkg.Module == nil || !pkg.Module.Main {
			continue
		}
		var files []*ast.File
		for _, name := range pkg.GoFiles {
			file, err := parser.ParseFile(p.fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		checked, err := (&types.Config{Importer: imports}).Check(pkg.ImportPath, p.fset, files, p.info)
		if err != nil {
			t.Fatal(err)
		}
		p.packages[pkg.ImportPath] = checked
		p.files = append(p.files, slices.DeleteFunc(files, ast.IsGenerated)...)
	}
	return p
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// A flow finds the texts that reach a variable or field: the expressions that are assigned to it,
// those that are assigned to these, and so on, by way of parameters, results, fields, elements and
// local variables.
type flow struct {
	*program
	into    map[types.Object][]ast.Expr         // expressions that are assigned to a variable, field, parameter or element of a collection
	results map[types.Object]map[int][]ast.Expr // returned expressions of a function, result by result
	seen    map[visit]bool
	entered map[*ast.CallExpr]bool
	texts   map[string][]token.Position
}

// visit is an object seen from within a call, whose arguments are the values of parameters. There
// is no call where the flow came to a parameter by another way than by a result.
type visit struct {
	obj  types.Object
	call *ast.CallExpr
}

func newFlow(p *program) *flow {
	f := &flow{
		program: p, into: map[types.Object][]ast.Expr{}, results: map[types.Object]map[int][]ast.Expr{},
		seen: map[visit]bool{}, texts: map[string][]token.Position{}, entered: map[*ast.CallExpr]bool{},
	}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				f.returns(fn)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				f.literal(n)
			case *ast.AssignStmt:
				f.assignment(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				names := make([]ast.Expr, len(n.Names))
				for i, name := range n.Names {
					names[i] = name
				}
				f.assignment(names, n.Values)
			case *ast.RangeStmt:
				if n.Value != nil {
					f.assign(n.Value, n.X)
				}
			case *ast.CallExpr:
				f.call(n)
			}
			return true
		})
	}
	return f
}

// assign notes that an expression is assigned to another. An assignment to an element counts for
// the whole.
func (f *flow) assign(to, from ast.Expr) {
	if obj := f.object(to); obj != nil {
		f.into[obj] = append(f.into[obj], from)
	}
}

func (f *flow) assignment(left, right []ast.Expr) {
	for i, to := range left {
		switch {
		case len(left) == len(right):
			f.assign(to, right[i])
		case len(right) == 1:
			f.assign(to, nth{right[0], i})
		}
	}
}

// nth is one of several results of a call.
type nth struct {
	ast.Expr
	i int
}

func (f *flow) literal(lit *ast.CompositeLit) {
	st, ok := structOf(f.info.Types[lit].Type)
	if !ok {
		return
	}
	for i, elt := range lit.Elts {
		if pair, ok := elt.(*ast.KeyValueExpr); ok {
			f.assign(pair.Key, pair.Value)
		} else {
			f.into[st.Field(i)] = append(f.into[st.Field(i)], elt)
		}
	}
}

func structOf(ty types.Type) (*types.Struct, bool) {
	if ty == nil {
		return nil, false
	}
	if p, ok := ty.Underlying().(*types.Pointer); ok {
		ty = p.Elem()
	}
	st, ok := ty.Underlying().(*types.Struct)
	return st, ok
}

func (f *flow) call(call *ast.CallExpr) {
	var sig *types.Signature
	if fn, ok := f.object(call.Fun).(*types.Func); ok {
		sig = fn.Signature()
	} else if ty := f.info.Types[call.Fun]; !ty.IsType() && ty.Type != nil { // a variable with a function
		sig, _ = ty.Type.Underlying().(*types.Signature)
		if obj := f.object(call.Fun); obj != nil && sig != nil {
			for _, from := range f.into[obj] {
				if lit, ok := from.(*ast.FuncLit); ok {
					sig = f.info.Types[lit].Type.(*types.Signature)
				}
			}
		}
	}
	if sig == nil {
		return
	}
	for i, arg := range call.Args {
		if i < sig.Params().Len() {
			param := sig.Params().At(i)
			f.into[param] = append(f.into[param], arg)
		}
	}
}

func (f *flow) returns(fn *ast.FuncDecl) {
	obj := f.info.Defs[fn.Name]
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if ret, ok := n.(*ast.ReturnStmt); ok {
			if f.results[obj] == nil {
				f.results[obj] = map[int][]ast.Expr{}
			}
			for i, result := range ret.Results {
				f.results[obj][i] = append(f.results[obj][i], result)
			}
		}
		return true
	})
}

// object returns the object that an expression names: for an element the collection, for an
// instance of a generic function that function.
func (f *flow) object(e ast.Expr) types.Object {
	var obj types.Object
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		obj = cmp.Or(f.info.Defs[e], f.info.Uses[e])
	case *ast.SelectorExpr:
		obj = f.info.Uses[e.Sel]
	case *ast.IndexExpr:
		return f.object(e.X)
	case *ast.StarExpr:
		return f.object(e.X)
	}
	switch of := obj.(type) {
	case *types.Func:
		return of.Origin()
	case *types.Var:
		return of.Origin()
	}
	return obj
}

// reach follows the texts that are assigned to an object.
func (f *flow) reach(at visit) {
	if f.seen[at] {
		return
	}
	f.seen[at] = true
	if at.call != nil {
		if fn, ok := f.object(at.call.Fun).(*types.Func); ok {
			params := fn.Signature().Params()
			for i, arg := range at.call.Args {
				if i < params.Len() && params.At(i) == at.obj {
					f.add(arg, 0, nil)
					return
				}
			}
		}
	}
	for _, from := range f.into[at.obj] {
		f.add(from, 0, at.call)
	}
}

// add takes an expression, of which there may be several results.
func (f *flow) add(e ast.Expr, result int, within *ast.CallExpr) {
	if of, ok := e.(nth); ok {
		e, result = of.Expr, of.i
	}
	if text, ok := f.text(e); ok {
		f.texts[text] = append(f.texts[text], f.fset.Position(e.Pos()))
		return
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		for _, elt := range e.Elts {
			if pair, ok := elt.(*ast.KeyValueExpr); ok {
				elt = pair.Value
			}
			f.add(elt, 0, within)
		}
	case *ast.CallExpr:
		obj := f.object(e.Fun)
		if f.info.Types[e.Fun].IsType() { // a conversion
			f.add(e.Args[0], 0, within)
		}
		if f.entered[e] {
			return
		}
		f.entered[e] = true
		for _, from := range f.results[obj][result] {
			f.add(from, 0, e)
		}
		delete(f.entered, e)
	case *ast.IndexExpr, *ast.Ident, *ast.SelectorExpr:
		if obj := f.object(e); obj != nil {
			f.reach(visit{obj, within})
		}
	}
}

// text returns the fixed text of an expression, "…" in the place of variable parts; false if it has
// no fixed text.
func (f *flow) text(e ast.Expr) (string, bool) {
	if value := f.info.Types[e].Value; value != nil && value.Kind() == constant.String {
		return constant.StringVal(value), true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		left, ok1 := f.text(e.X)
		right, ok2 := f.text(e.Y)
		if ok1 || ok2 {
			return cmp.Or(left, "…") + cmp.Or(right, "…"), true
		}
	case *ast.CallExpr:
		if fn, ok := f.object(e.Fun).(*types.Func); ok && fn.FullName() == "fmt.Sprintf" {
			return f.text(e.Args[0])
		}
	}
	return "", false
}

// summaries are the texts that reach the summary of a diagnostic, and where they are written. "…"
// stands for a variable part.
func summaries(t *testing.T) map[string][]token.Position {
	t.Helper()
	flow := newFlow(load(t))
	for _, pkg := range flow.packages {
		for _, imported := range pkg.Imports() {
			if imported.Path() == "github.com/hashicorp/hcl/v2" {
				summary, _, _ := types.LookupFieldOrMethod(imported.Scope().Lookup("Diagnostic").Type(), true, nil, "Summary")
				flow.reach(visit{obj: summary})
			}
		}
	}
	delete(flow.texts, "") // the initial value of a variable
	return flow.texts
}

// fixedSummaries are part of the language: programs and people search for them. They stay as they
// are, whatever the rules of TestSummaries.
var fixedSummaries = []string{
	"Attribute default does not fit its type",
	"Built-in providers have no version",
	"Component cannot be planned",
	"Component inputs do not fit",
	"Component needs inputs",
	"Constant variables cannot be used here",
	"Default does not fit the type",
	"Directory where a file was expected",
	"Embedded stack inputs do not fit",
	"Embedded stack needs inputs",
	"Input could not be computed",
	"Instance cannot be destroyed", // terraform's, of which the in-memory engine is a double
	"Items depend on each other in a circle",
	"Modules used by components cannot configure providers",
	"Output should be ephemeral but is not",
	"Output value has the wrong type",
	"Plan cannot be applied",
	"Plan does not match the configuration",
	"Preconditions are not available for stack outputs",
	"Provider configurations cannot be inputs",
	"Provider has two names",
	"Provider needed by existing resources not assigned",
	"Removal target lies in a missing stack",
	"Required variable of the embedded stack not set",
	"Root outputs cannot be ephemeral",
	"Root outputs cannot expose provider configurations",
	"Source cannot be used here",
	"Validation message would reveal a sensitive value",
	"Validation message would reveal an ephemeral value",
	"Value does not fit the variable",
	"Variable does not take ephemeral values",
	"Wrong provider for slot",
	"depends_on target too specific",
	"depends_on target unusable",
	"for_each cannot be ephemeral",
	"for_each cannot be null",
	"for_each cannot be sensitive",
	"for_each needs a map, an object or a set of strings",
	"for_each not used in from",
	"inputs only applies to embedded stacks",
	"providers only applies to components",
	"… does not name a component or stack",
}

// These make a clause of a summary, which is to be a noun phrase: "Stale plan", "Plan not saved".
var clause = regexp.MustCompile(`\b(is|are|was|were|has|have|can|cannot|could|will|would|does|do|must|should|needs|wants|contradicts?|leads?)\b`)

// privateWords are words that the field does not use for this meaning, or has others for.
var privateWords = regexp.MustCompile(`(?i)\b(circles?|is no|are no|tells?|mend|mended|strangers?|for ever|gets? lost|fate|something|too much|wrong)\b`)

// synonyms are words for one kind of fault, of which summaries use the second. Words that tell no
// faults apart are dropped.
var synonyms = map[string]string{
	"malformed": "invalid", "wrong": "invalid", "bad": "invalid", "impossible": "invalid", "repeated": "duplicate",
	"contradictory": "conflicting",
	"absent":        "missing", "undefined": "unknown", "undeclared": "unknown",
	"a": "", "an": "", "the": "", "of": "", "for": "", "in": "", "with": "",
}

// kindOfFault is the same for two summaries that say the same in other words.
func kindOfFault(summary string) string {
	var words []string
	for _, word := range strings.Fields(strings.ToLower(summary)) {
		if synonym, ok := synonyms[word]; ok {
			word = synonym
		}
		if word = strings.TrimSuffix(word, "s"); word != "" {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// A summary is a noun phrase of two to six words that names a fault, in the words of the field; the
// remedy is in the detail. With -v, the test lists all of them.
func TestSummaries(t *testing.T) {
	all := summaries(t)
	if len(all) < 300 {
		t.Errorf("there are %d summaries: these are not all", len(all))
	}
	said := map[string]string{}
	for _, text := range slices.Sorted(maps.Keys(all)) {
		at := all[text][0]
		if testing.Verbose() {
			t.Logf("%s (%s:%d)", text, filepath.Base(at.Filename), at.Line)
		}
		kind := kindOfFault(text)
		if other, ok := said[kind]; ok {
			t.Errorf("%s: %q is %q in other words", at, text, other)
		}
		said[kind] = text
		if slices.Contains(fixedSummaries, text) {
			continue
		}
		words := len(strings.Fields(text))
		switch first, _ := utf8.DecodeRuneInString(text); {
		case words < 2 || words > 6:
			t.Errorf("%s: %q has %d words, want 2 to 6", at, text, words)
		case !unicode.IsUpper(first):
			t.Errorf("%s: %q does not begin with a capital letter", at, text)
		case strings.ContainsAny(text[len(text)-1:], ".!?:"):
			t.Errorf("%s: %q ends like a sentence", at, text)
		case clause.MatchString(text):
			t.Errorf("%s: %q is a clause, want a noun phrase", at, text)
		case privateWords.MatchString(text):
			t.Errorf("%s: %q is not in the words of the field", at, text)
		}
	}
	for _, text := range fixedSummaries {
		if len(all[text]) == 0 {
			t.Errorf("%q is not a summary any more, though it is part of the language", text)
		}
	}
}
