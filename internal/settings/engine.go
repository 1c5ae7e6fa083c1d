// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
)

// VersionFile is the file that version managers and the hosted product read to choose a version of
// terraform.
const VersionFile = ".terraform-version"

// Engine holds the settings of the engine block.
type Engine struct {
	Binary      string // path or name
	Mirror      string // base URL
	Requirement *toolchain.Requirement
}

var engineSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "binary"}, {Name: "version"}, {Name: "mirror"}}}

func decodeEngine(body hcl.Body) (Engine, hcl.Diagnostics) {
	var result Engine
	content, diags := body.Content(engineSchema)
	if len(content.Attributes) == 0 && !diags.HasErrors() {
		return result, diags.Append(failure.At(body.MissingItemRange(), "Empty engine block",
			"Give at least one of the arguments binary, version and mirror, or leave the whole block out."))
	}
	var moreDiags hcl.Diagnostics
	result.Binary, moreDiags = stringSetting(content.Attributes["binary"])
	diags = diags.Extend(moreDiags)
	result.Mirror, moreDiags = stringSetting(content.Attributes["mirror"])
	diags = diags.Extend(moreDiags)
	attr := content.Attributes["version"]
	text, moreDiags := stringSetting(attr)
	diags = diags.Extend(moreDiags)
	if text == "" {
		return result, diags
	}
	constraint, err := toolchain.ParseConstraint(text)
	if err != nil {
		return result, diags.Append(failure.At(attr.Expr.Range(), "Invalid version constraint", "%s.", failure.Capitalize(err.Error())))
	}
	at := attr.Expr.Range()
	result.Requirement = &toolchain.Requirement{
		Program:    Program(result.Binary),
		Constraint: constraint,
		Place:      fmt.Sprintf("%s:%d", File, at.Start.Line),
		Range:      &at,
	}
	return result, diags
}

// Program returns the setting of a binary if it names a program, not a file.
func Program(setting string) string {
	if setting == toolchain.Tofu || setting == toolchain.Terraform {
		return setting
	}
	return ""
}

// ReadVersionFile returns the requirement of the version file in the directory of a stack, nil if
// there is none.
//
// It has one line: a version, or a constraint. Lines that are empty or begin with # don't count. A
// mistake in it is part of the requirement: the file may not matter.
func ReadVersionFile(dir string) *toolchain.Requirement {
	content, err := os.ReadFile(filepath.Join(dir, VersionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	required := &toolchain.Requirement{Program: toolchain.Terraform, Place: VersionFile}
	if err != nil {
		required.Invalid = fmt.Sprintf("the file %s, which says which version of terraform is required, cannot be read: %s", VersionFile,
			failure.Reason(err))
		return required
	}
	number, found := 0, false
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if found {
			required.Invalid = fmt.Sprintf("%s, line %d: there is a second version; "+
				"write one version, or one constraint such as \">= 1.11, < 2\"", VersionFile, number)
			return required
		}
		found = true
		if required.Constraint, err = toolchain.ParseConstraint(line); err != nil {
			required.Invalid = fmt.Sprintf("%s, line %d: %s", VersionFile, number, err)
			return required
		}
	}
	if !found {
		required.Invalid = VersionFile + " is empty; write a version such as 1.11.4 into it, or remove it"
	}
	return required
}
