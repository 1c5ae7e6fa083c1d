// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import "maps"

// Blocks and arguments that belong elsewhere, though users may look for them here. The keys are
// names of blocks and arguments, the values sentences that follow those of the HCL parser.
var (
	misplacedInFile = map[string]string{
		"component":          ofComponents,
		"provider":           ofComponents,
		"required_providers": ofComponents,
		"stack":              ofComponents,
		"removed":            ofComponents,
		"moved":              ofComponents,
		"variable":           ofComponents + ` Values that deployments share belong in a locals block.`,
		"output":             ofComponents + ` Values for other stacks belong in publish_output "NAME" { value = deployment.NAME.OUTPUT }.`,
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

	misplacedInGroup = withMeta(map[string]string{"deployments": inGroup, "deployment": inGroup})

	misplacedInRule = withMeta(map[string]string{"deployment_group": ofGroups, "deployments": ofGroups, "deployment": ofGroups})

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

	// misplacedIn are those of blocks for which there is more to say than in others, by type.
	misplacedIn = map[string]map[string]string{
		"deployment":              misplacedInDeployment,
		"deployment_group":        misplacedInGroup,
		"deployment_auto_approve": misplacedInRule,
		"orchestrate":             misplacedInRule,
	}
)

// withMeta adds the arguments that are misplaced in all blocks.
func withMeta(special map[string]string) map[string]string {
	all := maps.Clone(misplacedInBlock)
	maps.Copy(all, special)
	return all
}

const (
	ofComponents = "It belongs in a file named *.tfcomponent.hcl."
	keptState    = "Where states are kept is configured outside of these files."
	inGroup      = "A deployment names its group itself: deployment_group = deployment_group.NAME belongs in each deployment block."
	ofGroups     = "A group names its rules: auto_approve_checks = [deployment_auto_approve.NAME] belongs in the " +
		"deployment_group block."
	noMeta           = "Blocks of deployment files have no meta-arguments."
	inInputsArgument = "Values for the variables of the stack belong in the inputs argument: inputs = { NAME = VALUE }."
)
