// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terragrunt

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/hclsource"
)

// reader reads the files of one unit: its own, and those that it includes.
type reader struct {
	*loader
	unit      *Unit
	seen      map[string]bool // files that have been read
	named     map[string]bool // directories of dependencies
	filed     map[string]bool // files that expressions read
	largest   int             // size of a local, at most
	hasSource bool
}

// body reads one file. Paths are absolute while they are evaluated: "/" is the root of the tree.
func (r *reader) body(body *hclsyntax.Body, included bool) {
	ctx := &hcl.EvalContext{Functions: r.functions(), Variables: map[string]cty.Value{}}
	r.locals(body, ctx)
	r.readsOf(body, ctx)
	for _, block := range body.Blocks {
		switch block.Type {
		case "dependency":
			r.dependency(block, ctx, included)
		case "dependencies":
			r.dependencies(block, ctx, included)
		case "terraform":
			r.terraform(block, ctx)
		case "exclude", "generate", "remote_state":
			r.unknown("the block "+block.Type, block.DefRange(), false)
		}
	}
	for _, name := range []string{"skip", "iam_role", "download_dir", "generate", "remote_state"} {
		if attribute := body.Attributes[name]; attribute != nil {
			r.unknown("the argument "+name, attribute.NameRange, false)
		}
	}
	if attribute := body.Attributes["inputs"]; attribute != nil {
		r.inputs(attribute, ctx)
	}
	for _, block := range body.Blocks { // the blocks of the file itself come first
		if block.Type == "include" {
			r.include(block, ctx)
		}
	}
}

func (r *reader) unknown(what string, at hcl.Range, order bool) {
	r.unit.Unknown = append(r.unit.Unknown, Unknown{what, at, order})
}

// locals evaluates locals that name each other in any order, as far as they can be evaluated.
func (r *reader) locals(body *hclsyntax.Body, ctx *hcl.EvalContext) {
	values := map[string]cty.Value{}
	for range 10 { // deeper than paths are made in practice
		before := len(values)
		for _, block := range body.Blocks {
			if block.Type != "locals" {
				continue
			}
			for name, attribute := range block.Body.Attributes {
				if _, known := values[name]; known {
					continue
				}
				value, ok := r.evaluate(attribute.Expr, ctx)
				if !ok {
					continue
				}
				if length := size(value); length <= largestLocal {
					values[name] = value
					r.largest = max(r.largest, length)
				}
			}
		}
		ctx.Variables["local"] = cty.ObjectVal(values)
		if len(values) == before {
			return
		}
	}
}

// largestLocal limits the size of values of locals, which can double each other, in bytes.
const largestLocal = 64 << 10

// size is about how large a value is.
func size(value cty.Value) int {
	switch {
	case value.IsNull() || !value.IsKnown():
		return 1
	case value.Type() == cty.String:
		return 1 + len(value.AsString())
	case !value.CanIterateElements():
		return 1
	}
	total := 1
	for it := value.ElementIterator(); it.Next() && total <= largestLocal; {
		key, element := it.Element()
		total += size(key) + size(element)
	}
	return total
}

// formatFunction is format without widths, which could be very large.
var formatFunction = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "format", Type: cty.String}}, VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if plainFormat.MatchString(args[0].AsString()) {
			return stdlib.Format(args[0], args[1:]...)
		}
		return cty.NilVal, errors.New("it has more than %s, %d and %v")
	},
})

var plainFormat = regexp.MustCompile(`^([^%]|%[sdv%])*$`)

var errNotFound = errors.New("there is no such file in the directories above")

// functions are those that paths are made with.
func (r *reader) functions() map[string]function.Function {
	constant := func(value string) function.Function {
		return function.New(&function.Spec{Type: function.StaticReturnType(cty.String), Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			return cty.StringVal(value), nil
		}})
	}
	onText := func(f func(string) string) function.Function {
		return function.New(&function.Spec{
			Params: []function.Parameter{{Name: "path", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.StringVal(f(args[0].AsString())), nil
			},
		})
	}
	find := function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "name", Type: cty.String}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := FileName
			if len(args) > 0 {
				name = args[0].AsString()
			}
			for at := path.Join("/", r.unit.Dir); at != "/"; {
				at = path.Dir(at)
				if info, err := fs.Stat(r.files, relative(path.Join(at, name))); err == nil && !info.IsDir() {
					return cty.StringVal(path.Join(at, name)), nil
				}
			}
			if len(args) > 1 {
				return args[1], nil
			}
			return cty.NilVal, errNotFound
		},
	})
	own := path.Join("/", r.unit.Dir)
	return map[string]function.Function{
		"get_terragrunt_dir": constant(own), "get_original_terragrunt_dir": constant(own), "get_repo_root": constant("/"),
		"get_path_to_repo_root":  constant(strings.TrimSuffix(strings.Repeat("../", strings.Count(own, "/")), "/")),
		"find_in_parent_folders": find,
		"dirname":                onText(path.Dir), "basename": onText(path.Base),
		"format": formatFunction, "join": stdlib.JoinFunc, "concat": stdlib.ConcatFunc, "lower": stdlib.LowerFunc, "replace": replaceFunction,
	}
}

// relative makes a path one of a file system.
func relative(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// text evaluates an argument that is a path. Without ok it cannot be, or it is not there.
func (r *reader) text(body *hclsyntax.Body, name string, ctx *hcl.EvalContext) (string, bool) {
	attribute := body.Attributes[name]
	if attribute == nil {
		return "", false
	}
	value, ok := r.evaluate(attribute.Expr, ctx)
	if !ok || value.IsNull() || value.Type() != cty.String {
		return "", false
	}
	return value.AsString(), true
}

func (r *reader) include(block *hclsyntax.Block, ctx *hcl.EvalContext) {
	file, ok := r.text(block.Body, "path", ctx)
	if !ok {
		r.unknown("the included file", block.DefRange(), true)
		return
	}
	if !strings.HasPrefix(file, "/") {
		file = path.Join("/", r.unit.Dir, file)
	}
	name := relative(file)
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	if !r.spend(block.DefRange(), perInclude) {
		return
	}
	body, diags := r.included(name)
	if diags.HasErrors() {
		r.unknown("the included file, which cannot be read", block.DefRange(), true)
		return
	}
	r.unit.Included = append(r.unit.Included, name)
	r.body(body, true)
}

func (r *reader) dependency(block *hclsyntax.Block, ctx *hcl.EvalContext, included bool) {
	if attribute := block.Body.Attributes["enabled"]; attribute != nil {
		value, ok := r.evaluate(attribute.Expr, ctx)
		if !ok || value.IsNull() || value.Type() != cty.Bool {
			r.unknown("whether a dependency is enabled: it is taken as one", attribute.Range(), false)
		} else if value.False() {
			return
		}
	}
	attribute := block.Body.Attributes["config_path"]
	if attribute == nil {
		return
	}
	dir, ok := r.text(block.Body, "config_path", ctx)
	r.after(dir, ok, attribute.Expr.Range(), included)
}

func (r *reader) dependencies(block *hclsyntax.Block, ctx *hcl.EvalContext, included bool) {
	attribute := block.Body.Attributes["paths"]
	if attribute == nil {
		return
	}
	items := []hclsyntax.Expression{attribute.Expr}
	if list, ok := attribute.Expr.(*hclsyntax.TupleConsExpr); ok {
		items = list.Exprs
	}
	for _, item := range items {
		value, ok := r.evaluate(item, ctx)
		switch {
		case !ok || value.IsNull():
			r.after("", false, item.Range(), included)
		case value.Type() == cty.String:
			r.after(value.AsString(), true, item.Range(), included)
		case value.CanIterateElements():
			for _, element := range value.AsValueSlice() {
				known := !element.IsNull() && element.Type() == cty.String
				dir := ""
				if known {
					dir = element.AsString()
				}
				r.after(dir, known, item.Range(), included)
			}
		default:
			r.after("", false, item.Range(), included)
		}
	}
}

// after adds a dependency.
func (r *reader) after(dir string, ok bool, at hcl.Range, included bool) {
	switch {
	case !ok:
		r.unknown("a dependency, whose path is not written out", at, true)
		return
	case strings.HasPrefix(dir, "/"):
	case included:
		r.unknown("a dependency of a file that it includes, whose path does not begin with get_terragrunt_dir() or get_repo_root()", at, true)
		return
	default:
		outside := path.Join(r.unit.Dir, dir)
		if outside == ".." || strings.HasPrefix(outside, "../") {
			r.unknown("a dependency outside of the tree", at, true)
			return
		}
		dir = path.Join("/", outside)
	}
	if path.Base(dir) == FileName {
		dir = path.Dir(dir)
	}
	name := relative(dir)
	if !r.named[name] {
		r.named[name] = true
		r.unit.Dependencies = append(r.unit.Dependencies, Dependency{name, at})
	}
}

func (r *reader) terraform(block *hclsyntax.Block, ctx *hcl.EvalContext) {
	attribute := block.Body.Attributes["source"]
	if attribute != nil {
		r.hasSource = true
		source, ok := r.text(block.Body, "source", ctx)
		if !ok {
			source = "…"
		}
		if strings.HasPrefix(source, "//") { // the root of the tree, and a path
			source = path.Clean(source)
		}
		if r.unit.Source == "" {
			r.unit.Source = source
		}
	}
	for _, inner := range block.Body.Blocks {
		r.unknown("the block "+inner.Type, inner.DefRange(), false)
	}
}

// inputs reads inputs that are written out. Those of the unit come before those of files that it
// includes.
func (r *reader) inputs(attribute *hclsyntax.Attribute, ctx *hcl.EvalContext) {
	object, ok := attribute.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		r.unknown("its inputs", attribute.Expr.Range(), false)
		return
	}
	for _, item := range object.Items {
		key, isKnown := r.evaluate(item.KeyExpr, ctx)
		value, hasValue := r.evaluate(item.ValueExpr, ctx)
		word, isWord := "", false
		if hasValue {
			word, isWord = hclsource.Text(value)
		}
		if !isKnown || key.IsNull() || key.Type() != cty.String || !isWord {
			r.unknown("an input other than a text, number or boolean written out", item.ValueExpr.Range(), false)
			continue
		}
		if _, set := r.unit.Inputs[key.AsString()]; !set {
			r.unit.Inputs[key.AsString()] = word
		}
	}
}
