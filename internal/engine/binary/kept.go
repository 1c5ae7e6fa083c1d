// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/internal/engine/binary/schemacache"
	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// KeptOptions are the parameters of [KeptSchemas].
type KeptOptions struct {
	StackDir           string
	WorkDir, SchemaDir string // as in [Options]
}

// Kept is what is known of a provider.
type Kept struct {
	Schema    *engine.ProviderSchema
	Functions map[string]*engine.Function // whether they may be called with unknown values is not known
}

// KeptSchemas returns what is known of installed providers without starting or reading any of them: the schemas that earlier operations have kept, of
// the engine that was last used with the working directory. What is not known is left out, for whatever reason.
func KeptSchemas(ctx context.Context, opts KeptOptions) map[stackaddrs.Provider]*Kept {
	engines := toolchain.Remembered(RecordFile(opts.WorkDir))
	if len(engines) == 0 {
		return nil
	}
	if opts.SchemaDir == "" {
		opts.SchemaDir = filepath.Join(opts.WorkDir, "schemas")
	}
	session := &Session{
		info: engines[0], stackDir: opts.StackDir, workDir: opts.WorkDir, installation: installationIn(opts.WorkDir),
		shared: &Shared{}, schemaCache: schemacache.In(opts.SchemaDir), log: slog.New(slog.DiscardHandler),
	}
	installed, err := session.installed()
	if err != nil {
		return nil
	}
	hashes := session.rememberedHashes(installed)
	schemas := map[stackaddrs.Provider]*Kept{}
	for _, one := range installed {
		provider, err := session.parseProvider(one.source())
		if err != nil {
			continue
		}
		if kept, err := session.keptSchema(ctx, session.schemaKey(hashes[one.path])); err == nil {
			schemas[provider] = &Kept{Schema: &engine.ProviderSchema{Config: describeBlock(kept.config)}, Functions: kept.functions()}
		}
	}
	return schemas
}

// functionsName is what the functions of a provider are kept as, which is the name of no type.
const functionsName = "functions"

// functions returns the functions of the provider, nil if they are not kept.
func (s *providerSchema) functions() map[string]*engine.Function {
	var written map[string]*tfjson.FunctionSignature
	data, err := s.entry.Type(functionsName)
	if err != nil || data == nil || json.Unmarshal(data, &written) != nil {
		return nil
	}
	functions := map[string]*engine.Function{}
	for name, one := range written {
		function := &engine.Function{Return: one.ReturnType, Summary: one.Summary, Deprecated: one.DeprecationMessage}
		for _, parameter := range one.Parameters {
			function.Parameters = append(function.Parameters, keptParameter(parameter))
		}
		if one.VariadicParameter != nil {
			variadic := keptParameter(one.VariadicParameter)
			function.Variadic = &variadic
		}
		functions[name] = function
	}
	return functions
}

func keptParameter(p *tfjson.FunctionParameter) engine.FunctionParameter {
	return engine.FunctionParameter{Name: p.Name, Type: p.Type, AllowNull: p.IsNullable}
}

// rememberedHashes returns the hashes of packages that are as they were when they were last hashed, by path.
func (e *Session) rememberedHashes(installed []installedProvider) map[string]string {
	known := installation.Records(e.installation.packages)
	hashes := map[string]string{}
	for _, one := range installed {
		if now, err := installation.Fingerprint(one.target); err == nil && known[one.path].Fingerprint == now {
			hashes[one.path] = known[one.path].Hash
		}
	}
	return hashes
}
