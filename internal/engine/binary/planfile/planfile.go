// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"os"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Mode is the mode that the plan was made in.
type Mode int

const (
	ModeNormal Mode = iota
	ModeDestroy
	ModeRefreshOnly
)

// String returns the mode's name as cairn's JSON documents spell it.
func (m Mode) String() string {
	switch m {
	case ModeNormal:
		return "normal"
	case ModeDestroy:
		return "destroy"
	case ModeRefreshOnly:
		return "refresh-only"
	default:
		return fmt.Sprintf("Mode(%d)", int(m))
	}
}

// Plan is the content of a plan file. Nothing in it refers to the file or to the bytes given to
// [Read]; it belongs to the caller.
type Plan struct {
	// EngineVersion is the version of terraform or tofu that wrote the file. The file does not say
	// which of the two it was.
	EngineVersion string
	Mode          Mode

	// Applyable says that applying the plan would do something and is allowed. Complete says that
	// nothing was left out by -target, -exclude or deferral. Errored plans are neither.
	//
	// tofu writes neither of the first two; they are then derived by the same rules.
	Applyable, Complete, Errored bool

	// Timestamp is the result of plantimestamp(), in UTC.
	Timestamp time.Time

	// Variables are the values that were given to variables of the root module, without marks. A value
	// that is ephemeral is not among them.
	Variables map[string]cty.Value

	// Outputs has one entry for each output of the root module that the plan got to. An output may
	// be missing: after errors, or when -target left it out.
	Outputs map[string]*OutputChange

	// ResourceChanges, ResourceDrift and DeferredChanges are resource_changes, resource_drift and
	// deferred_changes of `show -json`, in the same order.
	ResourceChanges []*engine.Change
	ResourceDrift   []*engine.Change
	DeferredChanges []engine.DeferredChange

	// Checks has the results of conditions and check blocks, sorted by address.
	Checks []engine.CheckResult

	// TargetAddrs, ExcludeAddrs and ForceReplaceAddrs are the options given to the plan.
	TargetAddrs, ExcludeAddrs, ForceReplaceAddrs []string

	// PriorState is the state after the plan's refresh, with lineage and serial of the state that the
	// plan started from. PreviousState is the one before the refresh, without lineage and serial. In
	// both, "moved" blocks have taken effect. Both are version-4 state JSON. They hold secrets in
	// clear.
	PriorState, PreviousState []byte
}

// OutputChange is the planned change of one output value of the root module.
type OutputChange struct {
	Action engine.Action

	// Before and After have exact types, unknowns and refinements, and no marks. Neither is ever
	// cty.NilVal: an absent value is a null of unknown type.
	Before, After cty.Value

	// Sensitive is set when the value was or will be sensitive.
	Sensitive bool
}

// Options are the optional parameters of [Read]. The zero value is ready for use.
type Options struct {
	// Schema returns the schema of the values of a resource type or data source, or nil if it is not
	// at hand. Called only during Read, several times for one type if it occurs several times.
	Schema func(provider stackaddrs.Provider, mode stackaddrs.ResourceMode, typeName string) *valueschema.Schema
}

// FormatError says that the content is not a plan file that this package understands: another
// format version, an encrypted or damaged file, or an unknown kind of change. The engine itself may
// still be able to read it.
type FormatError struct {
	// Version is the format version when it is the reason, else 0.
	Version uint64

	// Err names the part that was not understood, and its place.
	Err error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("plan file not understood: %s", e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// ReadFile is [Read] for the named file.
//
// Errors: as Read's, and those of reading the file.
func ReadFile(name string, opts Options) (*Plan, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading plan file: %w", err)
	}
	return Read(data, opts)
}
