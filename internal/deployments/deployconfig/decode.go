// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// decoder decodes the files of one directory, one after the other, into one Config.
type decoder struct {
	config *Config
	json   []byte // the text of the file being decoded if it is in JSON syntax
	diags  hcl.Diagnostics

	declared map[string]hcl.Range // the place of the first declaration of each address
	constant []pending            // arguments with locals, which may be declared later
}

// pending is a step of decoding that needs all files to be read first.
type pending struct {
	at     hcl.Range // where a place in the order matters
	finish func()
}

func newDecoder(dir string) *decoder {
	return &decoder{
		declared: map[string]hcl.Range{},
		config: &Config{
			Dir: dir, Files: map[string]*hcl.File{},
			Deployments: map[string]*Deployment{}, Groups: map[string]*Group{}, Rules: map[string]*Rule{},
			Tokens: map[string]*IdentityToken{}, Stores: map[StoreKey]*Store{},
			Published: map[string]*PublishedOutput{}, Upstreams: map[string]*UpstreamInput{}, Locals: map[string]*Local{},
			rejected: map[string]bool{},
		},
	}
}

var rootSchema = &hcl.BodySchema{
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "deployment", LabelNames: []string{"name"}},
		{Type: "deployment_group", LabelNames: []string{"name"}},
		{Type: "deployment_auto_approve", LabelNames: []string{"name"}},
		{Type: "identity_token", LabelNames: []string{"name"}},
		{Type: "store", LabelNames: []string{"type", "name"}},
		{Type: "publish_output", LabelNames: []string{"name"}},
		{Type: "upstream_input", LabelNames: []string{"name"}},
		{Type: "locals"},
		{Type: "orchestrate", LabelNames: []string{"type", "name"}},
	},
}

// body decodes the top level of a file.
func (d *decoder) body(body hcl.Body) {
	content, diags := body.Content(rootSchema)
	stackconfig.ExplainMisplaced(body, diags, misplacedInFile)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		d.config.Incomplete = true
	}
	for _, block := range content.Blocks {
		d.block(block)
	}
}

func (d *decoder) block(block *hcl.Block) {
	switch block.Type {
	case "deployment":
		d.deployment(block)
	case "deployment_group":
		d.group(block)
	case "deployment_auto_approve":
		d.rule(block)
	case "identity_token":
		d.token(block)
	case "store":
		d.store(block)
	case "publish_output":
		d.published(block)
	case "upstream_input":
		d.upstream(block)
	case "locals":
		d.locals(block)
	case "orchestrate":
		d.orchestrate(block)
	}
}

// finish takes the steps that need the declarations of all files.
func (d *decoder) finish(firstFile string) {
	if len(d.config.Deployments) == 0 && !d.config.Incomplete && len(d.config.rejected) == 0 {
		d.errorf(fileStart(firstFile), "No deployment defined",
			`There are deployment files, but no deployment in them. Write deployment "NAME" { inputs = { … } }.`)
	}
	d.config.static = newStatic(d.config)
	d.diags = append(d.diags, d.config.static.checkLocals()...)
	for _, p := range d.constant {
		p.finish()
	}
	d.config.inOrder()
	d.diags = append(d.diags, d.config.static.check()...)
}

// later does something when all files were read.
func (d *decoder) later(at hcl.Range, finish func()) {
	d.constant = append(d.constant, pending{at, finish})
}

func (d *decoder) errorf(subject hcl.Range, summary, format string, args ...any) {
	d.diags = append(d.diags, problem(subject, summary, format, args...))
}

func problem(subject hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &subject}
}

// declare notes the declaration of a block by its last label. It reports whether the name can be
// used; if not, the block is to be left out.
func (d *decoder) declare(block *hcl.Block, addr string) bool {
	last := len(block.Labels) - 1
	return d.checkName(block.Labels[last], block.LabelRanges[last]) && d.claim(addr, d.header(block))
}

func (d *decoder) checkName(name string, rng hcl.Range) bool {
	if hclsyntax.ValidIdentifier(name) {
		return true
	}
	d.config.rejected[""] = true
	d.errorf(rng, "Not a usable name", "Names must start with a letter and may contain letters, digits, underscores and dashes.")
	return false
}

// claim notes the declaration of an address and reports whether it is the first.
func (d *decoder) claim(addr string, rng hcl.Range) bool {
	if first, taken := d.declared[addr]; taken {
		d.errorf(rng, "Name used twice", "%s already exists at %s line %d.", addr, first.Filename, first.Start.Line)
		return false
	}
	d.declared[addr] = rng
	return true
}

// header returns the range of a block's header.
func (d *decoder) header(block *hcl.Block) hcl.Range {
	switch {
	case d.json == nil:
		return block.DefRange
	case len(block.LabelRanges) > 0: // other labels may lie between the type and the last label
		return block.LabelRanges[len(block.LabelRanges)-1]
	default:
		return block.TypeRange
	}
}

// content decodes a block's body.
func (d *decoder) content(block *hcl.Block, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diags := block.Body.Content(schema)
	elsewhere, special := misplacedIn[block.Type]
	if !special {
		elsewhere = misplacedInBlock
	}
	stackconfig.ExplainMisplaced(block.Body, diags, elsewhere)
	for _, diag := range diags {
		if diag.Subject != nil && *diag.Subject == content.MissingItemRange {
			diag.Subject = d.header(block).Ptr() // there is nothing to see at the place itself
		}
	}
	d.diags = append(d.diags, diags...)
	return content
}

// expression returns the expression of an argument, and one of an unknown value when it is not set
// or has a mistake.
func (d *decoder) expression(attr *hcl.Attribute, block *hcl.Block) (expr hcl.Expression, ok bool) {
	if attr == nil {
		return unknownExpression(d.header(block)), false
	}
	if d.json == nil {
		return attr.Expr, true
	}
	diags := stackconfig.CheckTemplates(attr.Expr, d.json)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return unknownExpression(attr.Expr.Range()), false
	}
	return attr.Expr, true
}

// unknownExpression stands for an expression that was not written or has a mistake: evaluating it
// causes no further diagnostics.
func unknownExpression(rng hcl.Range) hcl.Expression { return hcl.StaticExpr(cty.DynamicVal, rng) }

// constantValue gives the value of an argument that must be constant, once all locals are known.
// use is not called when the argument is not set or cannot be used; a value of the wrong type is
// reported as such, with the wanted type.
func (d *decoder) constantValue(content *hcl.BodyContent, block *hcl.Block, name string, ty cty.Type, want string,
	use func(cty.Value, *hcl.Attribute),
) {
	attr := content.Attributes[name]
	if attr == nil {
		return
	}
	expr, ok := d.expression(attr, block)
	if !ok {
		return
	}
	d.later(attr.Range, func() {
		value, diags := d.config.static.value(expr, inConstant)
		d.diags = append(d.diags, diags...)
		if diags.HasErrors() {
			return
		}
		value, _ = value.UnmarkDeep()
		if !value.IsWhollyKnown() {
			d.errorf(expr.Range(), "Unsuitable argument value", "The argument %q must be known without tokens, stores and other stacks.", name)
			return
		}
		value, err := bounds.Convert(value, ty)
		if err != nil || value.IsNull() {
			d.errorf(expr.Range(), "Unsuitable argument value", "The argument %q must be %s.", name, want)
			return
		}
		use(value, attr)
	})
}

func (d *decoder) constantString(content *hcl.BodyContent, block *hcl.Block, name string, use func(string, *hcl.Attribute)) {
	d.constantValue(content, block, name, cty.String, "a string", func(v cty.Value, attr *hcl.Attribute) { use(v.AsString(), attr) })
}

func (d *decoder) constantBool(content *hcl.BodyContent, block *hcl.Block, name string, use func(bool)) {
	d.constantValue(content, block, name, cty.Bool, "either true or false", func(v cty.Value, _ *hcl.Attribute) { use(v.True()) })
}

// inOrder fills the orders of deployments and groups, and the members of groups (rules D5, D6).
func (c *Config) inOrder() {
	for _, name := range sortedByPlace(c.Deployments, func(d *Deployment) hcl.Range { return d.Range }) {
		deployment := c.Deployments[name]
		c.Order = append(c.Order, name)
		if c.Groups[deployment.Group] == nil {
			deployment.Group = automaticGroup(name)
			if c.Groups[deployment.Group] == nil {
				c.Groups[deployment.Group] = &Group{Name: deployment.Group, Automatic: true, EagerPlan: true, Range: deployment.Range}
			}
		}
		group := c.Groups[deployment.Group]
		group.Members = append(group.Members, name)
	}
	c.GroupOrder = sortedByPlace(c.Groups, func(g *Group) hcl.Range { return g.Range })
}

func sortedByPlace[D any](declarations map[string]D, place func(D) hcl.Range) []string {
	names := make([]string, 0, len(declarations))
	for name := range declarations {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		at, bt := place(declarations[a]), place(declarations[b])
		return identity.ComparePlaces(&at, &bt)
	})
	return names
}

// automaticGroup is the name of the group of a deployment that names none.
func automaticGroup(deployment string) string { return deployment + "_default" }
