// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// bodySchemas are those of all blocks with arguments of fixed names, by the types that lead to
// them.
var bodySchemas = map[string]*hcl.BodySchema{
	"":                    rootSchema,
	"component":           componentSchema,
	"stack":               stackCallSchema,
	"variable":            variableSchema,
	"variable.validation": checkRuleSchema,
	"output":              outputSchema,
	"provider":            providerSchema,
	"removed":             removedSchema,
	"removed.lifecycle":   lifecycleSchema,
	"moved":               movedSchema,
}

// BodySchema returns the possible content of a block, by its type and those of the blocks around
// it, the outermost first; without types, that of a file. It is nil for blocks whose arguments have
// any names. The caller must not change it.
//
// It has a few names that are known only to be refused: nullable of a variable, precondition of an
// output.
func BodySchema(types ...string) *hcl.BodySchema { return bodySchemas[strings.Join(types, ".")] }
