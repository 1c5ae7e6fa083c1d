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

// deployments adds the names that a deployment file refers to.
func (f *finder) deployments() {
	for _, block := range f.file.tree.Root.Blocks {
		f.deploymentBody(block.Body)
		if block.Type == "deployment" {
			f.keys(block)
		}
	}
}

func (f *finder) deploymentBody(body *syntax.Body) {
	if body == nil {
		return
	}
	for _, argument := range body.Arguments {
		for _, ref := range argument.Value.Refs {
			for i, symbol := range deploymentSymbols(f.file.dir.path, ref.Steps) {
				if symbol != (Symbol{}) && ref.Steps[i].Name != "" {
					f.add(symbol, ref.Steps[i].Range, false)
				}
			}
		}
	}
	for _, block := range body.Blocks {
		f.deploymentBody(block.Body)
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

// blockHeader writes a declaration of a deployment file or a workspace file in short.
func blockHeader(decl *declaration) string {
	var b strings.Builder
	b.WriteString(decl.block.Type)
	for _, label := range decl.block.Labels {
		fmt.Fprintf(&b, " %q", label.Text)
	}
	b.WriteString(" {\n")
	for _, argument := range []string{
		"deployment_group", "destroy", "auto_approve_checks", "eager_plan", "failure_tolerance", "audience", "id", "name",
		"category", "source", "value",
		"path", "kind", "deployment", "workspace", "members", "command",
	} {
		if text := decl.text(argument); text != "" && !strings.Contains(text, "\n") {
			fmt.Fprintf(&b, "  %s = %s\n", argument, text)
		}
	}
	b.WriteString("}")
	return b.String()
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
