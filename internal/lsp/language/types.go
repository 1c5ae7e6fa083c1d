// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang/scope"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// typeOf returns the type of the values of a symbol, as far as it is declared or can be inferred;
// the dynamic type otherwise. Of a component or an embedded stack, it is that of one instance.
func (s *Stack) typeOf(symbol Symbol) cty.Type {
	s.types.Lock()
	defer s.types.Unlock()
	return s.infer(symbol)
}

// infer is [Stack.typeOf] for callers that hold the lock.
func (s *Stack) infer(symbol Symbol) cty.Type {
	if ty, known := s.types.known[symbol]; known {
		return ty
	}
	s.types.known[symbol] = cty.DynamicPseudoType // while it is inferred: a symbol that refers to itself has no type
	ty := s.inferNew(symbol)
	s.types.known[symbol] = ty
	return ty
}

func (s *Stack) inferNew(symbol Symbol) cty.Type {
	switch symbol.Kind {
	case ModuleVariable:
		if module := s.module(symbol.Dir); module != nil && module.Variables[symbol.Name] != nil {
			return module.Variables[symbol.Name].Type
		}
	case ModuleOutput, moduleLocal:
		return s.inferInModule(symbol)
	case Variable, Output:
		return s.inferDeclared(symbol)
	case Local:
		if decl := s.declaration(symbol); decl != nil {
			return s.inferExpr(decl.file, decl.argument.Value)
		}
	case Component, Call:
		if decl := s.declaration(symbol); decl != nil {
			return s.inferResults(decl)
		}
	}
	return cty.DynamicPseudoType
}

// inferDeclared returns the type that a variable or output declares. Of an output without one, that
// of its value.
func (s *Stack) inferDeclared(symbol Symbol) cty.Type {
	decl := s.declaration(symbol)
	if decl == nil {
		return cty.DynamicPseudoType
	}
	if argument := decl.value("type"); argument != nil {
		expr := parseExpression(decl.file.text(argument.Value.Range))
		if expr == nil {
			return cty.DynamicPseudoType
		}
		ty, _, diags := typeexpr.TypeConstraintWithDefaults(expr)
		if diags.HasErrors() {
			return cty.DynamicPseudoType
		}
		return ty
	}
	if value := decl.value("value"); value != nil && symbol.Kind == Output {
		return s.inferExpr(decl.file, value.Value)
	}
	return cty.DynamicPseudoType
}

// inferResults returns the type of the outputs of one instance of a component or embedded stack.
func (s *Stack) inferResults(decl *declaration) cty.Type {
	target := s.sourceDir(decl.file.dir, decl.block)
	attributes := map[string]cty.Type{}
	if decl.Kind == Component {
		module := s.module(target)
		if module == nil {
			return cty.DynamicPseudoType
		}
		for name := range module.Outputs {
			attributes[name] = s.infer(Symbol{target, ModuleOutput, name})
		}
		return cty.Object(attributes)
	}
	dir := s.dirs[target]
	if dir == nil {
		return cty.DynamicPseudoType
	}
	for _, output := range dir.all(Output) {
		attributes[output.Name] = s.infer(output.Symbol).WithoutOptionalAttributesDeep()
	}
	return cty.Object(attributes)
}

// inferExpr returns the type of an expression in a file of a stack.
func (s *Stack) inferExpr(f *file, expr *syntax.Expr) cty.Type {
	return s.evaluateType(f.text(expr.Range), func(root, name string) cty.Value {
		kind, ok := map[string]Kind{"var": Variable, "local": Local, "component": Component, "stack": Call}[root]
		if !ok {
			return attributeOf(root, name)
		}
		ty := s.infer(Symbol{f.dir.path, kind, name}).WithoutOptionalAttributesDeep()
		if decl := f.dir.get(kind, name); decl != nil && decl.repeated() && !ty.HasDynamicTypes() {
			ty = cty.Map(ty)
		} else if decl != nil && decl.repeated() {
			ty = cty.DynamicPseudoType
		}
		return cty.UnknownVal(ty)
	})
}

// attributeOf is the value of a reference that begins with a word that stands for no block.
func attributeOf(root, name string) cty.Value {
	switch root + "." + name {
	case "each.key", "path.module", "path.root", "path.cwd", "terraform.workspace":
		return cty.UnknownVal(cty.String)
	case "terraform.applying":
		return cty.UnknownVal(cty.Bool)
	case "count.index":
		return cty.UnknownVal(cty.Number)
	}
	return cty.DynamicVal
}

// inferInModule returns the type of an output or local value of a module.
func (s *Stack) inferInModule(symbol Symbol) cty.Type {
	info := s.moduleInfo(symbol.Dir)
	if info == nil {
		return cty.DynamicPseudoType
	}
	text := info.locals[symbol.Name]
	if symbol.Kind == ModuleOutput {
		text = info.outputs[symbol.Name].value
	}
	return s.evaluateType(text, func(root, name string) cty.Value {
		switch root {
		case "var":
			return cty.UnknownVal(s.infer(Symbol{symbol.Dir, ModuleVariable, name}).WithoutOptionalAttributesDeep())
		case "local":
			return cty.UnknownVal(s.infer(Symbol{symbol.Dir, moduleLocal, name}))
		}
		return attributeOf(root, name)
	})
}

// evaluateType returns the type that an expression has for all values of its references.
func (s *Stack) evaluateType(text string, lookup func(root, name string) cty.Value) cty.Type {
	expr := parseExpression(text)
	if expr == nil {
		return cty.DynamicPseudoType
	}
	names := scope.Table{}
	for _, traversal := range expr.Variables() {
		root := traversal.RootName()
		if attr, ok := second(traversal).(hcl.TraverseAttr); ok {
			names.Set(lookup(root, attr.Name), root, attr.Name)
		} else {
			names.Set(cty.DynamicVal, root)
		}
	}
	value, diags := expr.Value(&hcl.EvalContext{Variables: names.Variables(), Functions: s.typeFunctions()})
	if diags.HasErrors() {
		return cty.DynamicPseudoType
	}
	return value.Type()
}

func second(traversal hcl.Traversal) hcl.Traverser {
	if len(traversal) < 2 {
		return nil
	}
	return traversal[1]
}

// typeFunctions returns the functions of the language so that they give types and no values,
// without those that may read files for that.
func (s *Stack) typeFunctions() map[string]function.Function {
	if s.types.functions == nil {
		s.types.functions = map[string]function.Function{}
		for name, f := range s.view.Functions {
			if base := strings.TrimPrefix(name, "core::"); !strings.HasPrefix(base, "file") && !strings.HasPrefix(base, "template") {
				s.types.functions[name] = function.Unpredictable(f)
			}
		}
	}
	return s.types.functions
}

// parseExpression parses an expression; nil if it is not complete.
func parseExpression(text string) hclsyntax.Expression {
	expr, diags := safehcl.ParseExpression([]byte(strings.TrimSpace(text)), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	return expr
}

// typeText writes a type as it is written in a declaration; "" for one that is not known.
func typeText(ty cty.Type) string {
	switch {
	case ty == cty.NilType, ty == cty.DynamicPseudoType:
		return ""
	case ty.IsPrimitiveType():
		return ty.FriendlyName()
	case ty.IsListType(), ty.IsSetType(), ty.IsMapType():
		kind := map[bool]string{ty.IsListType(): "list", ty.IsSetType(): "set", ty.IsMapType(): "map"}[true]
		return kind + "(" + orAny(typeText(ty.ElementType())) + ")"
	case ty.IsTupleType():
		var elements []string
		for _, element := range ty.TupleElementTypes() {
			elements = append(elements, orAny(typeText(element)))
		}
		return "tuple([" + strings.Join(elements, ", ") + "])"
	case ty.IsObjectType():
		return objectText(ty)
	case ty.IsCapsuleType():
		return "providerconfig"
	}
	return ""
}

func objectText(ty cty.Type) string {
	var attributes []string
	for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
		text := orAny(typeText(ty.AttributeType(name)))
		if ty.AttributeOptional(name) {
			text = "optional(" + text + ")"
		}
		attributes = append(attributes, name+" = "+text)
	}
	if len(attributes) == 0 {
		return "object({})"
	}
	return "object({ " + strings.Join(attributes, ", ") + " })"
}

func orAny(text string) string {
	if text == "" {
		return "any"
	}
	return text
}

// shortType is [typeText] for places where there is not much room.
func shortType(ty cty.Type) string {
	text := typeText(ty)
	const most = 60
	if len(text) > most {
		text, _, _ = strings.Cut(text, "(")
	}
	return text
}
