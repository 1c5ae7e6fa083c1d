// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Config has the declarations in the deployment files of a stack. It is immutable.
type Config struct {
	Dir   string               // absolute
	Files map[string]*hcl.File // by name relative to the stack's directory

	Deployments map[string]*Deployment
	Order       []string // names of deployments as written: by file name, then by place
	Groups      map[string]*Group
	GroupOrder  []string // likewise, see rule D6
	Rules       map[string]*Rule
	Orchestrate []*Orchestrate
	Tokens      map[string]*IdentityToken
	Stores      map[StoreKey]*Store
	Published   map[string]*PublishedOutput
	Upstreams   map[string]*UpstreamInput
	Locals      map[string]*Local

	// Incomplete is set when a file could not be decoded, so that a missing declaration may not be the
	// fault of the reference to it.
	Incomplete bool

	rejected map[string]bool // beginnings of references to declarations that were left out
	static   *static

	filesWithin []string // see [LoadOptions.FilesWithin]
}

// Deployment is a deployment block.
type Deployment struct {
	Name    string
	Inputs  hcl.Expression // never nil
	Group   string         // in Config.Groups
	Destroy bool
	Import  bool
	Range   hcl.Range // of the block header, as in all declarations

	broken   bool            // whether a diagnostic about the inputs was reported
	value    cty.Value       // of the inputs, as far as it is known without values from outside
	mistakes hcl.Diagnostics // found by evaluating the inputs
}

// Group is a deployment_group block, or the automatic group of a deployment that names none.
type Group struct {
	Name             string
	Automatic        bool
	Checks           []string // names of rules, each once
	Members          []string // names of deployments, as written
	EagerPlan        bool     // all members are planned before the first is applied
	FailureTolerance int      // after more failures no further member is begun
	Range            hcl.Range
}

// Rule is a deployment_auto_approve block.
type Rule struct {
	Name   string
	Checks []*Check
	Range  hcl.Range
}

// Check is a check block of a rule. Neither expression is nil.
type Check struct {
	Condition hcl.Expression
	Reason    hcl.Expression
	Range     hcl.Range
}

// Orchestrate is an orchestrate block, which stands for rules of all deployments.
type Orchestrate struct {
	Type   string // "auto_approve" or "replan"
	Name   string
	Checks []*Check
	Range  hcl.Range
}

// IdentityToken is an identity_token block.
type IdentityToken struct {
	Name     string
	Audience []string // as written, each once
	Range    hcl.Range
}

// StoreKey identifies a store.
type StoreKey struct{ Type, Name string }

// String returns the key as references begin.
func (k StoreKey) String() string { return "store." + k.Type + "." + k.Name }

// Store is a store block.
type Store struct {
	StoreKey
	ID       string // of the variable set; empty if it is named
	SetName  string // of the variable set; empty if it is identified
	Category string // "terraform" or "env"
	Range    hcl.Range
}

// PublishedOutput is a publish_output block.
type PublishedOutput struct {
	Name        string
	Value       hcl.Expression // never nil
	Description string
	Type        *stackconfig.Type // nil when none is written
	Range       hcl.Range

	broken bool // whether a diagnostic about the value was reported
}

// UpstreamInput is an upstream_input block.
type UpstreamInput struct {
	Name   string
	Source UpstreamSource
	Range  hcl.Range
}

// UpstreamSource is the address of a stack that publishes outputs.
type UpstreamSource struct{ Host, Organization, Project, Stack string }

// String returns the address as it is written.
func (s UpstreamSource) String() string {
	if s == (UpstreamSource{}) {
		return ""
	}
	return s.Host + "/" + s.Organization + "/" + s.Project + "/" + s.Stack
}

// Local is one entry of a locals block.
type Local struct {
	Name  string
	Value hcl.Expression
	Range hcl.Range
}
