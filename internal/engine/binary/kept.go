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
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// KeptOptions are the parameters of [KeptSchemas].
type KeptOptions struct {
	StackDir           string
	WorkDir, SchemaDir string // as in [Options]
}

// Kept is the kept schema and functions of a provider.
type Kept struct {
	Schema    *engine.ProviderSchema
	Functions map[string]*engine.Function // whether they may be called with unknown values is not known
}

// KeptSchemas returns the schemas of installed providers without starting or reading any of them:
// those that earlier operations have kept, of the engine that was last used with the working
// directory. Providers without a kept schema are left out, for whatever reason.
func KeptSchemas(ctx context.Context, opts KeptOptions) map[stackaddrs.Provider]*Kept {
	engines := toolchain.Remembered(RecordFile(opts.WorkDir))
	if len(engines) == 0 {
		return nil
	}
	if opts.SchemaDir == "" {
		opts.SchemaDir = filepath.Join(opts.WorkDir, "schemas")
	}
	session := &Session{info: engines[0], shared: &Shared{}, schemaCache: schemacache.In(opts.SchemaDir), log: slog.New(slog.DiscardHandler)}
	installer := install.New(install.Options{StackDir: opts.StackDir, WorkDir: opts.WorkDir, Engine: session.info.Name})
	installed, err := installer.Packages()
	if err != nil {
		return nil
	}
	hashes := install.In(opts.WorkDir).Known(installed)
	schemas := map[stackaddrs.Provider]*Kept{}
	for _, one := range installed {
		if kept, err := session.keptSchema(ctx, session.schemaKey(hashes[one.Path])); err == nil {
			schemas[installer.Address(one)] = &Kept{Schema: &engine.ProviderSchema{Config: kept.config.Describe()}, Functions: kept.functions()}
		}
	}
	return schemas
}

// functionsName is the key of a provider's functions among its kept schemas, which is the name of
// no type.
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
