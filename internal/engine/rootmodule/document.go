// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/terraformplan"
	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// DocumentOptions are what a document of a plan needs besides the plan.
type DocumentOptions struct {
	Dir       string // of the module, initialized
	Environ   []string
	SchemaDir string // for schemas of providers; "" for none
}

// NewDocument returns terraform's document of the plan file of a root module. Its providers are
// started for their schemas if these are not known yet: those that the lock file in the plan names.
//
// A plan file has the texts of the module, which must still be those of the directory.
func NewDocument(ctx context.Context, text []byte, opts DocumentOptions) (*terraformplan.Document, error) {
	if _, isLatched := readLatchedPlan(text); isLatched {
		return nil, failure.Error("Plan with unknown inputs", "This plan was made in a working copy of the module, before its inputs were "+
			"known, and terraform has no document of such a plan. Apply the plan of the module that it has its inputs from, and make a new plan.")
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, ErrNotPlan
	}
	dir := initdir.Dir{Path: opts.Dir, Environ: opts.Environ}
	if err := checkSnapshot(archive, opts.Dir); err != nil {
		return nil, err
	}
	schemas, err := lockedSchemas(ctx, archive, dir, opts)
	if err != nil {
		return nil, failure.Error("Provider schema unavailable", "The providers of %s are needed for the schemas of its resources: %s. "+
			"Run init there.", opts.Dir, failure.Reason(err))
	}
	plan, err := planfile.Read(text, planfile.Options{Schema: valuesBy(schemas)})
	if err != nil {
		return nil, ErrNotPlan
	}
	modules := module.OptionsOf(engine.Info{Name: toolchain.Terraform, Version: plan.EngineVersion}, opts.Dir, installedIn(dir))
	modules.Standalone = true
	tree, _ := module.NewLoader(modules).Load(opts.Dir) //nolint:errcheck // its mistakes were reported when it was planned
	return documentOf(plan, tree, schemas)
}

// documentOf makes the document of a plan as that of a component without an address.
func documentOf(plan *planfile.Plan, tree *module.Tree, schemas map[stackaddrs.Provider]*schema.Provider) (*terraformplan.Document, error) {
	whole := modulePlan(plan, false)
	c := whole.Components[0]
	c.Engine = engine.Info{Name: toolchain.Terraform, Version: plan.EngineVersion}
	c.Applyable, c.Complete, c.RefreshedState, c.Inputs = plan.Applyable, plan.Complete, plan.PriorState, plan.Variables
	c.Outputs = map[string]cty.Value{}
	before := map[string]cty.Value{}
	for name, output := range whole.Outputs {
		if output.Action != stackplan.Delete {
			c.Outputs[name] = output.After
		}
		if bare, _ := output.Before.Unmark(); !bare.IsNull() {
			before[name] = marks.Declared(bare, plan.Outputs[name].Sensitive, false)
		}
	}
	doc, err := terraformplan.New(terraformplan.Source{
		Plan: whole, Component: c, Tree: tree, Schemas: schemas,
		Prior: &stackstate.State{Components: map[stackaddrs.AbsComponentInstance]*stackstate.Component{c.Addr: {Outputs: before}}},
	})
	if err != nil {
		return nil, err
	}
	doc.Errored = plan.Errored
	return doc, nil
}

// valuesBy returns the schemas of values that a plan file is decoded by.
func valuesBy(schemas map[stackaddrs.Provider]*schema.Provider) (
	find func(stackaddrs.Provider, stackaddrs.ResourceMode, string) *valueschema.Schema,
) {
	return func(provider stackaddrs.Provider, mode stackaddrs.ResourceMode, name string) *valueschema.Schema {
		known := schemas[provider]
		if known == nil {
			return nil
		}
		found := known.Managed[name]
		if mode == stackaddrs.DataResource {
			found = known.Data[name]
		}
		if found == nil || found.Block == nil {
			return nil
		}
		return valueschema.Of(found.Block)
	}
}

// checkSnapshot compares the files of the modules in a plan with those on disk.
func checkSnapshot(archive *zip.Reader, dir string) error {
	manifest, err := member(archive, "tfconfig/modules.json")
	if err != nil {
		return ErrNotPlan
	}
	var recorded []installedModule
	if err := json.Unmarshal(manifest, &recorded); err != nil {
		return ErrNotPlan
	}
	for _, one := range recorded {
		prefix := "tfconfig/m-" + one.Key + "/"
		for _, file := range archive.File {
			name, ok := strings.CutPrefix(file.Name, prefix)
			if !ok || strings.Contains(name, "/") {
				continue
			}
			planned, err := member(archive, file.Name)
			if err != nil {
				return ErrNotPlan
			}
			at := filepath.FromSlash(one.Dir)
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			if now, err := os.ReadFile(filepath.Join(at, name)); err != nil || !bytes.Equal(now, planned) {
				return failure.Error("Configuration changed since planning", "The file %s is not the one that this plan was made from. Use a "+
					"checkout of the commit that it was made from, or make a new plan.", filepath.Join(at, name))
			}
		}
	}
	return nil
}

// lockedSchemas returns the schemas of the providers that the lock file in a plan names, whose
// packages must be those, and of the builtin one.
func lockedSchemas(ctx context.Context, archive *zip.Reader, dir initdir.Dir, opts DocumentOptions,
) (_ map[stackaddrs.Provider]*schema.Provider, err error) {
	packages := []instances.Package{{Address: stackaddrs.BuiltinProvider}}
	if text, err := member(archive, locks.FileName); err == nil { // a module without providers has none
		locked, diags := locks.Parse(text, locks.FileName)
		if diags.HasErrors() {
			return nil, diags
		}
		found, err := packagecache.Dir{Path: filepath.Join(dir.DataDir(), "providers"), Platform: release.CurrentPlatform}.Selected(locked)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			program, err := one.Executable()
			if err != nil {
				return nil, err
			}
			hash, err := one.Hash()
			if err != nil {
				return nil, err
			}
			packages = append(packages, instances.Package{Address: one.ID.Provider, Program: program, Hash: string(hash)})
		}
	}
	pool, err := instances.New(instances.Options{Environ: environ.WithoutOwn(opts.Environ), SchemaDir: opts.SchemaDir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	schemas := map[stackaddrs.Provider]*schema.Provider{}
	for _, one := range packages {
		described, said := pool.Schema(ctx, one)
		for _, problem := range said {
			if said.HasErrors() {
				return nil, fmt.Errorf("%s: %s: %s", one.Address, problem.Summary, problem.Detail)
			}
		}
		schemas[one.Address] = described
	}
	return schemas, nil
}
