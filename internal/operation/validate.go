// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Validate finds the mistakes of the configuration, which takes neither values nor state. Where the
// engine or providers cannot be had, that is an error besides the mistakes that show without them.
func (s *Stack) Validate(ctx context.Context) hcl.Diagnostics {
	if config, _ := s.config(); config != nil && s.unsupportedModules(ctx, config).HasErrors() { //nolint:errcheck // the others are among those of the steps
		return s.ValidateInSteps(ctx, ValidateSteps{}) // which goes on with the rest
	}
	opts, diags := s.loadRuntime(ctx)
	if !diags.HasErrors() {
		diags = diags.Extend(stackruntime.Validate(ctx, opts))
	}
	if s.loaded == nil {
		return diags
	}
	return s.withDeployments(s.loaded.config, diags)
}

// withDeployments adds the mistakes of the deployment files to those of a configuration, which may
// be nil.
func (s *Stack) withDeployments(config *stackconfig.Config, diags hcl.Diagnostics) hcl.Diagnostics {
	if config == nil || len(config.Files) == 0 {
		return diags
	}
	deployments, moreDiags := s.Deployments()
	diags = slices.Concat(diags, moreDiags)
	if deployments == nil {
		return diags
	}
	return diags.Extend(deployments.CheckStack(config.Root))
}

// ValidateSteps shows the findings of [Stack.ValidateInSteps]. Functions that are nil are not
// called.
type ValidateSteps struct {
	// Found is called with the findings of each step that none before it has found.
	Found func(hcl.Diagnostics)

	// During surrounds the work of the engine, which it calls once.
	During func(work func())
}

// ValidateInSteps is [Stack.Validate] for a caller that waits for the result: mistakes that show at
// once are found before the engine goes on with work that takes time. It returns the findings of
// all steps.
func (s *Stack) ValidateInSteps(ctx context.Context, steps ValidateSteps) hcl.Diagnostics {
	found := func(diags hcl.Diagnostics) hcl.Diagnostics {
		if steps.Found != nil {
			steps.Found(diags)
		}
		return diags
	}
	config, diags := s.config()
	if config == nil || len(config.Files) == 0 {
		return found(diags)
	}
	diags = s.withDeployments(config, diags)
	_, engineErr := s.openSession(ctx)
	unsupported := s.unsupportedModules(ctx, config)
	diags = diags.Extend(unsupported)
	sourceDiags := s.checkSources(ctx, config)
	if unsupported.HasErrors() {
		sourceDiags = s.outsideUnsupported(ctx, config, identity.Without(sourceDiags, unsupported))
	}
	diags = found(diags.Extend(sourceDiags))
	moreDiags := Diagnostics(engineErr)
	if engineErr == nil {
		work := func() { moreDiags = s.checkWithEngine(ctx, config, unsupported) }
		if steps.During != nil {
			steps.During(work)
		} else {
			work()
		}
	}
	return slices.Concat(diags, found(identity.Without(moreDiags, diags)))
}

// outsideUnsupported returns the diagnostics that are not about modules for other versions of the
// engine, with those that they call: a mistake in one may be none with the version that it is for.
func (s *Stack) outsideUnsupported(ctx context.Context, config *stackconfig.Config, diags hcl.Diagnostics) hcl.Diagnostics {
	opts := module.OptionsOf(engine.Info{}, s.dir, config.Resolver)
	opts.Files = &s.opts.Shared.engines.Binary.Modules
	loader := module.NewLoader(opts)
	inside := map[string]bool{}
	for _, dir := range config.ModuleDirs() {
		if !s.session.Abilities().Preparer.Unsupported(ctx, []string{dir}).HasErrors() {
			continue
		}
		if tree, _ := loader.Load(dir); tree != nil { //nolint:errcheck // its mistakes are those that don't count
			for _, called := range tree.Directories() {
				for _, file := range called.Files {
					inside[file.Name] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool {
		return diag.Subject != nil &&
			inside[diag.Subject.Filename]
	})
}

// checkWithEngine finds the mistakes of a configuration with the engine and providers, if those can
// be installed. It goes on in spite of modules that the engine was found not to support.
func (s *Stack) checkWithEngine(ctx context.Context, config *stackconfig.Config, unsupported hcl.Diagnostics) hcl.Diagnostics {
	opts, diags := s.prepare(ctx, config, installing{known: unsupported})
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(stackruntime.Validate(ctx, opts))
}

// otherMistakes returns the mistakes in the configuration that a plan has not come to, if it ended
// with some. Where it ended with errors that are none, such as those of providers, there is nothing
// to say.
func (s *Stack) otherMistakes(ctx context.Context, opts stackruntime.Options, planned hcl.Diagnostics) hcl.Diagnostics {
	if !slices.ContainsFunc(planned, func(diag *hcl.Diagnostic) bool { return s.isMistake(ctx, opts, diag) }) {
		return nil
	}
	return slices.DeleteFunc(stackruntime.Validate(ctx, opts), func(diag *hcl.Diagnostic) bool {
		return diag.Severity != hcl.DiagError || slices.ContainsFunc(planned, func(known *hcl.Diagnostic) bool { return isSameMistake(known, diag) })
	})
}

// isMistake reports whether an error is about the text of a module.
func (s *Stack) isMistake(ctx context.Context, opts stackruntime.Options, diag *hcl.Diagnostic) bool {
	if diag.Severity != hcl.DiagError || diag.Subject == nil {
		return false
	}
	if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok && data.Resource != "" {
		return false // it is about a resource, by its provider
	}
	path, inPackage := s.packagePath(diag.Subject.Filename)
	if !inPackage {
		path = filepath.Join(s.dir, filepath.FromSlash(diag.Subject.Filename))
	}
	return opts.Session.ValidateModule(ctx, filepath.Dir(path)).HasErrors()
}

// isSameMistake compares without details: while planning, they may reveal values.
func isSameMistake(a, b *hcl.Diagnostic) bool {
	return a.Summary == b.Summary && a.Subject != nil && b.Subject != nil && *a.Subject == *b.Subject
}
