// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/workers/config"
)

// FileName is the name of the file, at the root of a repository.
const FileName = settings.WorkspaceFile

// Workspace is the content of a file.
type Workspace struct {
	Filename string
	Blocks   []*Block // as written

	Ties     Ties
	Parallel int            // how many nodes may run at the same time; 0 if the file does not say
	Limits   map[string]int // how many with a key may

	Locals map[string]wiring.Local // that inputs may be made of

	Workers *config.Config // nil if there is no such block

	Upstreams settings.Upstreams // where stacks are kept that publish outputs, seen from the root of the repository
}

// Ties is the order of leaves that no rule and no weight orders.
type Ties string

// The values of Ties.
const (
	// TiesByName takes the smallest name next, and before it all that it waits for.
	TiesByName Ties = "name"

	// TiesByDirectory is the order of trees of stack directories: stacks enter a queue as they become
	// ready, in turn by directory.
	TiesByDirectory Ties = "directory"
)

// Block is a stack, a group or a task.
type Block struct {
	Type        Type
	Name        string
	Description string
	Tags        []string
	Keys        []string // of [Workspace.Limits]
	Weight      *float64 // between First and Last; nil if not written
	Rules       []Rule   // as written
	AutoApply   *bool    // nil if not written; not of a task

	Wants    []Reference // selected along with it
	WantedBy []Reference // that it is selected along with

	Stack *Stack
	Group *Group
	Task  *Task

	Several *Several // of a group that was written as a stack; else nil

	Range hcl.Range // of the header
}

// Type is the type of a block.
type Type string

// The types of blocks.
const (
	StackType Type = "stack"
	GroupType Type = "group"
	TaskType  Type = "task"
)

// The weights of "first" and "last". Numbers lie between them.
const (
	First = -1e9
	Last  = 1e9
)

// Stack is a directory, and the settings to run it with.
type Stack struct {
	Dir        string       // with slashes, from the root of the repository; "." for the root
	Kind       rollout.Kind // "" until the directory has been looked at
	Deployment string
	Workspace  string // of a root module; "" for the default one

	Variables   map[string]string // as they are given on a command line
	VarFiles    []string          // from the root of the repository
	Environment map[string]string

	Inputs      *wiring.Inputs // values of variables that others have; nil if not written
	InputsRange hcl.Range      // of the name of the argument

	Links []Link // outputs of other stacks in its deployment files, once the directory has been looked at

	Files []FilePattern // that count as its own, instead of everything in the directory; nil if not written
	Watch []string      // patterns of files that count as its own, too

	DirRange, VarFilesRange, DeploymentRange, WorkspaceRange hcl.Range

	outline *deployconfig.Outline // of its deployment files; nil without any
	only    string                // the deployment that is meant without one, if it is not the default one
	destroy *hcl.Range            // of the deployment, if that is to be destroyed while others are applied; else nil
}

// FilePattern matches files from the root of the repository.
type FilePattern struct {
	Text    string // as written, from the directory of the stack
	Pattern glob.Pattern
	Without bool // it takes away matches of others
}

// Group holds other blocks.
type Group struct {
	Members     []Reference
	Variables   map[string]string
	Environment map[string]string
	Parallel    int // of the strategy; 0 if there is none
}

// Task is a command.
type Task struct {
	rollout.Task
	Dir         string // as of a stack
	Environment map[string]string
	Stage       *Stage
}

// Stage puts a task before or after all stacks.
type Stage struct {
	Post   bool
	Number float64
	Text   string
	Range  hcl.Range
}

// Reference is how a rule names others.
type Reference struct {
	Text  string
	Range hcl.Range
}

// Rule is one attribute that says something about order.
type Rule struct {
	Name string // as written
	Rel  Relation
	Refs []Reference

	Inverse bool // its targets come after, not before
	Policy  Policy

	Range hcl.Range // of the name
}

// Relation is the meaning of a rule.
type Relation int

// The relations.
const (
	After             Relation = iota // wait until it is done
	PlanAfter                         // wait with the plan until it is applied
	ApplyAfter                        // wait with the apply until it is applied
	ModifiedBy                        // count as modified if it does
	ModifiedByOutputs                 // the same, but only if its outputs change
	Input                             // have an output or a published value of it: wait as by After, count as modified as by ModifiedByOutputs
	Watch                             // as After; react if it has changed
	Prereq                            // run before it, if it would change something
	OnChanges                         // run only if it has changed
	OnFail                            // run only if it has failed
	Listen                            // at the end, run only if it has changed
)

// Policy says how many of the targets of a rule count.
type Policy int

// The policies.
const (
	Default Policy = iota // All, but Any for OnFail
	Any
	All
)
