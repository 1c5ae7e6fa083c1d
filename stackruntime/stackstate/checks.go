// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// checksMember is the member of a state document with the results of checks.
const checksMember = "check_results"

// documentCheck is the result of a checkable object as a state document holds it.
type documentCheck struct {
	Kind    string                `json:"object_kind"`
	Address string                `json:"config_addr"`
	Status  string                `json:"status"`
	Objects []documentCheckObject `json:"objects"`
}

type documentCheckObject struct {
	Address  string   `json:"object_addr"`
	Status   string   `json:"status"`
	Messages []string `json:"failure_messages,omitempty"`
}

// checkKinds translates the names in state documents into those of JSON plans.
var checkKinds = map[string]tfjson.CheckKind{
	"resource": tfjson.CheckKindResource,
	"output":   tfjson.CheckKindOutputValue,
	"check":    tfjson.CheckKindCheckBlock,
	"var":      "var",
}

// Checks returns the results of checks and conditions in a module's state, sorted by address.
func Checks(state engine.State) ([]tfjson.CheckResultStatic, error) {
	if len(state) == 0 {
		return nil, nil
	}
	var doc struct {
		Checks []documentCheck `json:"check_results"`
	}
	if err := json.Unmarshal(state, &doc); err != nil {
		return nil, fmt.Errorf("not a state document: %w", err)
	}
	var results []tfjson.CheckResultStatic
	for _, check := range doc.Checks {
		results = append(results, check.result())
	}
	sortChecks(results)
	return results, nil
}

func (c documentCheck) result() tfjson.CheckResultStatic {
	result := tfjson.CheckResultStatic{Address: c.staticAddress(), Status: tfjson.CheckStatus(c.Status)}
	for _, object := range c.Objects {
		dynamic := tfjson.CheckResultDynamic{
			Address: dynamicAddress(result.Address, object.Address),
			Status:  tfjson.CheckStatus(object.Status),
		}
		for _, message := range object.Messages {
			dynamic.Problems = append(dynamic.Problems, tfjson.CheckResultProblem{Message: message})
		}
		result.Instances = append(result.Instances, dynamic)
	}
	return result
}

// staticAddress takes the address of a checkable object in the configuration apart.
func (c documentCheck) staticAddress() tfjson.CheckStaticAddress {
	address := tfjson.CheckStaticAddress{ToDisplay: c.Address, Kind: checkKinds[c.Kind]}
	parts := strings.Split(c.Address, ".")
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

// dynamicAddress takes the address of an instance of a checkable object apart.
func dynamicAddress(static tfjson.CheckStaticAddress, text string) tfjson.CheckDynamicAddress {
	address := tfjson.CheckDynamicAddress{ToDisplay: text}
	if static.Kind == tfjson.CheckKindResource {
		if resource, err := stackaddrs.ParseResourceInstance(text); err == nil {
			address.Module, address.InstanceKey = resource.Module.String(), resource.Key.Index()
		}
		return address
	}
	item := strings.TrimPrefix(strings.TrimPrefix(static.ToDisplay, static.Module), ".")
	address.Module = strings.TrimSuffix(strings.TrimSuffix(text, item), ".")
	return address
}

// WithChecks returns the state with other results of checks and conditions. One that has the same results
// already is returned as it is, and so is an empty one, which can hold none.
func WithChecks(state engine.State, results []tfjson.CheckResultStatic) (engine.State, error) {
	before, err := Checks(state)
	if err != nil || len(state) == 0 {
		return state, err
	}
	var checks []documentCheck
	var after []tfjson.CheckResultStatic
	for _, result := range results {
		check := newDocumentCheck(result)
		checks, after = append(checks, check), append(after, check.result())
	}
	sortChecks(after)
	if reflect.DeepEqual(before, after) {
		return state, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(state, &members); err != nil {
		return nil, fmt.Errorf("not a state document: %w", err)
	}
	if members[checksMember], err = json.Marshal(checks); err != nil {
		return nil, fmt.Errorf("encoding check results: %w", err)
	}
	return encodeObject(members)
}

func newDocumentCheck(result tfjson.CheckResultStatic) documentCheck {
	check := documentCheck{Address: result.Address.ToDisplay, Status: string(result.Status)}
	for name, kind := range checkKinds {
		if kind == result.Address.Kind {
			check.Kind = name
		}
	}
	for _, instance := range result.Instances {
		object := documentCheckObject{Address: instance.Address.ToDisplay, Status: string(instance.Status)}
		for _, problem := range instance.Problems {
			object.Messages = append(object.Messages, problem.Message)
		}
		check.Objects = append(check.Objects, object)
	}
	return check
}

func sortChecks(checks []tfjson.CheckResultStatic) {
	slices.SortStableFunc(checks, func(a, b tfjson.CheckResultStatic) int {
		return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
	for _, check := range checks {
		slices.SortStableFunc(check.Instances, func(a, b tfjson.CheckResultDynamic) int {
			return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
		})
	}
}
