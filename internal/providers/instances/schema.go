// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"context"
	"errors"
	"time"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// ReadSchema starts a provider that nobody shares, asks for its schemas, and ends it. Each answer
// may take a minute. Warnings of the provider are dropped.
//
// Errors: those of [plugin.Start], [client.AskSchema] and [client.DecodeSchema].
func ReadSchema(ctx context.Context, program string, environ []string) (*schema.Provider, error) {
	process, err := plugin.Start(ctx, program, plugin.Options{Environ: environ, CallTimeout: time.Minute})
	if err != nil {
		return nil, err
	}
	defer process.End()
	answer, err := client.AskSchema(ctx, process)
	if err != nil {
		return nil, err
	}
	return client.DecodeSchema(answer)
}

// errNotAsked says that no process has given its schemas yet.
var errNotAsked = errors.New("no process was asked for the schemas")

// Schema returns the schemas of a provider, for which a process is started if they are not known.
func (p *Pool) Schema(ctx context.Context, pkg Package) (*schema.Provider, provider.Diagnostics) {
	if pkg.Address.IsBuiltin() {
		return p.builtIn.Schema(), nil
	}
	if kept, err := p.keptSchema(ctx, pkg); err == nil && kept != nil {
		return kept, nil
	}
	if asked, err := p.asked.Get(ctx, pkg, func() (*schema.Provider, error) { return nil, errNotAsked }); err == nil {
		return asked, nil
	}
	lease, diags := p.Unconfigured(ctx, pkg)
	if lease == nil {
		return nil, diags
	}
	defer lease.Release()
	return lease.Provider.Schema(), diags
}

// keptSchema returns the schemas that are on disk, nil if they are not.
func (p *Pool) keptSchema(ctx context.Context, pkg Package) (*schema.Provider, error) {
	return p.kept.Get(ctx, pkg, func() (*schema.Provider, error) {
		answer := p.files().load(pkg.Hash)
		if answer == nil {
			return nil, nil
		}
		decoded, err := client.DecodeSchema(answer)
		if err != nil {
			return nil, nil //nolint:nilerr // it is damaged, or of a version of cairn with a mistake
		}
		return decoded, nil
	})
}

// schemaOf returns the schemas of the provider in a process, which has been asked for them if it
// needs to be (rule S8).
func (p *Pool) schemaOf(ctx context.Context, pkg Package, process *plugin.Process) (*schema.Provider, error) {
	found, err := p.keptSchema(ctx, pkg)
	if err != nil {
		return nil, err
	}
	var justAsked bool
	if found == nil {
		found, err = p.asked.Get(ctx, pkg, func() (*schema.Provider, error) {
			justAsked = true
			return p.askSchema(ctx, pkg, process)
		})
		if err != nil {
			return nil, err
		}
	}
	if justAsked || found.Capabilities.SchemaOptional {
		return found, nil
	}
	return found, process.Invoke(ctx, plugin.GetSchema, &pluginv1.Empty{}, &pluginv1.Empty{}) // which does not decode the answer
}

func (p *Pool) askSchema(ctx context.Context, pkg Package, process *plugin.Process) (*schema.Provider, error) {
	if p.opts.FunctionsOnly {
		return client.AskFunctions(ctx, process)
	}
	answer, err := client.AskSchema(ctx, process)
	if err != nil {
		return nil, err
	}
	decoded, err := client.DecodeSchema(answer)
	if err != nil {
		return nil, err
	}
	_ = p.files().store(pkg.Hash, answer) //nolint:errcheck // that it was not stored costs time, no more
	return decoded, nil
}

func (p *Pool) files() schemaFiles { return schemaFilesIn(p.opts.SchemaDir) }
