// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/binary/schemacache"
	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schemajson"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// providerSchemas has the schemas of all installed providers.
type providerSchemas struct {
	configs  map[stackaddrs.Provider]*schema.Block
	bySource map[string]*providerSchema // as the engine writes it
}

// providerSchema has the schemas of one package. Stacks may share it.
type providerSchema struct {
	entry  *schemacache.Entry
	config *schema.Block

	mu struct {
		sync.Mutex
		types map[string]*valueschema.Schema // by name in the entry; nil if there is none
	}
}

func newProviderSchema(entry *schemacache.Entry) (*providerSchema, error) {
	var written tfjson.SchemaBlock
	config, err := entry.Config()
	if err == nil && len(config) > 0 {
		err = json.Unmarshal(config, &written)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a provider schema: %w", err)
	}
	known := &providerSchema{entry: entry, config: schemajson.DecodeBlock(&written)}
	known.mu.types = map[string]*valueschema.Schema{}
	return known, nil
}

// ProviderSchema implements [engine.Session].
func (e *Session) ProviderSchema(ctx context.Context, provider stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	if provider.IsBuiltin() {
		return &engine.ProviderSchema{}, nil
	}
	schemas, err := e.schemas(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Provider schema unavailable", err)}
	}
	block, ok := schemas.configs[provider]
	if !ok {
		return nil, hcl.Diagnostics{notInstalled(provider)}
	}
	return &engine.ProviderSchema{Config: block.Describe()}, nil
}

// schemas returns the schemas of all installed providers. The binary is asked once for each package
// of a provider.
func (e *Session) schemas(ctx context.Context) (*providerSchemas, error) {
	return e.installed.Get(ctx, e.installations.Load(), func() (*providerSchemas, error) { return e.loadSchemas(ctx) })
}

func (e *Session) loadSchemas(ctx context.Context) (*providerSchemas, error) {
	installed, err := e.installer.Packages()
	if err != nil {
		return nil, err
	}
	schemas := &providerSchemas{configs: map[stackaddrs.Provider]*schema.Block{}, bySource: map[string]*providerSchema{}}
	hashes := e.installer.Hashes(ctx, installed)
	var missing []install.Package
	for _, one := range installed {
		schema, err := e.keptSchema(ctx, e.schemaKey(hashes[one.Path]))
		e.log.DebugContext(ctx, "schemas of a provider", "package", one.Path, "kept", err == nil)
		switch {
		case errors.Is(err, errNotKept):
			missing = append(missing, one)
			continue
		case err != nil:
			return nil, err
		}
		schemas.add(e, one, schema)
	}
	if len(missing) == 0 {
		return schemas, nil
	}
	asked, err := e.missingSchemas(ctx, missing, hashes)
	if err != nil {
		return nil, err
	}
	for _, one := range missing {
		schemas.add(e, one, asked[one.Source()])
	}
	return schemas, nil
}

// errNotKept is about schemas that are neither in the memory nor on the disk.
var errNotKept = errors.New("the schemas are not kept")

// keptSchema returns the schema that is kept under a key, which is empty for a package that cannot
// be read.
//
// Errors: [errNotKept].
func (e *Session) keptSchema(ctx context.Context, key string) (*providerSchema, error) {
	if key == "" {
		return nil, errNotKept
	}
	return e.shared.schemas.Get(ctx, key, func() (*providerSchema, error) {
		entry := e.schemaCache.Load(key)
		if entry == nil {
			return nil, errNotKept
		}
		return newProviderSchema(entry)
	})
}

// missingSchemas asks the binary for schemas that are not kept, and keeps them. The results are by
// source.
func (e *Session) missingSchemas(ctx context.Context, missing []install.Package,
	hashes map[string]string,
) (map[string]*providerSchema, error) {
	ask := func() (map[string]*providerSchema, error) {
		e.working("Reading schemas of " + describeProviders(missing))
		asked, err := e.askSchemas(ctx, missing)
		if err != nil {
			return nil, err
		}
		schemas := make(map[string]*providerSchema, len(missing))
		for _, one := range missing {
			if schemas[one.Source()], err = e.keepSchema(ctx, e.schemaKey(hashes[one.Path]), asked[one.Source()]); err != nil {
				return nil, err
			}
		}
		return schemas, nil
	}
	keys := make([]string, len(missing))
	for i, one := range missing {
		keys[i] = e.schemaKey(hashes[one.Path])
	}
	if slices.Contains(keys, "") {
		return ask()
	}
	return e.shared.asked.Get(ctx, strings.Join(keys, " "), ask)
}

// keepSchema keeps the schemas that the binary has printed, on the disk and for other stacks,
// unless the key is empty.
func (e *Session) keepSchema(ctx context.Context, key string, asked schemacache.Schemas) (*providerSchema, error) {
	cache := e.schemaCache
	if key == "" {
		cache = schemacache.Cache{}
	}
	entry, err := cache.Store(key, asked)
	if entry == nil {
		return nil, fmt.Errorf("storing provider schemas: %w", err)
	}
	schema, err := newProviderSchema(entry) // that it was not stored costs time, no more
	if err != nil || key == "" {
		return schema, err
	}
	return e.shared.schemas.Get(ctx, key, func() (*providerSchema, error) { return schema, nil })
}

func describeProviders(providers []install.Package) string {
	names := make([]string, len(providers))
	for i, p := range providers {
		names[i] = p.Source() + " " + filepath.Base(filepath.Dir(p.Path))
	}
	return strings.Join(names, ", ")
}

func (s *providerSchemas) add(e *Session, one install.Package, schema *providerSchema) {
	s.configs[e.installer.Address(one)], s.bySource[one.Source()] = schema.config, schema
}

// schemaKey returns the key under which the schemas of a package are kept; "" for one that cannot
// be read. Their form depends on the engine.
func (e *Session) schemaKey(packageHash string) string {
	if packageHash == "" {
		return ""
	}
	return hashOf([]byte(packageHash + "\x00" + e.info.Name + "\x00" + e.info.Version))[:40]
}

// askSchemas runs the binary, which starts the providers. The results are by source.
//
// Each schema is kept on its own: those of all resource types of a large provider take seconds to
// decode.
func (e *Session) askSchemas(ctx context.Context, providers []install.Package) (_ map[string]schemacache.Schemas, err error) {
	dir, err := rundir.New(e.runsDir, "provider schemas")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	data, err := e.schemaModule(dir.Path(), providers)
	if err != nil {
		return nil, fmt.Errorf("asking %s for provider schemas: %w", e.info.Name, err)
	}
	stdout, stderr, err := e.binary.Run(ctx, command.Invocation{
		Dir: e.stackDir, Env: map[string]string{"TF_DATA_DIR": data}, Args: []string{
			"-chdir=" + dir.Path(), "providers", "schema",
			"-json", "-no-color",
		},
	})
	if err != nil {
		return nil, fmt.Errorf("asking %s for provider schemas: %w: %s", e.info.Name, err, command.Terse(command.Unframe(string(stderr))))
	}
	var out struct {
		Schemas map[string]struct {
			Provider struct {
				Block json.RawMessage `json:"block"`
			} `json:"provider"`
			Resources map[string]json.RawMessage `json:"resource_schemas"`
			Data      map[string]json.RawMessage `json:"data_source_schemas"`
			Functions json.RawMessage            `json:"functions"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		return nil, fmt.Errorf("reading provider schemas: %w", err)
	}
	all := make(map[string]schemacache.Schemas, len(providers))
	for source, schema := range out.Schemas {
		types := make(map[string]json.RawMessage, len(schema.Resources)+len(schema.Data))
		for name, one := range schema.Resources {
			types[typeName(stackaddrs.ManagedResource, name)] = one
		}
		for name, one := range schema.Data {
			types[typeName(stackaddrs.DataResource, name)] = one
		}
		if len(schema.Functions) > 0 {
			types[functionsName] = schema.Functions
		}
		all[source] = schemacache.Schemas{Config: schema.Provider.Block, Types: types}
	}
	return all, nil
}

func typeName(mode stackaddrs.ResourceMode, name string) string { return mode.String() + "/" + name }

// schemaModule makes a directory the module that needs just these providers, and returns the data
// directory to go with it.
func (e *Session) schemaModule(dir string, providers []install.Package) (data string, err error) {
	lock, err := e.installer.LockFile()
	if err != nil {
		return "", err
	}
	if diags := safehcl.Check(lock, locks.FileName, hcl.InitialPos); diags.HasErrors() {
		return "", diags
	}
	file, diags := hclwrite.ParseConfig(lock, locks.FileName, hcl.InitialPos)
	if diags.HasErrors() {
		return "", diags
	}
	required := map[string]any{}
	for i, provider := range providers {
		required[fmt.Sprintf("p%d", i)] = map[string]any{"source": provider.Source()}
	}
	for _, block := range file.Body().Blocks() {
		wanted := func(p install.Package) bool { return slices.Equal(block.Labels(), []string{p.Source()}) }
		if !slices.ContainsFunc(providers, wanted) {
			file.Body().RemoveBlock(block)
		}
	}
	root, err := json.Marshal(map[string]any{"terraform": map[string]any{"required_providers": required}})
	if err != nil {
		return "", err
	}
	data = filepath.Join(dir, "data")
	return data, errors.Join(
		os.WriteFile(filepath.Join(dir, "main.tf.json"), root, 0o600),
		os.WriteFile(filepath.Join(dir, locks.FileName), file.Bytes(), 0o600),
		os.Mkdir(data, 0o700),
		fillDataDir(data, []byte(`{"Modules":[{"Key":"","Source":"","Dir":"."}]}`), providers),
	)
}

// ofType returns the schema of the values of a resource type or data source, nil if there is none.
func (s *providerSchemas) ofType(source string, mode stackaddrs.ResourceMode, name string) (*valueschema.Schema, error) {
	schema := s.bySource[source]
	if schema == nil {
		return nil, nil
	}
	return schema.ofType(typeName(mode, name))
}

func (s *providerSchema) ofType(name string) (*valueschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, known := s.mu.types[name]; known {
		return schema, nil
	}
	data, err := s.entry.Type(name)
	if err != nil {
		return nil, fmt.Errorf("reading a provider schema: %w", err)
	}
	var schema *valueschema.Schema
	if data != nil {
		var written tfjson.Schema
		if err := json.Unmarshal(data, &written); err != nil {
			return nil, fmt.Errorf("reading a provider schema: %w", err)
		}
		schema = valueschema.New(&written)
	}
	s.mu.types[name] = schema
	return schema, nil
}

// readPlan decodes a plan file. Attributes that only schemas call sensitive are then known to be
// so.
func (e *Session) readPlan(ctx context.Context, data []byte) (*planfile.Plan, error) {
	return e.readPlanBy(data, func(provider stackaddrs.Provider, mode stackaddrs.ResourceMode, name string) (*valueschema.Schema, error) {
		return e.schemaOf(ctx, provider, mode, name)
	})
}

// schemaOf returns the schema of the values of a resource type or data source, nil if there is
// none.
func (e *Session) schemaOf(ctx context.Context, provider stackaddrs.Provider, mode stackaddrs.ResourceMode,
	name string,
) (*valueschema.Schema, error) {
	schemas, err := e.schemas(ctx)
	if err != nil {
		return nil, err
	}
	return schemas.ofType(provider.String(), mode, name)
}

// ResourceType implements [engine.TypeDescriber].
func (e *Session) ResourceType(ctx context.Context, provider stackaddrs.Provider, mode stackaddrs.ResourceMode,
	name string,
) (cty.Type, error) {
	if provider.IsBuiltin() { // the newest version of it, of which older ones have a part
		return builtin.TypeOf(mode, name), nil
	}
	schema, err := e.schemaOf(ctx, provider, mode, name)
	if err != nil || schema == nil {
		return cty.NilType, err
	}
	return schema.Type, nil
}

// readPlanBy decodes a plan file by the schemas that are found for other providers than the builtin
// one: its values carry their types, and a terraform in which a part of them is sensitive marks
// that. The first error is the last time that one is looked for.
func (e *Session) readPlanBy(data []byte,
	find func(stackaddrs.Provider, stackaddrs.ResourceMode, string) (*valueschema.Schema, error),
) (*planfile.Plan, error) {
	var schemaErr error
	plan, err := planfile.Read(data, planfile.Options{
		Schema: func(provider stackaddrs.Provider, mode stackaddrs.ResourceMode, name string) *valueschema.Schema {
			if provider.IsBuiltin() || schemaErr != nil {
				return nil
			}
			var schema *valueschema.Schema
			schema, schemaErr = find(provider, mode, name)
			return schema
		},
	})
	return plan, errors.Join(err, schemaErr)
}

// blockTypes returns the nested blocks in the providers' schemas, which package workcopy needs.
func (e *Session) blockTypes(ctx context.Context,
	providers map[engine.ProviderSlot]engine.ProviderConfig,
) (workcopy.BlockTypes, hcl.Diagnostics) {
	if !mayHaveBlocks(providers) {
		return nil, nil
	}
	schemas, err := e.schemas(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Provider schema unavailable", err)}
	}
	return func(provider stackaddrs.Provider) map[string]bool {
		blocks := map[string]bool{}
		if block := schemas.configs[provider]; block != nil {
			for _, nested := range block.Blocks {
				blocks[nested.Name] = true
			}
		}
		return blocks
	}, nil
}

func mayHaveBlocks(providers map[engine.ProviderSlot]engine.ProviderConfig) bool {
	for _, config := range providers {
		if config.Config == cty.NilVal || !config.Config.Type().IsObjectType() {
			continue
		}
		for _, ty := range config.Config.Type().AttributeTypes() {
			if !ty.IsPrimitiveType() {
				return true
			}
		}
	}
	return false
}
