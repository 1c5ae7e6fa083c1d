// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var checkKinds = map[uint64]engine.CheckKind{
	1: engine.CheckResource,
	2: engine.CheckOutput,
	3: engine.CheckBlock,
	4: engine.CheckVariable,
}

// checkStatus returns the status for its number; one that is not known says nothing.
func checkStatus(n uint64) engine.CheckStatus {
	switch n {
	case 1:
		return engine.CheckPass
	case 2:
		return engine.CheckFail
	case 3:
		return engine.CheckError
	default:
		return engine.CheckUnknown
	}
}

func parseCheckResult(msg []byte) (engine.CheckResult, error) {
	var out engine.CheckResult
	var kind, status uint64
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			return f.setUint(&kind)
		case 2:
			return f.setString(&out.Address)
		case 3:
			return f.setUint(&status)
		case 4:
			msg, err := f.message()
			if err != nil {
				return err
			}
			object, err := parseCheckedObject(msg)
			out.Objects = append(out.Objects, object)
			return err
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	if _, err := parseAddress(out.Address); err != nil {
		return out, err
	}
	out.Kind = checkKinds[kind]
	if out.Kind == "" {
		return out, fmt.Errorf("unknown kind %d of checked object", kind)
	}
	out.Status = checkStatus(status)
	slices.SortStableFunc(out.Objects, func(a, b engine.CheckedObject) int { return cmp.Compare(a.Address, b.Address) })
	return out, nil
}

func parseCheckedObject(msg []byte) (engine.CheckedObject, error) {
	var out engine.CheckedObject
	var status uint64
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			return f.setString(&out.Address)
		case 2:
			return f.setUint(&status)
		case 3:
			return f.appendString(&out.Messages)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	if _, err := parseAddress(out.Address); err != nil {
		return out, err
	}
	out.Status = checkStatus(status)
	slices.Sort(out.Messages)
	return out, nil
}
