// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// choice is a choice that was made.
type choice struct {
	session engine.Session
	reason  engine.Reason
	diags   hcl.Diagnostics // without a session
}

var (
	supported   = engine.Reason{Code: engine.ReasonSupported, Text: "The native engine supports all that the module has."}
	otherModule = engine.Reason{
		Code: engine.ReasonOfOtherModule,
		Text: "Another module of the stack needs tofu, which knows providers by other addresses than the native engine, " +
			"so that both cannot work on one stack.",
	}
)

// choose returns the choice for a module (rule A1).
func (s *Session) choose(ctx context.Context, dir string) *choice {
	s.mu.Lock()
	made, all := s.mu.choices[dir], s.mu.all
	s.mu.Unlock()
	if all != nil {
		if made != nil && made.session == all {
			return made
		}
		return &choice{session: all, reason: otherModule}
	}
	if made == nil {
		made = s.decide(ctx, dir)
		if ctx.Err() == nil {
			s.mu.Lock()
			s.mu.choices[dir] = made
			s.mu.Unlock()
		}
	}
	return made
}

func (s *Session) decide(ctx context.Context, dir string) *choice {
	why := s.assess(ctx, dir)
	if why == nil {
		return s.doneNatively(ctx, dir)
	}
	binary, err := s.binary(ctx)
	switch {
	case err != nil && why.Code == engine.ReasonProvider:
		return s.doneNatively(ctx, dir) // it describes the error best
	case err != nil && why.Code == engine.ReasonTofuFiles:
		return &choice{diags: forTofu(why, reason(err))}
	case err != nil:
		return &choice{diags: withoutBinary(unsupported(ctx, s.native, []string{dir}), err)}
	case why.Code == engine.ReasonTofuFiles && binary.Info().Name != toolchain.Tofu:
		return &choice{diags: forTofu(why, fmt.Sprintf("The binary that is used is %s %s.", binary.Info().Name, binary.Info().Version))}
	}
	return &choice{session: binary, reason: *why}
}

// doneNatively returns the choice of the native engine, which may say more about a module.
func (s *Session) doneNatively(ctx context.Context, dir string) *choice {
	made := &choice{session: s.native, reason: supported}
	if chooser := s.native.Abilities().Chooser; chooser != nil {
		if own, _ := chooser.Choice(ctx, dir); own.Reason != (engine.Reason{}) { //nolint:errcheck // there are none for a single engine
			made.reason = own.Reason
		}
	}
	return made
}

// assess returns why a module is to be left to the binary, or nil.
func (s *Session) assess(ctx context.Context, dir string) *engine.Reason {
	if assessor := s.native.Abilities().Assessor; assessor != nil {
		return assessor.Assess(ctx, dir)
	}
	return nil
}

const wholeStack = "Use tofu for the whole stack: name it as its engine in cairn.hcl or CAIRN_ENGINE."

// chooseFor is choose for a component with a state.
func (s *Session) chooseFor(ctx context.Context, dir string, state engine.State) *choice {
	made := s.choose(ctx, dir)
	assessor := s.native.Abilities().Assessor
	if made.session != s.native || assessor == nil {
		return made
	}
	why := assessor.AssessState(state)
	if why == nil {
		return made
	}
	if made.reason.Code == engine.ReasonTofu { // rule A5, and for tofu rule A3
		return &choice{diags: hcl.Diagnostics{unknownState(why, "The module is for tofu. "+wholeStack, nil)}}
	}
	binary, err := s.binary(ctx)
	if err != nil {
		return &choice{diags: hcl.Diagnostics{unknownState(why, reason(err), faultOf(err))}}
	}
	if binary.Info().Name == toolchain.Tofu { // rule A3
		return &choice{diags: hcl.Diagnostics{unknownState(why, wholeStack, nil)}}
	}
	if _, diags := s.prepareBinary(ctx); diags.HasErrors() {
		return &choice{diags: diags}
	}
	return &choice{session: binary, reason: *why}
}

// review decides again about the modules that the native engine would do, now that providers are
// installed.
func (s *Session) review(ctx context.Context, dirs []string) {
	var all sync.WaitGroup
	for _, dir := range dirs {
		if s.choose(ctx, dir).session != s.native {
			continue
		}
		all.Go(func() {
			if again := s.decide(ctx, dir); again.session != nil && again.session != s.native && ctx.Err() == nil {
				s.mu.Lock()
				s.mu.choices[dir] = again
				s.mu.Unlock()
			}
		})
	}
	all.Wait()
}

// needsBinary returns the directories of modules that the native engine does not do, and the errors
// about those that nobody does.
func (s *Session) needsBinary(ctx context.Context, dirs []string) (needed []string, diags hcl.Diagnostics) {
	for _, dir := range dirs {
		made := s.choose(ctx, dir)
		diags = diags.Extend(made.diags)
		if made.session != nil && made.session != s.native {
			needed = append(needed, dir)
		}
	}
	if len(needed) > 0 {
		if binary, err := s.binary(ctx); err == nil && binary.Info().Name == toolchain.Tofu {
			s.mu.Lock()
			s.mu.all = binary
			s.mu.Unlock()
			return dirs, nil
		}
	}
	return needed, diags
}

// unsupported returns the errors about modules that an engine cannot do.
func unsupported(ctx context.Context, session engine.Session, dirs []string) hcl.Diagnostics {
	preparer := session.Abilities().Preparer
	if preparer == nil {
		return nil
	}
	return preparer.Unsupported(ctx, dirs)
}

// withoutBinary adds to errors about features that the native engine does not support that there is
// no other one (rule A2).
func withoutBinary(lacks hcl.Diagnostics, err error) hcl.Diagnostics {
	diags := make(hcl.Diagnostics, len(lacks))
	for i, diag := range lacks {
		explained := *diag
		explained.Detail = fmt.Sprintf("%s\n\nterraform or tofu may have it, and cannot be used. %s", diag.Detail, reason(err))
		explained.Extra = cmp.Or(diag.Extra, faultOf(err))
		diags[i] = &explained
	}
	return diags
}

// forTofu says that a module is left to tofu, which is not there.
func forTofu(why *engine.Reason, reason string) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Module for tofu",
		Detail: fmt.Sprintf("%s The module is for tofu, or calls one that is, and tofu cannot be used. %s\n\nPut tofu on PATH.",
			why.Text, reason),
		Extra:   fault.Named{Code: toolchain.CodeNotInstalled, Names: []string{toolchain.Tofu}},
		Subject: why.Subject,
	}}
}

// unknownState says that nobody can go on with a state.
func unknownState(why *engine.Reason, then string, extra any) *hcl.Diagnostic {
	return failure.With(extra, failure.New("Unknown content of state", "%s %s", why.Text, then))
}

// reason returns sentences about why there is no binary.
func reason(err error) string {
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok && len(diags) > 0 {
		return diags[0].Detail
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// faultOf returns the fault that kept a binary from being used, as the Extra of a diagnostic.
func faultOf(err error) any {
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok && len(diags) > 0 {
		return diags[0].Extra
	}
	return fault.OfError(err)
}

// chooser reports choices.
type chooser struct{ *Session }

// Choice implements [engine.Chooser].
func (c chooser) Choice(ctx context.Context, dir string) (engine.Choice, hcl.Diagnostics) {
	made := c.choose(ctx, dir)
	if made.session == nil {
		return engine.Choice{}, made.diags
	}
	return engine.Choice{Engine: made.session.Info(), Reason: made.reason}, nil
}
