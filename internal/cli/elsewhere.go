// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

// elsewhere tells those who know terraform what takes the place of its commands that cairn does not have. The keys are
// paths of commands.
var elsewhere = map[string]string{
	"cairn force-unlock": `A lock that was left behind is removed by "cairn state unlock ID".`,
	"cairn get":          `Modules are fetched by "cairn init".`,
	"cairn import":       `Resources are imported by import blocks in the modules; "cairn state import" takes over a whole state of plain terraform.`,
	"cairn login":        "Tokens are taken from the CLI configuration of terraform, and from the environment, as TF_TOKEN_app_example_com.",
	"cairn modules":      `"cairn init" lists the sources that are not local.`,
	"cairn providers":    `"cairn version" lists the providers of the stack.`,
	"cairn refresh":      `The state is brought up to date by "cairn apply -refresh-only".`,
	"cairn taint":        `A resource is replaced by "cairn apply -replace=component.x.ADDRESS".`,
	"cairn test":         "Modules are tested with terraform or tofu in their own directories.",
	"cairn workspace":    `Each environment is a deployment with a state of its own: "cairn plan -deployment=NAME", or CAIRN_DEPLOYMENT.`,
}
