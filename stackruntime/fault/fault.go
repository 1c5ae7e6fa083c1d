// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package fault names faults for which a program that embeds the runtime may know a remedy of its own.
//
// The runtime says what is wrong and what has to become true. How that is brought about is a matter of the program: by an option of a
// command, a button, another call. So details name no command, and the diagnostics of such faults have a [Code] in their Extra.
//
//	if code, ok := hcl.DiagnosticExtra[fault.Code](diag); ok { … }
package fault

// Code names a kind of fault.
type Code string

// The faults with a remedy outside of the configuration.
const (
	// ProviderNotLocked: a provider has no entry among the locks that the runtime was given.
	ProviderNotLocked Code = "provider-not-locked"

	// LockedVersionRejected: the locked version of a provider is none that the configuration allows.
	LockedVersionRejected Code = "locked-version-rejected"

	// TargetUnknown: a plan is to be limited to something that does not exist.
	TargetUnknown Code = "target-unknown"

	// ExcludeUnknown: a plan is to leave out something that does not exist.
	ExcludeUnknown Code = "exclude-unknown"

	// MoveBlocked: what a moved block names cannot have its new address, since something else has it.
	MoveBlocked Code = "move-blocked"

	// LeftOver: the state has component instances, or stack instances, for which the configuration has no block.
	LeftOver Code = "left-over"

	// ImportMisplaced: a stack has a block that belongs in a module, which takes over what exists.
	ImportMisplaced Code = "import-misplaced"

	// StorageMisplaced: a stack says where its state is kept, or what runs it.
	StorageMisplaced Code = "storage-misplaced"

	// DeploymentMisplaced: a stack has a block that belongs in a file of deployments.
	DeploymentMisplaced Code = "deployment-misplaced"
)
