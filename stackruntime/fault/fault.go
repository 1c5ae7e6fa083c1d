// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package fault is the Extra of the runtime's diagnostics: the component instance that one is about
// ([Address]), and the faults for which a program that embeds the runtime may know a remedy of its
// own.
//
// The runtime names the problem and the condition that has to become true. How that is brought
// about is a matter of the program: by an option of a command, a button, another call. So details
// name no command, and the diagnostics of such faults have a [Code] in their Extra, or a [Named]
// where the remedy needs names.
//
//	if code, ok := hcl.DiagnosticExtra[fault.Code](diag); ok { … }
package fault

// Code names a kind of fault.
type Code string

// Value is the fault of a root variable for which a value is needed. It stands in the place of a
// [Code], for remedies that name the variable.
type Value struct {
	Variable string // its name

	Fleeting  bool // it belongs in no file
	Given     bool // one was given, which only a later one replaces
	Plannable bool // a plan can be saved without it
}

// Meant is the Extra of a diagnostic about an undeclared name, if there is a declared one like it:
// the text that could be written in the place of the subject of the diagnostic.
type Meant struct{ Text string }

// The faults with a remedy outside of the configuration.
const (
	// ProviderNotLocked: a provider has no entry among the locks that the runtime was given.
	ProviderNotLocked Code = "provider-not-locked"

	// LockedVersionRejected: the locked version of a provider is none that the configuration allows.
	LockedVersionRejected Code = "locked-version-rejected"

	// PackageNotLocked: the package of a provider has none of the checksums that are locked.
	PackageNotLocked Code = "package-not-locked"

	// SourceNotPrepared: a source package has not been fetched.
	SourceNotPrepared Code = "source-not-prepared"

	// SourceLocked: the content of a source package differs from its lock, or is gone.
	SourceLocked Code = "source-locked"

	// ProviderNotInstalled: the package of a provider is not there.
	ProviderNotInstalled Code = "provider-not-installed"

	// ProviderDamaged: the installed package of a provider is not the locked one.
	ProviderDamaged Code = "provider-damaged"

	// LockFileUnusable: a lock file is damaged, does not have all that is required, or cannot be
	// written.
	LockFileUnusable Code = "lock-file-unusable"

	// TargetUnknown: a plan is to be limited to something that does not exist.
	TargetUnknown Code = "target-unknown"

	// InvokeUnknown: actions of something are to be invoked that does not exist.
	InvokeUnknown Code = "invoke-unknown"

	// ExcludeUnknown: a plan is to leave out something that does not exist.
	ExcludeUnknown Code = "exclude-unknown"

	// MoveBlocked: the target of a moved block cannot have its new address, since something else has
	// it.
	MoveBlocked Code = "move-blocked"

	// LeftOver: the state has component instances, or stack instances, for which the configuration has
	// no block.
	LeftOver Code = "left-over"

	// ImportMisplaced: a stack has a block that belongs in a module, which takes over existing
	// objects.
	ImportMisplaced Code = "import-misplaced"

	// ImportUndeclared: a module imports an object that it has no block for, which can be generated.
	ImportUndeclared Code = "import-undeclared"

	// StalePlan: the state or another basis of a plan has changed since the plan was made, so that
	// nothing of it was applied.
	StalePlan Code = "stale-plan"

	// QueryUnsupported: the engine has no queries.
	QueryUnsupported Code = "query-unsupported"

	// StorageMisplaced: a stack configures the storage of its state, or its engine.
	StorageMisplaced Code = "storage-misplaced"
)
