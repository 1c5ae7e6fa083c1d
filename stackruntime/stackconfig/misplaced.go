// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Blocks and arguments that belong elsewhere, though those who know terraform modules or the files
// of deployments look for them here. The keys are their names, the values sentences that follow
// those of the HCL parser.
var (
	misplacedInStack = map[string]string{
		"module": `A stack calls modules by components: component "NAME" { source = "./DIRECTORY", inputs = { … } }, ` +
			`each argument on a line of its own.`,
		"resource":    inModule("Resources belong"),
		"data":        inModule("Data sources belong"),
		"ephemeral":   inModule("Ephemeral resources belong"),
		"action":      inModule("Actions belong"),
		"check":       inModule("Checks belong") + " A variable of the stack is checked by a validation block in it.",
		"import":      inModule("Import blocks belong") + " A state of plain terraform as a whole can be made that of a component.",
		"lifecycle":   "It belongs in a resource, in the .tf files of a module.",
		"provisioner": "It belongs in a resource, in the .tf files of a module.",
		"terraform": `A stack requires its providers by a required_providers block at the top level. ` +
			`Where its state is kept, and which engine runs it, is configured outside of it.`,
		"backend":     keptState,
		"cloud":       keptState,
		"state_store": keptState,

		"deployment":              ofDeployments,
		"deployment_group":        ofDeployments,
		"deployment_auto_approve": ofDeployments,
		"identity_token":          ofDeployments,
		"orchestrate":             ofDeployments,
		"publish_output":          ofDeployments,
		"store":                   ofDeployments,
		"upstream_input":          ofDeployments,
	}

	misplacedInComponent = map[string]string{
		"count": `Instances have keys: for_each = toset(["a", "b"]), or for one or none for_each = var.enabled ? toset(["this"]) : toset([]).`,
		"provider": `Providers are passed to a module in the providers argument: ` +
			`providers = { aws = provider.aws.NAME }.`,
		"lifecycle":  "It belongs in a resource, in the .tf files of the module.",
		"backend":    keptState,
		"depends_on": "It is an argument: depends_on = [component.NAME].",
		"":           "Values for the variables of the module belong in the inputs argument: inputs = { NAME = VALUE }.",
	}

	misplacedInCall = map[string]string{
		"count":     misplacedInComponent["count"],
		"providers": "An embedded stack configures its providers itself. Pass the values for that in the inputs argument.",
		"provider":  "An embedded stack configures its providers itself. Pass the values for that in the inputs argument.",
		"":          "Values for the variables of the embedded stack belong in the inputs argument: inputs = { NAME = VALUE }.",
	}

	misplacedInProvider = map[string]string{
		"alias":   "The second label of the block takes its place: components name this configuration by it.",
		"version": "The acceptable versions of a provider belong in required_providers.",
		"count":   `Instances have keys: for_each = toset(["a", "b"]).`,
		"":        "Arguments of the provider belong in its config block: config { NAME = VALUE }.",
	}
)

const (
	keptState = "The state of all components is kept in one place, which is configured outside of the stack."

	ofDeployments = "It belongs in a file named *.tfdeploy.hcl, in the directory of the root stack."
)

// misplacedFaults are those of the sentences above for which there is a remedy outside of the
// configuration.
var misplacedFaults = map[string]fault.Code{
	keptState:                     fault.StorageMisplaced,
	misplacedInStack["import"]:    fault.ImportMisplaced,
	misplacedInStack["terraform"]: fault.StorageMisplaced,
}

func inModule(subject string) string {
	return subject + " in the .tf files of a module, which a component block calls."
}

// ExplainMisplaced adds to the parser's diagnostics about unexpected names where these belong. An
// empty name in elsewhere stands for any that the parser takes for no misspelling.
func ExplainMisplaced(body hcl.Body, diags hcl.Diagnostics, elsewhere map[string]string) {
	if len(diags) == 0 || elsewhere == nil {
		return
	}
	names := namesIn(body)
	for _, diag := range diags {
		if diag.Summary == "Missing configuration name for provider" {
			diag.Detail += ` Write provider "TYPE" "NAME", and pass it to components as provider.TYPE.NAME.`
		}
		if diag.Subject == nil {
			continue
		}
		name, ok := names[*diag.Subject]
		if !ok {
			continue
		}
		const guess = " Did you mean "
		where := elsewhere[name]
		if where == "" && !strings.Contains(diag.Detail, guess) {
			where = elsewhere[""]
		}
		if where != "" {
			detail, _, _ := strings.Cut(diag.Detail, guess)
			diag.Detail = detail + " " + where
			if code, ok := misplacedFaults[where]; ok {
				diag.Extra = code
			}
		}
	}
}

// namesIn returns the names of blocks and arguments by where they are written.
func namesIn(body hcl.Body) map[hcl.Range]string {
	names := map[hcl.Range]string{}
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		attrs, _ := body.JustAttributes() //nolint:errcheck // JSON does not distinguish blocks from arguments, and the mistakes are known
		for _, attr := range attrs {
			names[attr.NameRange] = attr.Name
		}
		return names
	}
	for _, block := range native.Blocks {
		names[block.TypeRange] = block.Type
	}
	for _, attr := range native.Attributes {
		names[attr.NameRange] = attr.Name
	}
	return names
}
