// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

// commandHints name to those who know terraform the replacements for its commands that cairn does
// not have. The keys are paths of commands.
var commandHints = map[string]string{
	"cairn cloud":        "Each environment is a deployment with a state of its own: \"cairn plan -deployment=NAME\".",
	"cairn env":          `Each environment is a deployment with a state of its own: "cairn plan -deployment=NAME", or CAIRN_DEPLOYMENT.`,
	"cairn force-unlock": `A lock that was left behind is removed by "cairn state unlock ID".`,
	"cairn get":          `Modules are fetched by "cairn init".`,
	"cairn import": `Resources are imported by import blocks in the modules; ` +
		`"cairn state import" takes over a whole state of plain terraform.`,
	"cairn login":     "Tokens are taken from the CLI configuration of terraform, and from the environment, as TF_TOKEN_app_example_com.",
	"cairn modules":   `"cairn init" lists the sources that are not local.`,
	"cairn refresh":   `The state is brought up to date by "cairn apply -refresh-only".`,
	"cairn taint":     `A resource is replaced by "cairn apply -replace=component.x.ADDRESS".`,
	"cairn stacks":    `Its commands are those of cairn itself, such as "cairn plan".`,
	"cairn test":      "Modules are tested with terraform or tofu in their own directories.",
	"cairn workspace": `Each environment is a deployment with a state of its own: "cairn plan -deployment=NAME", or CAIRN_DEPLOYMENT.`,
}

// optionHints do the same for options.
var optionHints = map[string]string{
	"allow-deferral":      "Changes that cannot be planned yet are always deferred, and planned in the next round.",
	"backend":             whereStateIs,
	"backend-config":      whereStateIs,
	"backup":              keptStates,
	"cloud":               whereStateIs,
	"compact-warnings":    "Warnings are shown once each.",
	"enable-plugin-cache": "Checksums are always those of packages where they are published.",
	"force":               "To be asked nothing, give -auto-approve.",
	"force-copy":          whereStateIs,
	"from-module":         "Copy the files of the stack.",
	"generate-config-out": "Only \"cairn plan\" and \"cairn query\" take it: the generated blocks are moved into their modules before " +
		"anything is applied.",
	"get": `"cairn init" fetches missing sources and providers, and nothing else.`,
	"gone": "Only \"cairn run destroy\" takes it: " +
		"stacks that existed at a commit and do not any more can be destroyed, and nothing else.",
	"lock":           `The state is always locked while it is changed. A lock that was left behind is removed by "cairn state unlock".`,
	"migrate-state":  whereStateIs + ` A state is taken elsewhere by "cairn state pull" and "cairn state push".`,
	"module-depth":   "Plans are always shown with all modules.",
	"no-tests":       "Tests of modules are not looked at.",
	"plugin-dir":     "Directories and mirrors of providers are set in the CLI configuration of the engine, ~/.terraformrc or ~/.tofurc.",
	"reconfigure":    whereStateIs,
	"state-out":      keptStates,
	"test-directory": "Tests of modules are not looked at.",
}

const (
	whereStateIs = "Where the state is kept is not part of a stack: give -state=PATH, set CAIRN_STATE, or write it into cairn.hcl."
	keptStates   = `Former states are kept: "cairn state history" lists them, and "cairn state rollback" goes back to one.`
)
