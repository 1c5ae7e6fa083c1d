// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"cmp"
	"fmt"
	"slices"

	tfjson "github.com/hashicorp/terraform-json"
)

// checkKindVariable completes terraform-json's list of kinds.
const checkKindVariable tfjson.CheckKind = "var"

var checkKinds = map[uint64]tfjson.CheckKind{
	1: tfjson.CheckKindResource,
	2: tfjson.CheckKindOutputValue,
	3: tfjson.CheckKindCheckBlock,
	4: checkKindVariable,
}

// checkStatus returns the status for its number; one that is not known says nothing.
func checkStatus(n uint64) tfjson.CheckStatus {
	switch n {
	case 1:
		return tfjson.CheckStatusPass
	case 2:
		return tfjson.CheckStatusFail
	case 3:
		return tfjson.CheckStatusError
	default:
		return tfjson.CheckStatusUnknown
	}
}

func parseCheckResults(msg []byte) (tfjson.CheckResultStatic, error) {
	var out tfjson.CheckResultStatic
	var kind, status uint64
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			return f.setUint(&kind)
		case 2:
			return f.setString(&out.Address.ToDisplay)
		case 3:
			return f.setUint(&status)
		case 4:
			msg, err := f.message()
			if err != nil {
				return err
			}
			object, err := parseCheckObject(msg)
			out.Instances = append(out.Instances, object)
			return err
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	addr, err := parseAddress(out.Address.ToDisplay)
	if err != nil {
		return out, err
	}
	out.Address.Kind = checkKinds[kind]
	if out.Address.Kind == "" {
		return out, fmt.Errorf("unknown kind %d of checked object", kind)
	}
	out.Address.Module, out.Address.Name = addr.Module.String(), addr.Resource.Name
	if out.Address.Kind == tfjson.CheckKindResource {
		out.Address.Mode, out.Address.Type = tfjson.ResourceMode(addr.Resource.Mode.String()), addr.Resource.Type
	}
	out.Status = checkStatus(status)
	slices.SortStableFunc(out.Instances, func(a, b tfjson.CheckResultDynamic) int {
		return cmp.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
	return out, nil
}

func parseCheckObject(msg []byte) (tfjson.CheckResultDynamic, error) {
	var out tfjson.CheckResultDynamic
	var status uint64
	var messages []string
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			return f.setString(&out.Address.ToDisplay)
		case 2:
			return f.setUint(&status)
		case 3:
			return f.appendString(&messages)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	addr, err := parseAddress(out.Address.ToDisplay)
	if err != nil {
		return out, err
	}
	out.Address.Module, out.Address.InstanceKey = addr.Module.String(), addr.Key.Index()
	out.Status = checkStatus(status)
	slices.Sort(messages)
	for _, message := range messages {
		out.Problems = append(out.Problems, tfjson.CheckResultProblem{Message: message})
	}
	return out, nil
}
