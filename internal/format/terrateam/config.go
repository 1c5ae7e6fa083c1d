// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// ConfigFile is where a repository has its configuration, unless it is in [OtherConfigFile].
const (
	ConfigFile      = ".terrateam/config.yml"
	OtherConfigFile = ".terrateam/config.yaml"
)

// Config is the part of a configuration that is about order.
type Config struct {
	Stacks []*Stack // as written
	Dirs   []DirRule

	Requirements []Requirements

	// WhenModified is for all directories, where they say nothing else.
	WhenModified WhenModified
}

// Stack is a leaf or a nested stack.
type Stack struct {
	Name  string
	Range *hcl.Range

	Query   tagquery.Query // of a leaf
	Nested  bool
	Members []Ref // of a nested stack

	Variables map[string]string
	Rules     Rules
}

// Rules are those written in the block of a stack.
type Rules struct {
	PlanAfter, ApplyAfter, ModifiedBy []Ref

	// ImpliedPlanAfter says that PlanAfter stands for a ModifiedBy without it (B-10).
	ImpliedPlanAfter bool

	AutoApply *bool // nil if nothing is said
}

// Ref is a stack named in another.
type Ref struct {
	Name  string
	Range *hcl.Range
}

// DirRule is an entry of dirs.
type DirRule struct {
	Pattern      glob.Pattern
	Tags         []string
	Workspaces   []Workspace // in the order of their names; none stands for one named default
	WhenModified WhenModified
	Range        *hcl.Range
}

// Workspace is one of a directory.
type Workspace struct {
	Name         string
	Tags         []string
	WhenModified WhenModified
}

// WhenModified says when a dirspace is part of a change. A nil field stands for that of the
// enclosing level.
type WhenModified struct {
	FilePatterns *[]FilePattern
	DependsOn    *DependsOn
}

// FilePattern is a pattern that may still hold ${DIR}.
type FilePattern struct {
	Text  string
	Range *hcl.Range
}

// DependsOn names dirspaces to wait for.
type DependsOn struct {
	Query tagquery.Query

	// PruneOnNoChange leaves the dirspace out if only a change in its dependencies would make it part
	// of one.
	PruneOnNoChange bool

	Range *hcl.Range
}

// over returns the settings with those of an enclosing level for missing ones.
func (w WhenModified) over(outer WhenModified) WhenModified {
	if w.FilePatterns == nil {
		w.FilePatterns = outer.FilePatterns
	}
	if w.DependsOn == nil {
		w.DependsOn = outer.DependsOn
	}
	return w
}
