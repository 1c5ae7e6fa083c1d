// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"encoding/json"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/provider"
)

const summaryMove = "Unsupported move between resource types"

// moveData makes an object of null_resource, for which terraform_data is the replacement, one of
// that. The triggers keep their meaning.
func moveData(req provider.MoveRequest) provider.MoveResponse {
	if req.TargetType != dataType || req.SourceType != "null_resource" || !strings.HasSuffix(req.SourceProvider.String(), "/hashicorp/null") {
		return provider.MoveResponse{Diagnostics: provider.Errorf(summaryMove,
			"An object of type %s of the provider %s cannot become a %s.", req.SourceType, req.SourceProvider, req.TargetType)}
	}
	var stored struct {
		ID       string          `json:"id"`
		Triggers json.RawMessage `json:"triggers"`
	}
	if err := json.Unmarshal(req.SourceJSON, &stored); err != nil {
		return provider.MoveResponse{Diagnostics: provider.Errorf(summaryState, "The stored object of null_resource cannot be read: %s.", err)}
	}
	triggers, err := decodeTriggers(stored.Triggers)
	if err != nil {
		return provider.MoveResponse{Diagnostics: provider.Errorf(summaryState,
			"The triggers of the stored object of null_resource cannot be read: %s.", err)}
	}
	return provider.MoveResponse{Object: newData(cty.StringVal(stored.ID), noData, noData, triggers, noStore)}
}

// decodeTriggers returns triggers, which are a map of strings, as an expression in braces has them.
func decodeTriggers(text json.RawMessage) (cty.Value, error) {
	if len(text) == 0 || string(text) == "null" {
		return noData, nil
	}
	ty, err := ctyjson.ImpliedType(text)
	if err != nil {
		return cty.NilVal, err
	}
	return ctyjson.Unmarshal(text, ty)
}
