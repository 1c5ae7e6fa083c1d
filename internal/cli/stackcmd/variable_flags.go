// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/variables"
)

// variableFlags are the options that give values to root variables.
type variableFlags struct {
	arguments []variables.Argument
	input     bool
}

func (v *variableFlags) register(f *session.Flags) {
	f.Func("var", "give the variable NAME a value: `NAME=VALUE`; may be repeated", func(text string) error {
		v.arguments = append(v.arguments, variables.Argument{Text: text, Option: "-var"})
		return nil
	})
	f.Func("var-file", "take values of variables from this `FILE`, in HCL, or in JSON if its name ends in .json; may be repeated",
		func(path string) error {
			v.arguments = append(v.arguments, variables.Argument{File: path})
			return nil
		})
	f.BoolVar(&v.input, "input", true, "`false` never asks for values or approval")
}
