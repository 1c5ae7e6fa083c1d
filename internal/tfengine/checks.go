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

// stateCheck is the result of a checkable object as a state holds it.
type stateCheck struct {
	Kind    string             `json:"object_kind"`
	Address string             `json:"config_addr"`
	Status  string             `json:"status"`
	Objects []stateCheckObject `json:"objects"`
}

type stateCheckObject struct {
	Address  string   `json:"object_addr"`
	Status   string   `json:"status"`
	Messages []string `json:"failure_messages"`
}

// checkKinds translates the names in states into those of JSON plans.
var checkKinds = map[string]tfjson.CheckKind{
	"resource": tfjson.CheckKindResource,
	"output":   tfjson.CheckKindOutputValue,
	"check":    tfjson.CheckKindCheckBlock,
	"var":      "var",
}

// cleanChecks removes generated objects, and gives latched variables their names back.
func cleanChecks(data json.RawMessage) (json.RawMessage, error) {
	var checks []stateCheck
	if err := json.Unmarshal(data, &checks); err != nil {
		return nil, err
	}
	var kept []stateCheck
	for _, check := range checks {
		check.Address = workcopy.RestoreAddress(check.Address)
		if strings.Contains(check.Address, generatedPrefix) {
			continue
		}
		for i := range check.Objects {
			check.Objects[i].Address = workcopy.RestoreAddress(check.Objects[i].Address)
		}
		kept = append(kept, check)
	}
	return json.Marshal(kept)
}

// appliedChecks returns the check results in a state, sorted by address.
func appliedChecks(doc *stateDocument) []tfjson.CheckResultStatic {
	var results []tfjson.CheckResultStatic
	for _, check := range doc.Checks {
		result := tfjson.CheckResultStatic{
			Address: checkAddress(check),
			Status:  tfjson.CheckStatus(check.Status),
		}
		for _, object := range check.Objects {
			dynamic := tfjson.CheckResultDynamic{
				Address: tfjson.CheckDynamicAddress{ToDisplay: object.Address},
				Status:  tfjson.CheckStatus(object.Status),
			}
			for _, message := range object.Messages {
				dynamic.Problems = append(dynamic.Problems, tfjson.CheckResultProblem{Message: message})
			}
			result.Instances = append(result.Instances, dynamic)
		}
		results = append(results, result)
	}
	sortChecks(results)
	return results
}

// checkAddress takes the address of a checkable object in the configuration apart.
func checkAddress(check stateCheck) tfjson.CheckStaticAddress {
	address := tfjson.CheckStaticAddress{ToDisplay: check.Address, Kind: checkKinds[check.Kind]}
	parts := strings.Split(check.Address, ".")
	var module []string
	for len(parts) > 2 && parts[0] == "module" {
		module, parts = append(module, parts[0], parts[1]), parts[2:]
	}
	address.Module = strings.Join(module, ".")
	if address.Kind == tfjson.CheckKindResource {
		address.Mode = tfjson.ManagedResourceMode
		if parts[0] == "data" {
			address.Mode, parts = tfjson.DataResourceMode, parts[1:]
		}
		address.Type = parts[0]
	}
	address.Name = parts[len(parts)-1]
	return address
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
