// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Choice says which engine does the components of a module, and why.
type Choice struct {
	Engine Info
	Reason Reason
}

// Reason is the reason for an engine's decision. The zero value is none.
type Reason struct {
	Code ReasonCode

	// Text is for people: whole sentences, of which the first one is enough to show.
	Text string

	// Subject is the part of a module that the reason is about; nil if that is not one place.
	Subject *hcl.Range
}

// String returns the reason as a text with its place.
func (r Reason) String() string {
	if r.Subject == nil {
		return r.Text
	}
	return fmt.Sprintf("%s (%s:%d).", strings.TrimSuffix(r.Text, "."), r.Subject.Filename, r.Subject.Start.Line)
}

// ReasonCode is a [Reason] for programs.
type ReasonCode string

// The reasons.
const (
	ReasonNamed         ReasonCode = "named"               // somebody has named the engine
	ReasonRequired      ReasonCode = "required_version"    // a version of a binary is required
	ReasonOfPlan        ReasonCode = "plan"                // it has made the plan that is applied
	ReasonUsual         ReasonCode = "usual"               // nobody has said anything else
	ReasonSupported     ReasonCode = "supported"           // it supports all that the module has
	ReasonOlder         ReasonCode = "older_behaviour"     // it supports the module, as an older terraform does that the module asks for
	ReasonTofu          ReasonCode = "tofu_behaviour"      // it supports the module, as tofu does that parts of it are for
	ReasonFeature       ReasonCode = "unsupported_feature" // the one that is usual lacks something that the module has
	ReasonProvider      ReasonCode = "unusable_provider"   // the one that is usual cannot start a provider
	ReasonTofuFiles     ReasonCode = "tofu_files"          // it lacks something that the module has, which is for tofu
	ReasonState         ReasonCode = "unknown_state"       // the state has something that the one that is usual does not know
	ReasonOfOtherModule ReasonCode = "other_module"        // another module has to be done by it, and then all are
)

// IsFallback reports whether the engine is another one than would be usual.
func (c ReasonCode) IsFallback() bool {
	switch c {
	case ReasonFeature, ReasonProvider, ReasonTofuFiles, ReasonState, ReasonOfOtherModule:
		return true
	}
	return false
}

// Assessor is the ability to say for which modules a session is no good choice, though it may do
// something with them. A session without it is good for all.
type Assessor interface {
	// Assess returns why the components of a module are to be left to another engine, or nil.
	// Providers count as soon as they are installed.
	Assess(ctx context.Context, moduleDir string) *Reason

	// AssessState is Assess for the state that an apply has left behind.
	AssessState(state State) *Reason
}

// Chooser is the ability to hand components to several engines.
type Chooser interface {
	// Choice returns the engine for the components of a module. With errors there is none.
	Choice(ctx context.Context, moduleDir string) (Choice, hcl.Diagnostics)
}
