// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// initFailed turns the engine's errors about providers that it cannot install into diagnostics, one
// a provider, at the place that requires it.
func (p *Preparer) initFailed(stdout, stderr []byte, failure error, req *engine.PrepareRequest) hcl.Diagnostics {
	said := command.Unframe(string(stderr))
	if said == "" {
		said = command.Unframe(command.LastLines(string(stdout), 20))
	}
	var diags hcl.Diagnostics
	for _, problem := range problems(said) {
		subject := p.requirementOf(problem, req.Ranges)
		if subject == nil && !strings.Contains(problem, "provider ") {
			diags = nil // it is about something else
			break
		}
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Provider installation failed",
			Detail:   fmt.Sprintf("%s init: %s\n\n%s", p.opts.Info.Name, command.Terse(problem), installAdvice(problem, subject != nil)),
			Subject:  subject,
			Extra:    installFault(problem),
		})
	}
	if len(diags) > 0 {
		return diags
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Provider installation failed",
		Detail: fmt.Sprintf("%s init failed: %s.\n\n%s\n\nCheck the source and version of the provider in required_providers, and that its registry or "+
			"mirror can be reached with your CLI configuration. Or have other versions chosen than those in %s.",
			p.opts.Info.Name, failure, command.Terse(said), locks.FileName),
		Extra: &engine.DiagnosticData{Fault: fault.LockedVersionRejected},
	}}
}

// isAboutVersion reports whether other versions of a provider could be installed.
func isAboutVersion(problem string) bool {
	return strings.Contains(problem, "no available releases match") || strings.Contains(problem, "locked provider")
}

// installFault is the Extra of a diagnostic about a problem with a provider.
func installFault(problem string) any {
	if !isAboutVersion(problem) {
		return nil
	}
	return &engine.DiagnosticData{Fault: fault.LockedVersionRejected}
}

// installAdvice returns the remedy for a problem with a provider. One that the stack does not
// require, a module does.
func installAdvice(problem string, ofStack bool) string {
	where := "here"
	if !ofStack {
		where = "in required_providers of the module"
	}
	if isAboutVersion(problem) {
		return fmt.Sprintf("Change the version that is required %s, or have another one chosen than %s has.", where, locks.FileName)
	}
	return fmt.Sprintf("Check the source and the version %s, and that the registry or mirror can be reached with your CLI configuration.", where)
}

// problems splits the engine's output into its errors, without headings, without warnings, and
// without advice to run other commands of the engine: these know nothing of the stack.
func problems(said string) []string {
	var all []string
	var lines []string
	inError := false
	end := func() {
		if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
		lines = nil
	}
	for paragraph := range strings.SplitSeq(said, "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		switch {
		case strings.HasPrefix(paragraph, "Error: "):
			end()
			inError = true
		case strings.HasPrefix(paragraph, "Warning: "), strings.HasPrefix(paragraph, "There are some problems with the CLI configuration"):
			end()
			inError = false
		case !inError, strings.Contains(paragraph, "run the following command:"):
		case strings.HasPrefix(paragraph, " "): // a list
			lines = append(lines, paragraph)
		default:
			lines = append(lines, strings.ReplaceAll(paragraph, "\n", " "))
		}
	}
	end()
	return all
}

// requirementOf returns where the stack requires the provider that a problem is about, or nil.
func (p *Preparer) requirementOf(problem string, ranges map[stackaddrs.Provider]hcl.Range) *hcl.Range {
	words := strings.FieldsFunc(problem, func(r rune) bool { return strings.ContainsRune(" \n\"'`,;()", r) })
	for _, word := range words {
		word = strings.TrimRight(word, ":.")
		for provider, rng := range ranges {
			if word == p.providerSource(provider) || word == provider.String() {
				return &rng
			}
		}
	}
	return nil
}
