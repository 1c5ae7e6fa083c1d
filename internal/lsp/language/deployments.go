// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// The kinds of names of deployment files.
const (
	Deployment      Kind = "deployment"
	Group           Kind = "deployment group"
	Rule            Kind = "approval rule"
	Token           Kind = "identity token"
	Store           Kind = "store" // by TYPE.NAME
	Upstream        Kind = "upstream input"
	Published       Kind = "published output"
	DeploymentLocal Kind = "local value of deployments"

	upstreamOutput Kind = "output of another stack" // by UPSTREAM.NAME
)

// deployKinds are the kinds of blocks whose only label is a name.
var deployKinds = map[string]Kind{
	"deployment": Deployment, "deployment_group": Group, "deployment_auto_approve": Rule,
	"identity_token": Token, "upstream_input": Upstream, "publish_output": Published,
}

// deployRoots are the kinds of the names in the second steps of references, by the first.
var deployRoots = map[string]Kind{
	"deployment": Deployment, "deployment_group": Group, "deployment_auto_approve": Rule,
	"identity_token": Token, "upstream_input": Upstream, "local": DeploymentLocal,
}

// declareDeployments adds the declarations of a deployment file.
func (d *directory) declareDeployments(f *file) {
	for _, block := range f.tree.Root.Blocks {
		kind, ok := deployKinds[block.Type]
		switch {
		case block.Type == "locals":
			d.declareArguments(f, block, DeploymentLocal)
		case block.Type == "store" && len(block.Labels) == 2:
			name := block.Labels[0].Text + "." + block.Labels[1].Text
			d.add(declaration{Symbol: Symbol{d.path, Store, name}, file: f, name: block.Labels[1].Range, block: block})
		case ok && len(block.Labels) == 1:
			d.add(declaration{Symbol: Symbol{d.path, kind, block.Labels[0].Text}, file: f, name: block.Labels[0].Range, block: block})
		}
	}
}

// deployments adds the names of a deployment file.
func (f *finder) deployments() {
	dir := f.file.dir.path
	for _, block := range f.file.tree.Root.Blocks {
		kind, ok := deployKinds[block.Type]
		switch {
		case block.Type == "store" && len(block.Labels) == 2:
			f.add(Symbol{dir, Store, block.Labels[0].Text + "." + block.Labels[1].Text}, block.Labels[1].Range, true)
		case ok && len(block.Labels) == 1:
			f.add(Symbol{dir, kind, block.Labels[0].Text}, block.Labels[0].Range, true)
		}
		f.deploymentBody(block.Body, block.Type == "locals")
		if block.Type == "deployment" {
			f.keys(block)
		}
	}
}

func (f *finder) deploymentBody(body *syntax.Body, locals bool) {
	if body == nil {
		return
	}
	for _, argument := range body.Arguments {
		if locals {
			f.add(Symbol{f.file.dir.path, DeploymentLocal, argument.Name}, argument.NameRange, true)
		}
		for _, ref := range argument.Value.Refs {
			for i, symbol := range deploymentSymbols(f.file.dir.path, ref.Steps) {
				if symbol != (Symbol{}) && ref.Steps[i].Name != "" {
					f.add(symbol, ref.Steps[i].Range, false)
				}
			}
		}
	}
	for _, block := range body.Blocks {
		f.deploymentBody(block.Body, false)
	}
}

// deploymentSymbols returns the symbol of each step of a reference in a deployment file; the zero
// value for steps that name nothing.
func deploymentSymbols(dir string, steps []syntax.Step) []Symbol {
	symbols := make([]Symbol, len(steps))
	isName := func(i int) bool { return i < len(steps) && steps[i].Kind == syntax.NameStep }
	if !isName(1) {
		return symbols
	}
	name := steps[1].Name
	switch root := steps[0].Name; {
	case root == "store" && isName(2):
		symbols[2] = Symbol{dir, Store, name + "." + steps[2].Name}
	case deployRoots[root] != "":
		symbols[1] = Symbol{dir, deployRoots[root], name}
		switch {
		case !isName(2):
		case root == "deployment":
			symbols[2] = Symbol{dir, Output, steps[2].Name}
		case root == "upstream_input":
			symbols[2] = Symbol{dir, upstreamOutput, name + "." + steps[2].Name}
		}
	}
	return symbols
}

// deploymentHeader writes a declaration of a deployment file in short.
func deploymentHeader(decl *declaration) string {
	var b strings.Builder
	b.WriteString(decl.block.Type)
	for _, label := range decl.block.Labels {
		fmt.Fprintf(&b, " %q", label.Text)
	}
	b.WriteString(" {\n")
	for _, argument := range []string{
		"deployment_group", "destroy", "auto_approve_checks", "eager_plan", "failure_tolerance", "audience", "id", "name",
		"category", "source", "value",
	} {
		if text := decl.text(argument); text != "" && !strings.Contains(text, "\n") {
			fmt.Fprintf(&b, "  %s = %s\n", argument, text)
		}
	}
	b.WriteString("}")
	return b.String()
}

// completeDeployments completes in a deployment file.
func (c *completer) completeDeployments() {
	body, types := c.file.tree.Root, c.types()
	if len(c.blocks) > 0 {
		body = c.blocks[len(c.blocks)-1].Body
	}
	if block, label := labelAt(body, c.offset); block != nil {
		c.deploymentLabel(block, label)
		return
	}
	if argument := body.ArgumentAt(c.offset); argument != nil {
		c.deploymentValue(argument, types)
		return
	}
	switch {
	case c.file.tree.JSON || !c.startsItem():
	case len(types) == 0:
		for _, block := range schema.Deploy {
			if block.Type != "orchestrate" { // it is deprecated
				c.block(block)
			}
		}
	default:
		if described := schema.At(schema.Deploy, types...); described != nil {
			c.schemaArguments(described, body, func(argument schema.Argument) bool {
				return types[0] != "store" || argument.Name != "id" && argument.Name != "name" ||
					body.Argument("id") == nil && body.Argument("name") == nil
			})
		}
	}
}

// deploymentLabel completes labels that are not free.
func (c *completer) deploymentLabel(block *syntax.Block, label int) {
	if block.Type == "store" && label == 0 {
		c.add(Completion{Label: "varset", Kind: ValueCompletion, Detail: "type of stores", Replace: block.Labels[0].Range})
	}
}

// deploymentValue completes in the value of an argument of a deployment file.
func (c *completer) deploymentValue(argument *syntax.Argument, types []string) {
	described := schema.At(schema.Deploy, types...).Argument(argument.Name)
	if described == nil {
		described = &schema.Argument{Name: argument.Name, Scope: schema.Values}
	}
	expr := argument.Value
	if text := expr.StringAt(c.offset); text != nil && len(described.Words) > 0 {
		for _, word := range described.Words {
			c.add(Completion{Label: strings.Trim(word, `"`), Kind: ValueCompletion, Replace: text.Range})
		}
		return
	}
	// In JSON only templates are expressions; all else is text.
	if expr.InText(c.offset) || c.file.tree.JSON && !expr.InTemplate(c.offset) {
		return
	}
	if ref, step := expr.RefAt(c.offset); ref != nil && step > 0 {
		c.deploymentMembers(ref.Steps[:step], types)
		return
	}
	if len(types) == 1 && types[0] == "deployment" && argument.Name == "inputs" && c.key(argument, *described) {
		return
	}
	switch {
	case described.Scope == schema.Bool:
		c.words("true", "false")
	case described.Scope == schema.Types:
		c.typeWords(expr)
	case len(described.Words) > 0:
		c.words(described.Words...)
	default:
		c.deploymentRoots(deployconfig.Roots(argument.Name, types...), described.Scope)
	}
}

// deploymentRoots completes the first word of a reference, and functions.
func (c *completer) deploymentRoots(roots []string, scope schema.Scope) {
	for _, root := range schema.DeployRoots {
		if slices.Contains(roots, root.Name) && (root.Name == "context" || c.declaresAny(root.Name)) {
			c.add(Completion{Label: root.Name, Kind: KeywordCompletion, Doc: root.Doc, Text: root.Name + ".", Again: true})
		}
	}
	if scope&schema.Path == 0 {
		c.roots(schema.Own) // functions
		c.found = slices.DeleteFunc(c.found, func(found Completion) bool { return found.Kind == KeywordCompletion && found.Label == "var" })
	}
}

func (c *completer) declaresAny(root string) bool {
	kind := deployRoots[root]
	if root == "store" {
		kind = Store
	}
	return len(c.file.dir.all(kind)) > 0
}

// deploymentMembers completes the name after some steps of a reference in a deployment file.
func (c *completer) deploymentMembers(steps []syntax.Step, types []string) {
	root := steps[0].Name
	kind := deployRoots[root]
	// A store has its type before its name, so that references to it are one step longer. Outputs of
	// a deployment are there after its apply, which is why only publish_output can refer to them.
	switch {
	case root == "context":
		c.attributesOf(stepped(deployconfig.ContextType(), steps[1:]))
	case len(steps) == 1 && root == "store":
		c.add(Completion{Label: "varset", Kind: KeywordCompletion, Text: "varset.", Again: true})
	case len(steps) == 2 && root == "store":
		for _, decl := range c.file.dir.all(Store) {
			if name, ok := strings.CutPrefix(decl.Name, steps[1].Name+"."); ok {
				c.add(Completion{Label: name, Kind: ReferenceCompletion, Detail: string(Store), Text: name + ".", Again: true})
			}
		}
	case len(steps) == 3 && root == "store":
		c.add(Completion{Label: schema.Stable.Name, Kind: KeywordCompletion, Doc: schema.Stable.Doc, Text: schema.Stable.Name + "."})
	case len(steps) == 1 && kind != "":
		for _, decl := range c.file.dir.all(kind) {
			c.add(Completion{Label: decl.Name, Kind: ReferenceCompletion, Detail: string(kind)})
		}
	case len(steps) == 2 && kind == Token:
		c.add(Completion{Label: schema.Token.Name, Kind: KeywordCompletion, Detail: "string", Doc: schema.Token.Doc})
	case len(steps) == 2 && kind == Deployment && types[0] == "publish_output":
		for _, decl := range c.file.dir.all(Output) {
			c.add(Completion{Label: decl.Name, Kind: ReferenceCompletion, Detail: shortType(c.stack.typeOf(decl.Symbol)), Doc: decl.description()})
		}
	}
}
