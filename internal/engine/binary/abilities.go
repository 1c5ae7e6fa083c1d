// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// ability is something of the modules language that not every engine has.
type ability struct {
	what  string            // for messages
	since map[string]string // version it came with, by engine; missing where it is not there
}

// abilities are the features that came after the oldest version that cairn works with, or with one
// of the engines only. They are found by the errors of the other engines: the summary, and the name
// in the detail.
var abilities = map[[2]string]ability{
	{"Unsupported block type", "action"}: {`a block "action"`, map[string]string{toolchain.Terraform: "1.14.0"}},
	{"Unsupported argument", "enabled"}: {
		`the argument "enabled" of "lifecycle" blocks`,
		map[string]string{toolchain.Tofu: "1.11.0"},
	},
	{"Unsupported argument", "identity"}: {
		`the argument "identity" of "import" blocks`,
		map[string]string{toolchain.Terraform: "1.12.0", toolchain.Tofu: "1.12.0"},
	},
	{"Call to unknown function", "base64gunzip"}: {`the function "base64gunzip"`, map[string]string{toolchain.Tofu: "1.11.0"}},
	{"Call to unknown function", "cidrcontains"}: {`the function "cidrcontains"`, map[string]string{toolchain.Tofu: "1.11.0"}},
	{"Call to unknown function", "urldecode"}:    {`the function "urldecode"`, map[string]string{toolchain.Tofu: "1.11.0"}},
}

var quotedName = regexp.MustCompile(`"([^"]+)"`)

// has reports whether an engine has the ability.
func (a ability) has(info engine.Info) bool {
	since, found := a.since[info.Name], info.Version
	if since == "" {
		return false
	}
	v, err := version.NewVersion(found)
	return err == nil && !v.Core().LessThan(version.Must(version.NewVersion(since)))
}

// explainLacks adds to errors about unknown features of a module the engines that have them.
func explainLacks(diags hcl.Diagnostics, info engine.Info) {
	for _, diag := range diags {
		match := quotedName.FindStringSubmatch(diag.Detail)
		if match == nil {
			continue
		}
		lacking, ok := abilities[[2]string{diag.Summary, match[1]}]
		if !ok || lacking.has(info) {
			continue
		}
		var have, install []string
		for _, program := range []string{toolchain.Terraform, toolchain.Tofu} {
			if since := lacking.since[program]; since != "" {
				have = append(have, fmt.Sprintf("%s from version %s", program, since))
				install = append(install, program+" >= "+since)
			}
		}
		diag.Detail += fmt.Sprintf("\n\nIf %s is meant: %s %s does not have that. It is there in %s.",
			lacking.what, info.Name, info.Version, strings.Join(have, " and in "))
		diag.Extra = fault.Named{Code: toolchain.CodeNotInstalled, Names: install, Inner: diag.Extra}
	}
}
