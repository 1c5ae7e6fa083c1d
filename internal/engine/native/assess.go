// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

var (
	_ engine.Assessor = (*Session)(nil)
	_ engine.Chooser  = (*Session)(nil)
)

// Assess implements [engine.Assessor].
//
// A provider counts if its program is not one for this platform, or, once Prepare has installed it,
// if it cannot be started, which is tried only where its schema is not known: a plan would start it
// then for that. Its other errors are reported by a plan.
//
// A module for tofu is never left to terraform, which would take it for another one.
func (s *Session) Assess(ctx context.Context, dir string) *engine.Reason {
	why := s.assess(ctx, dir)
	if why != nil && s.signOfTofu(dir) != nil {
		return &engine.Reason{Code: engine.ReasonTofuFiles, Text: why.Text, Subject: why.Subject}
	}
	return why
}

func (s *Session) assess(ctx context.Context, dir string) *engine.Reason {
	for _, diag := range s.prepare.Unsupported(ctx, []string{dir}) {
		if diag.Severity == hcl.DiagError {
			return &engine.Reason{Code: engine.ReasonFeature, Text: firstSentence(diag.Detail), Subject: diag.Subject}
		}
	}
	providers := s.usedProviders(dir)
	problems := make([]error, len(providers))
	var all sync.WaitGroup
	for i, used := range providers {
		all.Go(func() { problems[i] = s.usable(ctx, used.Provider) })
	}
	all.Wait()
	for i, used := range providers {
		if err := problems[i]; err != nil {
			text := fmt.Sprintf("The native engine cannot start provider %s: %s.", used.Provider,
				strings.TrimSuffix(strings.Join(strings.Fields(err.Error()), " "), "."))
			return &engine.Reason{Code: engine.ReasonProvider, Text: text, Subject: used.Range.Ptr()}
		}
	}
	return nil
}

// signOfTofu returns the sign that a module, or one that it calls, is for tofu; nil without one.
func (s *Session) signOfTofu(dir string) *hcl.Range {
	tree, _ := s.modules.Load(dir) //nolint:errcheck // describing the module reports them
	if tree == nil {
		return nil
	}
	return tree.Tofu()
}

// Choice implements [engine.Chooser]: the engine, with the reason if the module asks for another
// behaviour than the usual one.
func (s *Session) Choice(_ context.Context, dir string) (engine.Choice, hcl.Diagnostics) {
	return engine.Choice{Engine: s.info, Reason: s.behaviour(dir)}, nil
}

// behaviour returns why a module is done as tofu or an older terraform does it, or no reason.
func (s *Session) behaviour(dir string) engine.Reason {
	tree, _ := s.modules.Load(dir) //nolint:errcheck // describing the module reports them
	if tree == nil {
		return engine.Reason{}
	}
	var reason engine.Reason
	if tree.Older != nil {
		reason = engine.Reason{
			Code: engine.ReasonOlder, Subject: tree.Older.Range.Ptr(),
			Text: fmt.Sprintf("The native engine does the module as terraform %s does, as required_version excludes %s.",
				module.Minor(toolchain.NativeOldest), module.Minor(toolchain.NativeTerraform)),
		}
	}
	if sign := tree.Tofu(); sign != nil {
		reason = engine.Reason{
			Code: engine.ReasonTofu, Subject: sign, Text: strings.TrimSpace(fmt.Sprintf(
				"The native engine does as OpenTofu %s does in a module that is for OpenTofu. %s", module.Minor(toolchain.NativeTofu), reason.Text)),
		}
	}
	return reason
}

// firstSentence leaves out the advice about a problem.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	first, _, found := strings.Cut(text, ". ")
	if !found {
		return text
	}
	return first + "."
}

// usedProvider is a provider of which a module uses something.
type usedProvider struct {
	Provider stackaddrs.Provider
	Range    hcl.Range // where it does first
}

// usedProviders returns the providers that a module and those that it calls use something of,
// sorted.
func (s *Session) usedProviders(dir string) []usedProvider {
	tree, _ := s.modules.Load(dir) //nolint:errcheck // describing the module reports them
	if tree == nil {
		return nil
	}
	found := map[stackaddrs.Provider]hcl.Range{}
	for _, directory := range tree.Directories() {
		for slot, at := range directory.ProviderUses {
			provider, _ := directory.Provider(slot.LocalName)
			if first, ok := found[provider]; !ok || before(at, first) {
				found[provider] = at
			}
		}
	}
	var used []usedProvider
	for _, provider := range slices.SortedFunc(maps.Keys(found),
		func(a, b stackaddrs.Provider) int { return strings.Compare(a.String(), b.String()) }) {
		if !provider.IsBuiltin() && !s.pool.Unmanaged(provider) {
			used = append(used, usedProvider{provider, found[provider]})
		}
	}
	return used
}

func before(a, b hcl.Range) bool {
	if a.Filename != b.Filename {
		return a.Filename < b.Filename
	}
	return a.Start.Byte < b.Start.Byte
}

// usable returns why a provider cannot be started, once for a run. It is nil where that is not
// known.
func (s *Session) usable(ctx context.Context, provider stackaddrs.Provider) error {
	pkg, err := s.providerPackage(ctx, provider)
	if err != nil {
		return nil //nolint:nilerr // it is not installed, or not the locked package: no engine can use it
	}
	if err := plugin.CheckProgram(pkg.Program); err != nil {
		return err
	}
	if !s.prepare.IsPrepared() {
		return nil
	}
	_, said := s.pool.Schema(ctx, pkg)
	for _, one := range said {
		if one.Summary == instances.Unstartable && ctx.Err() == nil {
			return errors.New(one.Detail)
		}
	}
	return nil
}

// AssessState implements [engine.Assessor].
func (s *Session) AssessState(state engine.State) *engine.Reason {
	doc, err := tfstate.Parse(state)
	if err != nil {
		return nil // planning reports its errors
	}
	if unknown := doc.Unknown(); unknown != "" {
		return &engine.Reason{Code: engine.ReasonState, Text: fmt.Sprintf("The state has something that the native engine does not know: %s.",
			unknown)}
	}
	return nil
}
