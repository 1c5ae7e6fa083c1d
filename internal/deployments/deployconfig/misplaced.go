// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

// What belongs elsewhere, though it may be looked for here. The keys are names of blocks and arguments, the values sentences that follow those
// of the HCL parser.
var (
	misplacedInFile = map[string]string{
		"component":          ofComponents,
		"provider":           ofComponents,
		"required_providers": ofComponents,
		"stack":              ofComponents,
		"removed":            ofComponents,
		"moved":              ofComponents,
		"variable":           ofComponents + ` Values that deployments share belong in a locals block.`,
		"output":             ofComponents + ` What other stacks may read belongs in publish_output "NAME" { value = deployment.NAME.OUTPUT }.`,
		"module":             ofComponents,
		"resource":           "It belongs in the .tf files of a module, which a component calls.",
		"data":               "It belongs in the .tf files of a module, which a component calls.",
		"language":           ofComponents,
		"check":              `It belongs in a rule: deployment_auto_approve "NAME" { check { … } }.`,
		"terraform":          keptState,
		"backend":            keptState,
		"cloud":              keptState,
	}

	misplacedInBlock = map[string]string{
		"for_each":   noMeta,
		"count":      noMeta,
		"depends_on": noMeta,
		"provider":   noMeta,
		"lifecycle":  noMeta,
	}

	misplacedInDeployment = map[string]string{
		"for_each":            noMeta + " Each deployment has a block of its own.",
		"count":               noMeta + " Each deployment has a block of its own.",
		"depends_on":          noMeta + " Groups are taken in the order in which they are written.",
		"provider":            noMeta,
		"lifecycle":           noMeta,
		"variables":           inInputsArgument,
		"auto_approve_checks": "It belongs in a deployment_group, which the deployment names in its argument deployment_group.",
		"":                    inInputsArgument,
	}
)

const (
	ofComponents     = "It belongs in a file named *.tfcomponent.hcl."
	keptState        = "Where states are kept is configured outside of these files."
	noMeta           = "Blocks of deployment files have no meta-arguments."
	inInputsArgument = "Values for the variables of the stack belong in the inputs argument: inputs = { NAME = VALUE }."
)
