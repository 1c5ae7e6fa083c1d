// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

// CheckResult is the result of the conditions of one checkable object: a resource, an output value,
// an input variable or a check block.
type CheckResult struct {
	Kind    CheckKind
	Address string // in the configuration: without instance keys
	Status  CheckStatus
	Objects []CheckedObject // sorted by address; none while its instances are not known
}

// CheckedObject is the result of the conditions of one instance.
type CheckedObject struct {
	Address  string
	Status   CheckStatus
	Messages []string // of the conditions that do not hold. Shown as they are: nothing sensitive is in them
}

// CheckKind is the kind of a checkable object, named as in terraform's JSON plans.
type CheckKind string

// The kinds of checkable objects.
const (
	CheckResource CheckKind = "resource"
	CheckOutput   CheckKind = "output_value"
	CheckBlock    CheckKind = "check"
	CheckVariable CheckKind = "var"
)

// CheckStatus is the result of conditions.
type CheckStatus string

// The results of conditions.
const (
	CheckPass    CheckStatus = "pass"
	CheckFail    CheckStatus = "fail"
	CheckError   CheckStatus = "error"   // could not be evaluated
	CheckUnknown CheckStatus = "unknown" // known after apply
)

// Failed reports whether conditions do not hold or could not be evaluated.
func (s CheckStatus) Failed() bool { return s == CheckFail || s == CheckError }
