// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

var deploymentSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "inputs"}, // where the stack requires some, checking the deployment against it says which
		{Name: "deployment_group"},
		{Name: "destroy"},
		{Name: "import"},
	},
}

func (d *decoder) deployment(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "deployment."+name) {
		return
	}
	content := d.content(block, deploymentSchema)
	deployment := &Deployment{Name: name, Group: automaticGroup(name), Range: d.header(block)}
	if attr := content.Attributes["inputs"]; attr != nil {
		inputs, ok := d.expression(attr, block)
		deployment.Inputs, deployment.broken = inputs, !ok
	} else {
		deployment.Inputs = &hclsyntax.ObjectConsExpr{SrcRange: d.header(block), OpenRange: d.header(block)}
	}
	d.config.Deployments[name] = deployment
	d.constantBool(content, block, "destroy", func(v bool) { deployment.Destroy = v })
	d.constantBool(content, block, "import", func(v bool) { deployment.Import = v })
	if attr := content.Attributes["deployment_group"]; attr != nil {
		d.later(attr.Range, func() { d.memberOf(deployment, attr) })
	}
}

// memberOf decodes the reference of a deployment to its group.
func (d *decoder) memberOf(deployment *Deployment, attr *hcl.Attribute) {
	name, rng, ok := d.referenceTo("deployment_group", attr.Expr)
	switch {
	case !ok:
		d.errorf(attr.Expr.Range(), "Not a deployment group", "Name a group declared in these files, like deployment_group.NAME.")
	case d.config.Groups[name] != nil:
		deployment.Group = name
	case d.config.rejects("deployment_group." + name):
	case d.isAutomatic(name):
		d.errorf(rng, "Reserved group name",
			"%s is the group of deployment.%s alone. Declare a group of another name for several deployments.", name, strings.TrimSuffix(name,
				automaticGroup("")))
	default:
		d.errorf(rng, "Unknown reference", "No block declares deployment_group %q.%s", name,
			nearest.DidYouMean(name, slices.Collect(maps.Keys(d.config.Groups))))
	}
}

// isAutomatic reports whether a group has the name of the automatic group of a deployment.
func (d *decoder) isAutomatic(group string) bool {
	deployment, ok := strings.CutSuffix(group, automaticGroup(""))
	return ok && d.config.Deployments[deployment] != nil
}

// referenceTo returns the name in a reference to a declaration of a kind. It may be quoted, as it
// is in JSON.
func (d *decoder) referenceTo(kind string, expr hcl.Expression) (name string, rng hcl.Range, ok bool) {
	traversal := stackconfig.StaticTraversal(expr)
	if traversal == nil {
		traversal = quotedTraversal(expr)
	}
	if len(traversal) != 2 || traversal.RootName() != kind {
		return "", hcl.Range{}, false
	}
	name, ok = stepName(traversal[1])
	return name, expr.Range(), ok
}

// quotedTraversal returns the traversal that is written as a text, also between ${ and }; nil if
// there is none.
func quotedTraversal(expr hcl.Expression) hcl.Traversal {
	if template, ok := expr.(*hclsyntax.TemplateWrapExpr); ok {
		return stackconfig.StaticTraversal(template.Wrapped)
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return nil
	}
	text := v.AsString()
	if inner, ok := strings.CutPrefix(text, "${"); ok {
		text = strings.TrimSuffix(inner, "}")
	}
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), expr.Range().Filename, expr.Range().Start)
	if diags.HasErrors() {
		return nil
	}
	return traversal
}

var groupSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "auto_approve_checks", Required: true},
		{Name: "eager_plan"},
		{Name: "failure_tolerance"},
	},
}

func (d *decoder) group(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "deployment_group."+name) {
		return
	}
	content := d.content(block, groupSchema)
	group := &Group{Name: name, EagerPlan: true, Range: d.header(block)}
	d.config.Groups[name] = group
	d.later(group.Range, func() {
		if d.isAutomatic(name) {
			d.errorf(group.Range, "Reserved group name",
				"%s is the name of the group that deployment.%s has of its own. Choose another one, and name it in the deployment.",
				name, strings.TrimSuffix(name, automaticGroup("")))
		}
		if attr := content.Attributes["auto_approve_checks"]; attr != nil {
			group.Checks = d.checksOf(attr.Expr)
		}
	})
	d.constantBool(content, block, "eager_plan", func(v bool) { group.EagerPlan = v })
	const wanted = "a whole number of members that may fail, 0 or more"
	d.constantValue(content, block, "failure_tolerance", cty.Number, wanted, func(v cty.Value, attr *hcl.Attribute) {
		var tolerance int
		if err := gocty.FromCtyValue(v, &tolerance); err != nil || tolerance < 0 {
			d.errorf(attr.Expr.Range(), "Unsuitable argument value", "The argument %q must be %s.", attr.Name, wanted)
			return
		}
		group.FailureTolerance = tolerance
	})
}

// emptyPlan is the name of the rule that all groups have without declaring it.
const emptyPlan = "empty_plan"

// checksOf decodes the rules that a group names.
func (d *decoder) checksOf(expr hcl.Expression) []string {
	elems, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		d.errorf(expr.Range(), "Not an approval rule", "The rules are written as a list, like [deployment_auto_approve.NAME].")
		return nil
	}
	var names []string
	for _, elem := range elems {
		name, rng, ok := d.referenceTo("deployment_auto_approve", elem)
		switch {
		case !ok:
			d.errorf(elem.Range(), "Not an approval rule", "Name a rule declared in these files, like deployment_auto_approve.NAME.")
		case d.config.Rules[name] != nil:
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		case d.config.rejects("deployment_auto_approve." + name):
		case name == emptyPlan:
			d.errorf(rng, "Not an approval rule", "A plan without changes is approved in each group. Leave the rule %s out.", emptyPlan)
		default:
			d.errorf(rng, "Unknown reference", "No block declares deployment_auto_approve %q.%s", name,
				nearest.DidYouMean(name, slices.Collect(maps.Keys(d.config.Rules))))
		}
	}
	return names
}

var (
	ruleSchema  = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "check"}}}
	checkSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "condition"}, {Name: "reason"}}} // their absence is explained
)

func (d *decoder) rule(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "deployment_auto_approve."+name) {
		return
	}
	if name == emptyPlan {
		d.errorf(block.LabelRanges[0], "Name used twice", "%s is the rule that each group has without declaring it. Choose another name.",
			emptyPlan)
	}
	d.config.Rules[name] = &Rule{Name: name, Checks: d.checks(block), Range: d.header(block)}
}

// checks decodes the check blocks of a rule.
func (d *decoder) checks(block *hcl.Block) []*Check {
	content := d.content(block, ruleSchema)
	if len(content.Blocks) == 0 {
		d.errorf(d.header(block), "Incomplete approval rule", "A rule without checks would approve every plan. Write check blocks, with a "+
			"condition and a reason each.")
	}
	checks := make([]*Check, 0, len(content.Blocks))
	for _, nested := range content.Blocks {
		body := d.content(nested, checkSchema)
		check := &Check{Range: d.header(nested)}
		var missing []string
		var ok bool
		if check.Condition, ok = d.expression(body.Attributes["condition"], nested); !ok && body.Attributes["condition"] == nil {
			missing = append(missing, "condition")
		}
		if check.Reason, ok = d.expression(body.Attributes["reason"], nested); !ok && body.Attributes["reason"] == nil {
			missing = append(missing, "reason")
		}
		if len(missing) > 0 {
			d.errorf(check.Range, "Incomplete approval rule",
				"The check has no %s. Each check has a condition, and a reason that is shown when it does not hold.", strings.Join(missing, " and no "))
		}
		checks = append(checks, check)
	}
	return checks
}

func (d *decoder) orchestrate(block *hcl.Block) {
	kind, name := block.Labels[0], block.Labels[1]
	if !d.declare(block, fmt.Sprintf("orchestrate.%s.%s", kind, name)) {
		return
	}
	orchestrate := &Orchestrate{Type: kind, Name: name, Range: d.header(block)}
	deprecated := func(detail string) {
		d.diags = append(d.diags, failure.WarningAt(orchestrate.Range, "Deprecated orchestration rule", "%s", detail))
	}
	switch kind {
	case "auto_approve":
		deprecated("The block was given up in favour of approval rules of groups. It is read all the same, for all deployments. Write " +
			"deployment_auto_approve with the same checks, and name it in the auto_approve_checks of a deployment_group.")
	case "replan":
		deprecated("The block was given up, and its checks decide nothing: changes that had to be deferred are always planned again, and each " +
			"such plan is judged by the approval rules. Remove the block. To approve only some of these plans, check context.plan.replans in a " +
			"deployment_auto_approve block.")
	default:
		d.errorf(block.LabelRanges[0], "Unknown orchestration rule", "The first label is auto_approve or replan.%s",
			nearest.DidYouMean(kind, []string{"auto_approve", "replan"}))
	}
	orchestrate.Checks = d.checks(block)
	d.config.Orchestrate = append(d.config.Orchestrate, orchestrate)
}

var tokenSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "audience", Required: true}}}

func (d *decoder) token(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "identity_token."+name) {
		return
	}
	token := &IdentityToken{Name: name, Range: d.header(block)}
	d.config.Tokens[name] = token
	const wanted = "a list of strings, at least one"
	d.constantValue(d.content(block, tokenSchema), block, "audience", cty.List(cty.String), wanted, func(v cty.Value, attr *hcl.Attribute) {
		for _, elem := range v.AsValueSlice() {
			if elem.IsNull() || elem.AsString() == "" {
				token.Audience = nil
				break
			}
			if audience := elem.AsString(); !slices.Contains(token.Audience, audience) {
				token.Audience = append(token.Audience, audience)
			}
		}
		if len(token.Audience) == 0 {
			d.errorf(attr.Expr.Range(), "Unsuitable argument value", "The argument %q must be %s, none of them empty.", attr.Name, wanted)
		}
	})
}

var storeSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "id"}, {Name: "name"}, {Name: "category", Required: true}}}

// varset is the type of stores of variable sets.
const varset = "varset"

func (d *decoder) store(block *hcl.Block) {
	key := StoreKey{block.Labels[0], block.Labels[1]}
	if !d.declare(block, key.String()) {
		return
	}
	if key.Type != varset {
		d.config.rejected[key.String()] = true
		d.errorf(block.LabelRanges[0], "Unknown store type", "Stores are of the type %[1]s here, which is served from files, the environment "+
			"or a command: write store \"%[1]s\" %[2]q, with a name and a category.",
			varset, key.Name)
		return
	}
	content := d.content(block, storeSchema)
	store := &Store{StoreKey: key, Range: d.header(block)}
	d.config.Stores[key] = store
	d.constantString(content, block, "id", func(v string, _ *hcl.Attribute) { store.ID = v })
	d.constantString(content, block, "name", func(v string, _ *hcl.Attribute) { store.SetName = v })
	d.constantString(content, block, "category", func(v string, attr *hcl.Attribute) {
		if v != "terraform" && v != "env" {
			d.errorf(attr.Expr.Range(), "Unknown store category", "The category is \"terraform\" or \"env\", the kind of variables of the set "+
				"that are read.%s",
				nearest.DidYouMean(v, []string{"terraform", "env"}))
			return
		}
		store.Category = v
	})
	switch id, name := content.Attributes["id"], content.Attributes["name"]; {
	case id == nil && name == nil:
		d.errorf(store.Range, "Variable set not identified", "Identify the variable set by id or by name.")
	case id != nil && name != nil:
		second := name
		if name.Range.Start.Byte < id.Range.Start.Byte {
			second = id
		}
		d.errorf(second.NameRange, "Variable set not identified", "Identify the variable set by id or by name, not by both.")
	}
}

var publishedSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "value", Required: true},
	{Name: "description"},
	{Name: "type"},
}}

func (d *decoder) published(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "publish_output."+name) {
		return
	}
	content := d.content(block, publishedSchema)
	published := &PublishedOutput{Name: name, Range: d.header(block)}
	value, ok := d.expression(content.Attributes["value"], block)
	published.Value, published.broken = value, !ok
	d.config.Published[name] = published
	d.constantString(content, block, "description", func(v string, _ *hcl.Attribute) { published.Description = v })
	if attr := content.Attributes["type"]; attr != nil {
		ty, diags := stackconfig.ParseType(attr.Expr)
		if diags.HasErrors() {
			published.broken = true
		} else {
			published.Type = &ty
		}
		d.diags = append(d.diags, diags...)
	}
}

var upstreamSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "type", Required: true}, {Name: "source", Required: true}}}

func (d *decoder) upstream(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "upstream_input."+name) {
		return
	}
	content := d.content(block, upstreamSchema)
	upstream := &UpstreamInput{Name: name, Range: d.header(block)}
	d.config.Upstreams[name] = upstream
	d.constantString(content, block, "type", func(v string, attr *hcl.Attribute) {
		if v != "stack" {
			d.errorf(attr.Expr.Range(), "Unusable upstream", "Values come from stacks: the type is \"stack\".")
		}
	})
	d.constantString(content, block, "source", func(v string, attr *hcl.Attribute) {
		source, err := ParseUpstreamSource(v)
		if err != nil {
			d.errorf(attr.Expr.Range(), "Unusable upstream", "The source is not the address of a stack: %s.", err)
			return
		}
		upstream.Source = source
	})
}

// ParseUpstreamSource parses the address of a stack that publishes outputs. Errors are for users.
func ParseUpstreamSource(written string) (UpstreamSource, error) {
	parts := strings.Split(written, "/")
	const example = "HOST/ORGANIZATION/PROJECT/STACK, like app.terraform.io/example/network/vpc"
	if len(parts) != 4 {
		return UpstreamSource{}, fmt.Errorf("it is written %s", example)
	}
	for i, what := range []string{"host", "organization", "project", "stack"} {
		if strings.TrimSpace(parts[i]) == "" || strings.TrimSpace(parts[i]) != parts[i] || strings.ContainsAny(parts[i], "\x00\n\r\t\\") {
			return UpstreamSource{}, fmt.Errorf("the name of the %s is empty or not usable in %s", what, example)
		}
	}
	if strings.ContainsAny(parts[0], " @?#%") {
		return UpstreamSource{}, fmt.Errorf("%q is not the name of a host", parts[0])
	}
	return UpstreamSource{Host: parts[0], Organization: parts[1], Project: parts[2], Stack: parts[3]}, nil
}

func (d *decoder) locals(block *hcl.Block) {
	attrs, diags := block.Body.JustAttributes()
	d.diags = append(d.diags, diags...)
	named := slices.Collect(maps.Values(attrs))
	slices.SortFunc(named, func(a, b *hcl.Attribute) int { return identity.ComparePlaces(&a.NameRange, &b.NameRange) })
	for _, attr := range named {
		if !d.checkName(attr.Name, attr.NameRange) || !d.claim("local."+attr.Name, attr.NameRange) {
			continue
		}
		value, _ := d.expression(attr, block)
		d.config.Locals[attr.Name] = &Local{Name: attr.Name, Value: value, Range: attr.NameRange}
	}
}

// rejects reports whether a reference may lead to a declaration that was left out for a mistake
// that was reported.
func (c *Config) rejects(addr string) bool { return c.Incomplete || c.rejected[addr] }
