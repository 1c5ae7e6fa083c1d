// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// hclProgram is a module read from the files of a directory.
type hclProgram struct {
	module    *engine.Module
	variables map[string]*variableConfig
	locals    map[string]*localConfig
	outputs   map[string]*outputConfig
	resources map[string]*resourceConfig
	checks    map[string]*checkConfig
	calls     map[string]*callConfig

	mu struct {
		sync.Mutex
		functions map[functionsKey]map[string]function.Function
	}
}

type functionsKey struct {
	timestamp time.Time
	applying  bool
}

// functionTable returns the functions for one kind of run, making the table at
// the first use: that costs more than many a run.
func (p *hclProgram) functionTable(run *execution) map[string]function.Function {
	key := functionsKey{run.timestamp, run.applying}
	p.mu.Lock()
	defer p.mu.Unlock()
	table, ok := p.mu.functions[key]
	if !ok {
		table = lang.Functions(lang.Options{
			BaseDir:       p.module.Dir,
			PlanTimestamp: run.timestamp,
			PureOnly:      !run.applying,
		})
		p.mu.functions = map[functionsKey]map[string]function.Function{key: table} // runs of one kind come together
	}
	return table
}

type variableConfig struct {
	rules []*ruleConfig
	rng   hcl.Range
}

type localConfig struct {
	value hcl.Expression
	rng   hcl.Range
}

type outputConfig struct {
	value         hcl.Expression
	dependsOn     []hcl.Traversal
	preconditions []*ruleConfig
	rng           hcl.Range
}

type resourceConfig struct {
	name            string
	count, forEach  hcl.Expression // nil when there is none
	input           hcl.Expression
	triggersReplace hcl.Expression
	dependsOn       []hcl.Traversal
	lifecycle       lifecycleConfig
	rng             hcl.Range
}

type lifecycleConfig struct {
	createBeforeDestroy, preventDestroy bool
	ignoreInput, ignoreTriggers         bool
	preconditions, postconditions       []*ruleConfig
}

// callConfig is a module block.
type callConfig struct {
	program   *hclProgram
	arguments map[string]hcl.Expression
	dependsOn []hcl.Traversal
	rng       hcl.Range
}

type checkConfig struct {
	rules []*ruleConfig
	rng   hcl.Range
}

// ruleConfig is a condition with the message for when it does not hold.
type ruleConfig struct {
	condition    hcl.Expression
	errorMessage hcl.Expression
	rng          hcl.Range
}

// loadDir reads the module of a directory. The program is nil if there is none.
func loadDir(dir, stackDir string) (program, hcl.Diagnostics) {
	p, diags := loadModule(dir, stackDir, nil)
	if p == nil {
		return nil, diags
	}
	return p, diags
}

// loadModule reads a module and those it calls. callers are the directories of
// the modules that lead to it.
func loadModule(dir, stackDir string, callers []string) (*hclProgram, hcl.Diagnostics) {
	names, err := moduleFiles(dir)
	if err != nil || len(names) == 0 {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "No module at this source",
			Detail:   "There are no .tf files in the directory " + displayName(dir, stackDir) + ".",
		}}
	}
	p := &hclProgram{
		module: &engine.Module{
			Dir:          dir,
			Variables:    map[string]*engine.Variable{},
			Outputs:      map[string]*engine.Output{},
			Slots:        map[engine.ProviderSlot]*engine.Slot{},
			Requirements: map[stackaddrs.Provider][]string{},
		},
		variables: map[string]*variableConfig{},
		locals:    map[string]*localConfig{},
		outputs:   map[string]*outputConfig{},
		resources: map[string]*resourceConfig{},
		checks:    map[string]*checkConfig{},
		calls:     map[string]*callConfig{},
	}
	d := decoder{program: p, stackDir: stackDir, path: append(slices.Clone(callers), dir)}
	for _, name := range names {
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, d.diags.Append(failure(name, err))
		}
		var file *hcl.File
		var diags hcl.Diagnostics
		if display := displayName(path, stackDir); strings.HasSuffix(name, ".json") {
			file, diags = safehcl.ParseJSON(content, display)
		} else {
			file, diags = safehcl.ParseConfig(content, display, hcl.InitialPos)
		}
		d.diags = d.diags.Extend(diags)
		if file != nil {
			d.decodeFile(file.Body)
		}
	}
	if !d.diags.HasErrors() {
		d.diags = d.diags.Extend(p.checkReferences())
	}
	if !d.diags.HasErrors() {
		p.spreadCreateBeforeDestroy()
	}
	return p, d.diags
}

// moduleFiles returns the names of a directory's configuration files, sorted.
func moduleFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		isConfig := strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tf.json")
		if isConfig && !entry.IsDir() && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// displayName is the name of a file or directory in diagnostics.
func displayName(path, stackDir string) string {
	base := stackDir
	if base == "" {
		var err error
		if base, err = os.Getwd(); err != nil {
			return path
		}
	}
	if name, err := filepath.Rel(base, path); err == nil {
		return filepath.ToSlash(name)
	}
	return path
}

func (p *hclProgram) describe() *engine.Module { return p.module }

func (p *hclProgram) defersDestroy(string, string, map[string]cty.Value) string { return "" }

func (p *hclProgram) preventsDestroy(module, resource string) bool {
	for module != "" {
		name, rest, _ := strings.Cut(strings.TrimPrefix(module, "module."), ".")
		call, ok := p.calls[name]
		if !ok {
			return false
		}
		p, module = call.program, rest
	}
	r, ok := p.resources[resource]
	return ok && r.lifecycle.preventDestroy
}
