// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package unitview shows phases of the work on units of a run, as the commands for these units show
// them in their own directories.
package unitview

import (
	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// Stack shows a phase of the work on a stack.
type Stack struct {
	*stackcmd.PartView

	// Watch adds hooks of somebody else to those that show the work; nil for none.
	Watch func(hooks.Hooks) hooks.Hooks
}

var _ driver.View = Stack{}

// Caller implements [driver.View].
func (v Stack) Caller() operation.Caller {
	caller := v.PartView.Caller()
	if v.Watch == nil {
		return caller
	}
	show := caller.During
	caller.During = func(phase string, work func(hooks.Hooks)) {
		show(phase, func(watch hooks.Hooks) { work(v.Watch(watch)) })
	}
	return caller
}

// Prepared implements [driver.View].
func (v Stack) Prepared(packages []bundle.Package, with operation.Versions) {
	stackcmd.ShowFetched(v.Session, packages)
	stackcmd.ShowInstalled(v.Session, with)
}
