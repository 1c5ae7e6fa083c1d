// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/engine"
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

// checkKinds has the kinds by their names in documents.
var checkKinds = map[string]engine.CheckKind{
	"resource": engine.CheckResource,
	"output":   engine.CheckOutput,
	"check":    engine.CheckBlock,
	"var":      engine.CheckVariable,
}

// Checks returns the results of checks and conditions, sorted by address.
func (d *Document) Checks() ([]engine.CheckResult, error) {
	if isNull(d.members[checksMember]) {
		return nil, nil
	}
	var checks []documentCheck
	if err := json.Unmarshal(d.members[checksMember], &checks); err != nil {
		return nil, fmt.Errorf("results of checks: %w", err)
	}
	var results []engine.CheckResult
	for _, check := range checks {
		results = append(results, check.result())
	}
	sortChecks(results)
	return results, nil
}

func (c documentCheck) result() engine.CheckResult {
	result := engine.CheckResult{Kind: checkKinds[c.Kind], Address: c.Address, Status: engine.CheckStatus(c.Status)}
	for _, object := range c.Objects {
		result.Objects = append(result.Objects, engine.CheckedObject{
			Address: object.Address, Status: engine.CheckStatus(object.Status), Messages: object.Messages,
		})
	}
	return result
}

// WithChecks returns a document with other results of checks and conditions. One that has the same
// results already is returned as it is, and so is an empty one, which can hold none.
func (d *Document) WithChecks(results []engine.CheckResult) (*Document, error) {
	before, err := d.Checks()
	if err != nil || d.IsEmpty() {
		return d, err
	}
	var checks []documentCheck
	var after []engine.CheckResult
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

func newDocumentCheck(result engine.CheckResult) documentCheck {
	check := documentCheck{Address: result.Address, Status: string(result.Status)}
	for name, kind := range checkKinds {
		if kind == result.Kind {
			check.Kind = name
		}
	}
	for _, object := range result.Objects {
		check.Objects = append(check.Objects, documentCheckObject{
			Address: object.Address, Status: string(object.Status), Messages: object.Messages,
		})
	}
	return check
}

// WithCheckAddresses returns a document in which checkable objects have other addresses. Where
// rename returns "" for an object of the configuration, its results are dropped.
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

func sortChecks(checks []engine.CheckResult) {
	slices.SortStableFunc(checks, func(a, b engine.CheckResult) int { return strings.Compare(a.Address, b.Address) })
	for _, check := range checks {
		slices.SortStableFunc(check.Objects, func(a, b engine.CheckedObject) int { return strings.Compare(a.Address, b.Address) })
	}
}
