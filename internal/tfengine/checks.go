// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"encoding/json"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/tfengine/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// cleanChecks removes generated objects, and gives latched variables their names back.
func cleanChecks(data json.RawMessage) (json.RawMessage, error) {
	var checks []map[string]json.RawMessage
	if err := json.Unmarshal(data, &checks); err != nil {
		return nil, err
	}
	var kept []map[string]json.RawMessage
	for _, check := range checks {
		address, err := restore(check, "config_addr")
		if err != nil {
			return nil, err
		}
		if strings.Contains(address, generatedPrefix) {
			continue
		}
		var objects []map[string]json.RawMessage
		if err := json.Unmarshal(check["objects"], &objects); err != nil {
			return nil, err
		}
		for _, object := range objects {
			if _, err := restore(object, "object_addr"); err != nil {
				return nil, err
			}
		}
		if check["objects"], err = json.Marshal(objects); err != nil {
			return nil, err
		}
		kept = append(kept, check)
	}
	return json.Marshal(kept)
}

// restore gives the address in a member of a JSON object its name back, and returns it.
func restore(members map[string]json.RawMessage, name string) (string, error) {
	var address string
	if err := json.Unmarshal(members[name], &address); err != nil {
		return "", err
	}
	address = workcopy.RestoreAddress(address)
	members[name] = quoted(address)
	return address, nil
}

// plannedChecks restores the names in the check results of a plan.
func plannedChecks(checks []tfjson.CheckResultStatic) []tfjson.CheckResultStatic {
	var kept []tfjson.CheckResultStatic
	for _, check := range checks {
		if isGeneratedAddress(check.Address.ToDisplay) && check.Address.Kind == "var" {
			check.Address.Module = ""
			check.Address.ToDisplay = workcopy.RestoreAddress(check.Address.ToDisplay)
			check.Instances = slices.Clone(check.Instances)
			for i := range check.Instances {
				address := &check.Instances[i].Address
				address.Module = ""
				address.ToDisplay = workcopy.RestoreAddress(address.ToDisplay)
			}
		}
		if !strings.Contains(check.Address.ToDisplay, generatedPrefix) {
			kept = append(kept, check)
		}
	}
	sortChecks(kept)
	return kept
}

func sortChecks(checks []tfjson.CheckResultStatic) {
	slices.SortFunc(checks, func(a, b tfjson.CheckResultStatic) int {
		return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
}

func markOutput(value cty.Value, sensitive bool) cty.Value {
	if sensitive {
		return value.Mark(marks.Sensitive)
	}
	return value
}
