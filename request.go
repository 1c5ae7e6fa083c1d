// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Request describes a plan, or a plan and its apply. The zero value is an ordinary plan of the
// whole stack.
type Request struct {
	Mode        engine.Mode
	Variables   []Argument // later ones win
	SkipRefresh bool       // takes the state for the truth
	Parallelism int        // number of components that are worked on at the same time; 0 leaves it to the settings file

	// Replace has addresses of resource instances that must be replaced, by component.
	Replace map[stackaddrs.AbsComponentInstance][]string

	// Targets limit the plan to some components and those that they require, or when destroying,
	// those that require them. Excludes leave components out, and those that require them, or when
	// destroying, those that they require. Without a key all instances are meant.
	Targets, Excludes []stackaddrs.AbsComponentInstance

	// Requested are the actions to invoke, in mode [engine.Invoke], by component. Without a key all
	// instances are meant. The rest of the stack is left as the state has it.
	Requested map[stackaddrs.AbsComponentInstance]engine.Requested

	// Rounds is how often an apply plans while changes are deferred; 0 stands for 10.
	Rounds int

	// Beside plans without the lock of the state, from its present content, and writes nothing to it:
	// applies that were cut off are left to be recovered.
	Beside bool

	// ApproveLater saves a plan that no rule approves, in place of asking for approval.
	ApproveLater bool

	// ApprovedBy says for the history by whom a saved plan was approved. Empty stands for "saved
	// plan".
	ApprovedBy string

	// AcceptRecovery goes on although an apply that was cut off may have made changes that the state
	// does not show, if an earlier operation has reported them.
	AcceptRecovery bool

	// Generate names a new file for resource blocks that are made for objects to import; empty makes
	// none. A plan with such blocks can only be looked at, and applies make none.
	Generate string

	// Version is that of the program, for plan files.
	Version string
}

// Argument gives values to variables, in one of three ways.
type Argument struct {
	File string // path of a variables file
	Text string // NAME=VALUE, parsed by the type of the variable

	Name  string    // of one variable,
	Value cty.Value // and its value, of any type that converts; it may be unknown in whole or in part

	// Sensitive keeps the parts of the value sensitive that are marked so, besides those of the
	// declaration. Range is where the value is written, nil for nowhere.
	Sensitive bool
	Range     *hcl.Range
}

func (r Request) operation() operation.Request {
	req := operation.Request{
		Scope: operation.Scope{
			Mode: r.Mode, SkipRefresh: r.SkipRefresh, Replace: r.Replace, Targets: r.Targets, Excludes: r.Excludes, Requested: r.Requested,
		},
		Approval:    operation.Approval{ApproveLater: r.ApproveLater, ApprovedBy: r.ApprovedBy},
		Parallelism: r.Parallelism, Rounds: r.Rounds, Beside: r.Beside, AcceptRecovery: r.AcceptRecovery, Version: r.Version,
		Generate: r.Generate,
	}
	for _, a := range r.Variables {
		req.Variables = append(req.Variables, variables.Argument{
			File: a.File, Text: a.Text, Name: a.Name, Value: a.Value, Sensitive: a.Sensitive, Range: a.Range,
		})
	}
	return req
}
