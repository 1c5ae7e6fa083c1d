// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Validate finds the mistakes of the configuration, which takes neither values nor state. Where the
// engine or providers cannot be had, that is an error besides the mistakes that show without them.
func (s *Stack) Validate(ctx context.Context) (diags hcl.Diagnostics) {
	read, _ := s.sources.Config() //nolint:errcheck // its mistakes are among those of the steps
	if read != nil && (checks{s, read}).unsupported(ctx).HasErrors() {
		return s.ValidateInSteps(ctx, ValidateSteps{}) // which goes on with the rest
	}
	ctx, end := traced(ctx, s, validateName)
	defer func() { end(diags) }()
	opts, diags := s.Runtime(ctx)
	if !diags.HasErrors() {
		diags = diags.Extend(stackruntime.Validate(ctx, opts))
	}
	config, _ := s.sources.Config() //nolint:errcheck // read again by Runtime, whose diagnostics have its mistakes
	return checks{s, config}.withDeployments(diags)
}

// checks find the mistakes of a configuration, which is nil if there is none.
type checks struct {
	stack  *Stack
	config *stackconfig.Config
}

// withDeployments adds the mistakes of the deployment files to those of the configuration.
func (c checks) withDeployments(diags hcl.Diagnostics) hcl.Diagnostics {
	if c.config == nil || len(c.config.Files) == 0 {
		return diags
	}
	deployments, moreDiags := c.stack.sources.Deployments()
	diags = slices.Concat(diags, moreDiags)
	if deployments == nil {
		return diags
	}
	return diags.Extend(deployments.CheckStack(c.config.Root))
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
func (s *Stack) ValidateInSteps(ctx context.Context, steps ValidateSteps) (diags hcl.Diagnostics) {
	ctx, end := traced(ctx, s, validateName)
	defer func() { end(diags) }()
	found := func(diags hcl.Diagnostics) hcl.Diagnostics {
		if steps.Found != nil {
			steps.Found(diags)
		}
		return diags
	}
	config, diags := s.sources.Config()
	if config == nil || len(config.Files) == 0 {
		return found(diags)
	}
	c := checks{s, config}
	diags = c.withDeployments(diags)
	_, engineErr := s.session(ctx)
	unsupported := c.unsupported(ctx)
	diags = diags.Extend(unsupported)
	sourceDiags := c.sources(ctx)
	if unsupported.HasErrors() {
		sourceDiags = c.outsideUnsupported(ctx, identity.Without(sourceDiags, unsupported))
	}
	diags = found(diags.Extend(sourceDiags))
	moreDiags := Diagnostics(engineErr)
	if engineErr == nil {
		work := func() { moreDiags = c.withEngine(ctx, unsupported) }
		if steps.During != nil {
			steps.During(work)
		} else {
			work()
		}
	}
	return slices.Concat(diags, found(identity.Without(moreDiags, diags)))
}

// unsupported returns the errors about modules that are for other versions of the engine.
// Nothing else is said then, nor anything installed.
func (c checks) unsupported(ctx context.Context) hcl.Diagnostics {
	opened, err := c.stack.session(ctx)
	if err != nil || opened.Abilities().Preparer == nil {
		return nil //nolint:nilerr // prepare reports it
	}
	return opened.Abilities().Preparer.Unsupported(ctx, c.config.ModuleDirs())
}

// sources returns the mistakes that show without a process of an engine, and without
// providers.
func (c checks) sources(ctx context.Context) hcl.Diagnostics {
	if c.stack.opts.Engine.Given != nil {
		return nil // it starts no processes
	}
	return stackruntime.Validate(ctx, c.stack.withoutProviders(c.config))
}

// outsideUnsupported returns the diagnostics that are not about modules for other versions of the
// engine, with those that they call: a mistake in one may be none with the version that it is for.
func (c checks) outsideUnsupported(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	loader := c.stack.sources.Loader(engine.Info{}, c.config, c.config.Resolver)
	inside := map[string]bool{}
	for _, dir := range c.config.ModuleDirs() {
		if !c.stack.opened.session.Abilities().Preparer.Unsupported(ctx, []string{dir}).HasErrors() {
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

// withEngine finds the mistakes of a configuration with the engine and providers, if those can
// be installed. It goes on in spite of modules that the engine was found not to support.
func (c checks) withEngine(ctx context.Context, unsupported hcl.Diagnostics) hcl.Diagnostics {
	opts, diags := c.stack.prepare(ctx, c.config, installing{known: unsupported})
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(stackruntime.Validate(ctx, opts))
}

// otherMistakes returns the mistakes in the configuration that a plan has not come to, if it ended
// with some. Where it ended with errors that are none, such as those of providers, there is nothing
// to say.
func (c checks) otherMistakes(ctx context.Context, opts stackruntime.Options, planned hcl.Diagnostics) hcl.Diagnostics {
	if !slices.ContainsFunc(planned, func(diag *hcl.Diagnostic) bool { return c.isMistake(ctx, opts, diag) }) {
		return nil
	}
	return slices.DeleteFunc(stackruntime.Validate(ctx, opts), func(diag *hcl.Diagnostic) bool {
		return diag.Severity != hcl.DiagError ||
			slices.ContainsFunc(planned, func(known *hcl.Diagnostic) bool { return isSameMistake(known, diag) })
	})
}

// isMistake reports whether an error is about the text of a module.
func (c checks) isMistake(ctx context.Context, opts stackruntime.Options, diag *hcl.Diagnostic) bool {
	if diag.Severity != hcl.DiagError || diag.Subject == nil {
		return false
	}
	if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok && data.Resource != "" {
		return false // it is about a resource, by its provider
	}
	return opts.Session.ValidateModule(ctx, filepath.Dir(c.stack.sources.Path(diag.Subject.Filename))).HasErrors()
}

// isSameMistake compares without details: while planning, they may reveal values.
func isSameMistake(a, b *hcl.Diagnostic) bool {
	return a.Summary == b.Summary && a.Subject != nil && b.Subject != nil && *a.Subject == *b.Subject
}
