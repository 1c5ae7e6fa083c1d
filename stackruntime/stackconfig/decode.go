// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// decoder decodes the files of one directory, one after the other, into one Stack.
type decoder struct {
	loader *loader
	stack  *Stack
	json   bool // the file being decoded is in JSON syntax
	diags  hcl.Diagnostics

	// declared has the place of the first declaration of each address.
	declared map[any]hcl.Range

	// badLocalNames are provider local names whose requirement has a mistake.
	badLocalNames map[string]bool

	// Declarations that can be decoded only when all files were read.
	variables []*pendingVariable
	outputs   []*pendingOutput
	providers []*pendingProvider
}

var rootSchema = &hcl.BodySchema{
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "required_providers"},
		{Type: "provider", LabelNames: []string{"local name", "configuration name"}},
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "locals"},
		{Type: "output", LabelNames: []string{"name"}},
		{Type: "component", LabelNames: []string{"name"}},
		{Type: "stack", LabelNames: []string{"name"}},
		{Type: "removed"},
		{Type: "moved"},
	},
}

var languageSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "language"}},
}

// body decodes the top level of a file.
func (d *decoder) body(body hcl.Body) {
	content, rest, diags := body.PartialContent(languageSchema)
	if attr, ok := content.Attributes["language"]; ok && !d.language(attr) {
		d.stack.Incomplete = true
		return // a file in another language has no other mistakes to speak of
	}
	d.diags = append(d.diags, diags...)

	content, diags = rest.Content(rootSchema)
	ExplainMisplaced(rest, diags, misplacedInStack)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		d.stack.Incomplete = true
	}
	for _, block := range content.Blocks {
		d.block(block)
	}
}

// language reports whether a file is in the only edition of the language.
func (d *decoder) language(attr *hcl.Attribute) bool {
	keyword := hcl.ExprAsKeyword(attr.Expr)
	if keyword == "TFStack2023" {
		return true
	}
	hint := ""
	if strings.HasPrefix(keyword, "TFStack") {
		hint = " The file may be written for a newer version."
	}
	d.errorf(attr.Expr.Range(), "Unknown language edition", "Only the edition keyword TFStack2023 is understood here.%s", hint)
	return false
}

func (d *decoder) block(block *hcl.Block) {
	switch block.Type {
	case "required_providers":
		d.requiredProviders(block)
	case "provider":
		d.provider(block)
	case "variable":
		d.variable(block)
	case "locals":
		d.locals(block)
	case "output":
		d.output(block)
	case "component":
		d.component(block)
	case "stack":
		d.stackCall(block)
	case "removed":
		d.removed(block)
	case "moved":
		d.moved(block)
	}
}

// finish decodes the parts that need the declarations of all files.
func (d *decoder) finish() {
	for _, v := range d.variables {
		d.finishVariable(v)
	}
	for _, o := range d.outputs {
		o.output.Type, _ = d.constraint(o.typeExpr)
	}
	for _, p := range d.providers {
		d.finishProvider(p)
	}
	d.checkRemoved()
}

func (d *decoder) errorf(subject hcl.Range, summary, format string, args ...any) {
	d.diags = append(d.diags, failure.At(subject, summary, format, args...))
}

// claim notes the declaration of an address and reports whether it is the first.
func (d *decoder) claim(addr fmt.Stringer, rng hcl.Range, summary string) bool {
	if first, taken := d.declared[addr]; taken {
		d.errorf(rng, summary, "%s already exists at %s.", addr, place(first))
		return false
	}
	d.declared[addr] = rng
	return true
}

// declare notes the declaration of a block with one label. It reports whether the
// name can be used; if not, the block is to be left out.
func (d *decoder) declare(block *hcl.Block, kind string, addr fmt.Stringer, duplicate string) bool {
	return d.checkName(block.Labels[0], block.LabelRanges[0], kind) && d.claim(addr, d.header(block), duplicate)
}

func (d *decoder) checkName(name string, rng hcl.Range, kind string) bool {
	if hclsyntax.ValidIdentifier(name) {
		return true
	}
	d.errorf(rng, "Not a usable name", "%s names must start with a letter and may contain letters, digits, underscores and dashes.", kind)
	return false
}

// header returns the range of a block's header.
func (d *decoder) header(block *hcl.Block) hcl.Range {
	switch {
	case !d.json:
		return block.DefRange
	case len(block.LabelRanges) > 0: // other labels may lie between the type and the last label
		return block.LabelRanges[len(block.LabelRanges)-1]
	default:
		return block.TypeRange
	}
}

// misplaced has the blocks and arguments that belong elsewhere, by the type of the block in which
// they are written.
var misplaced = map[string]map[string]string{
	"component": misplacedInComponent,
	"stack":     misplacedInCall,
	"provider":  misplacedInProvider,
}

// content decodes a block's body. ok is false when there were mistakes.
func (d *decoder) content(block *hcl.Block, schema *hcl.BodySchema) (content *hcl.BodyContent, ok bool) {
	content, diags := block.Body.Content(schema)
	ExplainMisplaced(block.Body, diags, misplaced[block.Type])
	for _, diag := range diags {
		if diag.Subject != nil && *diag.Subject == content.MissingItemRange {
			diag.Subject = d.header(block).Ptr() // there is nothing to see at the place itself
		}
	}
	d.diags = append(d.diags, diags...)
	return content, !diags.HasErrors()
}

// literalString returns the value of an argument that takes no expression, or
// "" when it is not set or has a mistake.
func (d *decoder) literalString(attr *hcl.Attribute) (s string, ok bool) {
	v, ok := d.literal(attr, cty.String, "a string")
	if !ok {
		return "", false
	}
	return v.AsString(), true
}

func (d *decoder) literalBool(attr *hcl.Attribute, unset bool) bool {
	v, ok := d.literal(attr, cty.Bool, "either true or false")
	if !ok {
		return unset
	}
	return v.True()
}

func (d *decoder) literal(attr *hcl.Attribute, ty cty.Type, want string) (cty.Value, bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	v, diags := attr.Expr.Value(nil)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	v, err := bounds.Convert(v, ty)
	if err != nil || v.IsNull() || !v.IsKnown() {
		d.errorf(attr.Expr.Range(), "Unsuitable argument value", "The argument %q must be %s, written as a literal.", attr.Name, want)
		return cty.NilVal, false
	}
	return v, true
}

// expression returns the expression of an argument, nil when it is not set.
//
// Expressions in JSON have strings whose syntax is checked only when they are
// evaluated; here it is checked at once.
func (d *decoder) expression(attr *hcl.Attribute) hcl.Expression {
	if attr == nil {
		return nil
	}
	return d.checkedExpression(attr.Expr)
}

func (d *decoder) checkedExpression(expr hcl.Expression) hcl.Expression {
	if !d.json {
		return expr
	}
	diags := CheckTemplates(expr, d.jsonSource(expr.Range().Filename))
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return unknownExpression(expr.Range())
	}
	return expr
}

// unknownExpression stands for an expression that was not written or has a
// mistake: evaluating it causes no further diagnostics.
func unknownExpression(rng hcl.Range) hcl.Expression {
	return hcl.StaticExpr(cty.DynamicVal, rng)
}

// description is a declaration that can be described: variables and outputs.
func (d *decoder) description(content *hcl.BodyContent) string {
	s, _ := d.literalString(content.Attributes["description"])
	return s
}

// requirement returns the provider that the stack knows by a local name.
// reported is set when the local name is missing for a reason that was reported.
func (d *decoder) requirement(localName string) (provider stackaddrs.Provider, ok, reported bool) {
	if req := d.stack.RequiredProviders.Named(localName); req != nil {
		return req.Provider, true, false
	}
	return stackaddrs.Provider{}, false, d.badLocalNames[localName] || d.stack.Incomplete
}
