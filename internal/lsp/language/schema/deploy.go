// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import (
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
)

// Of returns the blocks of a file by its name: a component file, a deployment file or a workspace
// file.
func Of(path string) []Block {
	switch {
	case deployconfig.IsDeployFile(path):
		return Deploy
	case filepath.Base(path) == cairnfile.FileName:
		return Workspace
	}
	return Stack
}

var check = Block{
	Type: "check",
	Doc:  "A condition that a plan has to meet. There can be any number.",
	Arguments: []Argument{
		{
			Name:     "condition",
			Required: true,
			Type:     "bool",
			Scope:    Values,
			Doc:      "True for plans that are approved. It refers to context, and to deployments and local values.",
		},
		{Name: "reason", Required: true, Type: "string", Scope: Values, Doc: "The text that is shown if the condition does not hold."},
	},
}

// Deploy are the blocks at the top level of deployment files.
var Deploy = []Block{
	{
		Type: "deployment", Labels: []string{"name"},
		Doc: "Deploys the stack with inputs, a state and a history of its own.",
		Arguments: []Argument{
			{Name: "inputs", Type: "object", Scope: Values, Map: true, Doc: "Values for the variables of the stack, needed where one has " +
				"no default. Null selects the default."},
			{
				Name:  "deployment_group",
				Type:  "reference",
				Scope: Path,
				Doc:   "The group of the deployment, as deployment_group.NAME. Without it, the deployment has a group of its own.",
			},
			{Name: "destroy", Type: "bool", Scope: Bool, Doc: "Whether the objects of the deployment are destroyed. Then the block can be removed."},
			{Name: "import", Type: "bool", Scope: Bool, Doc: "Whether a state is being moved into the deployment."},
		},
	},
	{
		Type: "deployment_group", Labels: []string{"name"},
		Doc: "Deployments that are approved by the same rules.",
		Arguments: []Argument{
			{
				Name:     "auto_approve_checks",
				Required: true,
				Type:     "list of references",
				Scope:    Path,
				Doc:      "The rules, as deployment_auto_approve.NAME. A plan is approved if all of their checks hold.",
			},
			{Name: "eager_plan", Type: "bool", Scope: Bool, Doc: "Whether all members are planned before the first is applied. Default: true."},
			{Name: "failure_tolerance", Type: "number", Doc: "How many members may fail before no further one is begun. Default: 0."},
		},
	},
	{
		Type: "deployment_auto_approve", Labels: []string{"name"},
		Doc:    "A rule by which plans of the groups that name it are approved.",
		Blocks: []Block{check},
	},
	{
		Type: "identity_token", Labels: []string{"name"},
		Doc: "A token that says who operates on which deployment, as identity_token.NAME.jwt. " +
			"It is made anew for each operation, and ephemeral.",
		Arguments: []Argument{{Name: "audience", Required: true, Type: "list of strings", Scope: Values, Doc: "For whom the token is."}},
	},
	{
		Type: "store", Labels: []string{"type", "name"},
		Doc: "A set of variables that are kept elsewhere, as store.varset.NAME.KEY, which is ephemeral, or store.varset.NAME.stable.KEY, " +
			"which is kept.",
		Arguments: []Argument{
			{Name: "category", Required: true, Type: "string", Words: []string{`"terraform"`, `"env"`}, Doc: "Which variables of the set."},
			{Name: "id", Type: "string", Doc: "The set, if it has no name here."},
			{Name: "name", Type: "string", Doc: "The set, by its name."},
		},
	},
	{
		Type: "publish_output", Labels: []string{"name"},
		Doc: "A value that other stacks can read.",
		Arguments: []Argument{
			{Name: "value", Required: true, Type: "any", Scope: Values, Doc: "The value, such as deployment.NAME.OUTPUT."},
			description,
			{Name: "type", Type: "type", Scope: Types, Doc: "The type of the value."},
		},
	},
	{
		Type: "upstream_input", Labels: []string{"name"},
		Doc: "A stack whose published outputs are read, as upstream_input.NAME.OUTPUT.",
		Arguments: []Argument{
			{Name: "type", Required: true, Type: "string", Words: []string{`"stack"`}, Doc: "Stacks are all that there is."},
			{Name: "source", Required: true, Type: "string", Doc: "The address of the stack: HOST/ORGANIZATION/PROJECT/STACK."},
		},
	},
	{
		Type: "locals",
		Doc:  "Names for values that are used in several places, as local.NAME. Each argument is one of them.",
	},
	{
		Type: "orchestrate", Labels: []string{"type", "name"},
		Doc:    "A rule for all deployments, which deployment_auto_approve replaced.",
		Blocks: []Block{check},
	},
}

// The words behind the name of a token, and behind that of a store.
var (
	Token  = Keyword{Name: "jwt", Doc: "The token. It is made anew for each operation, and ephemeral."}
	Stable = Keyword{Name: "stable", Doc: "Variables whose values are kept with the state of the deployment."}
)

// DeployRoots are the words with which references in deployment files begin.
var DeployRoots = []Keyword{
	{"local", "The local values of the deployment files.", Values},
	{"identity_token", "The tokens of the deployment files.", Values},
	{"store", "The stores of the deployment files.", Values},
	{"upstream_input", "The stacks whose published outputs are read.", Values},
	{"deployment", "The deployments of the stack: their outputs, where outputs are published.", Values},
	{"context", "The operation and the plan that a rule is about.", Values},
	{"deployment_group", "The groups of deployments.", Path},
	{"deployment_auto_approve", "The rules by which plans are approved.", Path},
}
