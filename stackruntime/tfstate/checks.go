// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// checksMember is the member with the results of checks.
const checksMember = "check_results"

// documentCheck is the result of a checkable object as a document has it.
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

// checkKinds translates the names in documents into those of JSON plans.
var checkKinds = map[string]tfjson.CheckKind{
	"resource": tfjson.CheckKindResource,
	"output":   tfjson.CheckKindOutputValue,
	"check":    tfjson.CheckKindCheckBlock,
	"var":      "var",
}

// Checks returns the results of checks and conditions, sorted by address.
func (d *Document) Checks() ([]tfjson.CheckResultStatic, error) {
	if isNull(d.members[checksMember]) {
		return nil, nil
	}
	var checks []documentCheck
	if err := json.Unmarshal(d.members[checksMember], &checks); err != nil {
		return nil, fmt.Errorf("results of checks: %w", err)
	}
	var results []tfjson.CheckResultStatic
	for _, check := range checks {
		results = append(results, check.result())
	}
	sortChecks(results)
	return results, nil
}

func (c documentCheck) result() tfjson.CheckResultStatic {
	result := tfjson.CheckResultStatic{Address: c.staticAddress(), Status: tfjson.CheckStatus(c.Status)}
	for _, object := range c.Objects {
		dynamic := tfjson.CheckResultDynamic{
			Address: tfjson.CheckDynamicAddress{ToDisplay: object.Address},
			Status:  tfjson.CheckStatus(object.Status),
		}
		if addr, err := checkable(object.Address); err == nil {
			dynamic.Address.Module, dynamic.Address.InstanceKey = addr.Module.String(), addr.Key.Index()
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
	addr, err := checkable(c.Address)
	if err != nil {
		address.Name = c.Address
		return address
	}
	address.Module, address.Name = addr.Module.String(), addr.Resource.Name
	if address.Kind == tfjson.CheckKindResource {
		address.Mode, address.Type = tfjson.ResourceMode(addr.Resource.Mode.String()), addr.Resource.Type
	}
	return address
}

// checkable parses the address of a checkable object. That of an output, a variable or a check block has the form of a resource's, with the keyword
// for a type.
func checkable(address string) (stackaddrs.ResourceInstance, error) {
	return stackaddrs.ParseResourceInstance(address)
}

// WithChecks returns a document with other results of checks and conditions. One that has the same results
// already is returned as it is, and so is an empty one, which can hold none.
func (d *Document) WithChecks(results []tfjson.CheckResultStatic) (*Document, error) {
	before, err := d.Checks()
	if err != nil || d.IsEmpty() {
		return d, err
	}
	var checks []documentCheck
	var after []tfjson.CheckResultStatic
	for _, result := range results {
		check := newDocumentCheck(result)
		checks, after = append(checks, check), append(after, check.result())
	}
	sortChecks(after)
	if reflect.DeepEqual(before, after) {
		return d, nil
	}
	return d.with(object{checksMember: encode(checks)}), nil
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

// WithCheckAddresses returns a document in which checkable objects have other addresses. Where rename returns "" for an object of the configuration, its
// results are dropped.
func (d *Document) WithCheckAddresses(rename func(address string) string) (*Document, error) {
	if isNull(d.members[checksMember]) {
		return d, nil
	}
	fail := func(err error) (*Document, error) { return nil, fmt.Errorf("results of checks: %w", err) }
	var checks []map[string]json.RawMessage
	if err := json.Unmarshal(d.members[checksMember], &checks); err != nil {
		return fail(err)
	}
	var kept []map[string]json.RawMessage
	for _, check := range checks {
		address, err := renameMember(check, "config_addr", rename)
		if err != nil {
			return fail(err)
		}
		if address == "" {
			continue
		}
		var objects []map[string]json.RawMessage
		if !isNull(check["objects"]) {
			if err := json.Unmarshal(check["objects"], &objects); err != nil {
				return fail(err)
			}
		}
		for _, object := range objects {
			if _, err := renameMember(object, "object_addr", rename); err != nil {
				return fail(err)
			}
		}
		check["objects"] = encode(objects)
		kept = append(kept, check)
	}
	return d.with(object{checksMember: encode(kept)}), nil
}

func renameMember(members map[string]json.RawMessage, name string, rename func(string) string) (string, error) {
	var address string
	if err := json.Unmarshal(members[name], &address); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	address = rename(address)
	members[name] = encode(address)
	return address, nil
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
