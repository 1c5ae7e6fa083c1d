// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// bodySchemas are those of all blocks with arguments of fixed names, by the types that lead to
// them.
var bodySchemas = map[string]*hcl.BodySchema{
	"":                              rootSchema,
	"deployment":                    deploymentSchema,
	"deployment_group":              groupSchema,
	"deployment_auto_approve":       ruleSchema,
	"deployment_auto_approve.check": checkSchema,
	"orchestrate":                   ruleSchema,
	"orchestrate.check":             checkSchema,
	"identity_token":                tokenSchema,
	"store":                         storeSchema,
	"publish_output":                publishedSchema,
	"upstream_input":                upstreamSchema,
}

// BodySchema returns the schema of the contents of a block, by its type and those of the blocks
// around it, the outermost first; without types, that of a file. It is nil for blocks whose
// arguments have any names. The caller must not change it.
func BodySchema(types ...string) *hcl.BodySchema { return bodySchemas[strings.Join(types, ".")] }
