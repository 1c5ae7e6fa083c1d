// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// The files of a working copy that are named to the engine.
const (
	VariablesFile = "zz_stack_inputs.tfvars.json"
	StateFile     = "terraform.tfstate"
	LockFile      = ".terraform.lock.hcl"

	generatedFile = "zz_stack.tf.json"
	overrideFile  = "zz_stack_override.tf.json"
	latchFile     = ".stack-inputs.tfstate"
	standInDir    = "zz_stack_stand_ins"
)

// Spec is the purpose and the contents of a working copy.
type Spec struct {
	Dir    string // where to make it; must not exist
	Tree   *module.Tree
	Layout *Layout

	Timestamp time.Time    // the result of plantimestamp(); zero: as the engine decides
	State     engine.State // empty if there is none
	Lock      []byte       // content of the provider lock file; empty if there is none

	// Inputs and Providers are the values known while planning; see [engine.PlanRequest]. An apply has
	// Shape instead, and Providers only to place the diagnostics about them.
	Inputs    map[string]cty.Value
	Providers map[engine.ProviderSlot]engine.ProviderConfig

	// BlockTypes reports which arguments of providers are nested blocks. May be nil if there are none.
	BlockTypes BlockTypes

	// Shape is the one of the plan that is to be applied.
	Shape *Shape

	// ByFile makes the latch a file that is read by a function, in place of a data source, so that
	// nothing of it is in the state. Values of variables without a type are then those that a file of
	// variables would give them.
	ByFile bool

	// Abspath is the absolute directory from which the function abspath starts; "" for that of the
	// copy. Only for systems whose absolute paths start with a slash.
	Abspath string

	// ForValidation is set if the engine will only validate the module. Its diagnostics about
	// generated files, such as provider configurations without required arguments, are then dropped.
	ForValidation bool
}

// Copy is a working copy.
type Copy struct {
	Root  string // the directory to run the engine in
	Shape *Shape

	top         string             // the directory that all is below
	files       map[string]*edited // changed files, as the engine names them
	validations []validation
	byFile      bool // see [Spec]
	dropped     bool // diagnostics about generated files are dropped
	layout      *Layout
	tree        *module.Tree
	providers   map[engine.ProviderSlot]engine.ProviderConfig
	displays    map[string]string // names of the module's files for people, as the engine names them
	variables   []byte            // the contents of VariablesFile
}

// Build makes a working copy.
func Build(spec *Spec) (*Copy, error) {
	gen := &generated{shape: spec.Shape}
	var providers *providerBlocks
	if spec.Shape == nil {
		var err error
		if gen, err = shapeInputs(spec.Tree.Module, spec.Inputs, spec.ByFile); err != nil {
			return nil, err
		}
		if providers, err = gen.shapeProviders(spec); err != nil {
			return nil, err
		}
	}
	c := &Copy{
		Root:      filepath.Join(spec.Dir, spec.Layout.Root),
		Shape:     gen.shape,
		top:       spec.Dir,
		files:     map[string]*edited{},
		layout:    spec.Layout,
		tree:      spec.Tree,
		dropped:   spec.ForValidation,
		providers: spec.Providers,
		byFile:    spec.ByFile,
		displays:  map[string]string{},
	}
	if err := c.rewrite(spec); err != nil {
		return nil, fmt.Errorf("preparing a working copy: %w", err)
	}
	if err := c.write(spec, gen, providers); err != nil {
		return nil, fmt.Errorf("preparing a working copy: %w", err)
	}
	return c, nil
}

// Link makes a copy in which nothing is changed or generated: the directory of a component whose
// modules the caller evaluates itself.
func Link(dir string, tree *module.Tree, layout *Layout) (*Copy, error) {
	c := &Copy{Root: filepath.Join(dir, layout.Root), top: dir, layout: layout, tree: tree}
	if err := layout.build(dir, func(string) bool { return false }); err != nil {
		return nil, fmt.Errorf("preparing a working copy: %w", err)
	}
	return c, nil
}

// rewrite changes the files that can't be linked to.
func (c *Copy) rewrite(spec *Spec) error {
	r := &rewriter{latched: map[string]bool{}, timestamp: spec.Timestamp, dir: filepath.ToSlash(spec.Abspath)}
	for _, name := range c.Shape.Latched {
		r.latched[name] = true
	}
	if err := c.rewriteDirectory(r, spec.Tree.Root.Directory, "."); err != nil {
		return err
	}
	seen := map[string]bool{".": true}
	for _, node := range spec.Tree.Nodes {
		if seen[node.Path] {
			continue
		}
		seen[node.Path] = true
		if err := c.rewriteDirectory(r, node.Directory, node.Path); err != nil {
			return err
		}
	}
	c.validations = r.validations
	return nil
}

// rewriteDirectory changes the files of a directory, which is at a path in the copy.
func (c *Copy) rewriteDirectory(r *rewriter, dir *module.Directory, at string) error {
	inRoot := at == "."
	for _, file := range dir.Files {
		name := path.Join(at, file.Name)
		c.displays[name] = file.Display
		if !r.concerns(file, inRoot) {
			continue
		}
		var outer, inner *edited
		var err error
		if body, native := file.Native(); native {
			outer, inner = r.native(file, body, inRoot)
		} else if outer, inner, err = r.json(file, inRoot); err != nil {
			return err
		}
		if string(outer.content) != string(file.Source) {
			c.files[name] = outer
		}
		if inner != nil {
			c.files[path.Join(latchDir, file.Name)] = inner
		}
	}
	return nil
}

func (c *Copy) write(spec *Spec, gen *generated, providers *providerBlocks) error {
	if err := os.MkdirAll(spec.Dir, 0o700); err != nil {
		return err
	}
	err := spec.Layout.build(spec.Dir, func(rel string) bool {
		name, err := filepath.Rel(spec.Layout.Root, rel)
		return err == nil && c.files[filepath.ToSlash(name)] != nil
	})
	if err != nil {
		return err
	}
	if len(c.Shape.Latched) > 0 {
		if err := os.Mkdir(filepath.Join(c.Root, latchDir), 0o700); err != nil {
			return err
		}
	}
	for name, file := range c.files {
		if err := c.writeFile(name, file.content); err != nil {
			return err
		}
	}
	for _, standIn := range spec.Tree.StandIns {
		if err := os.MkdirAll(filepath.Join(c.Root, filepath.FromSlash(standInPath(standIn))), 0o700); err != nil {
			return err
		}
		if err := c.writeFile(path.Join(standInPath(standIn), "main.tf.json"), standIn.Content); err != nil {
			return err
		}
	}
	// The engine would create a file that others may read; an empty one is not a state for it.
	if err := c.writeFile(StateFile, spec.State); err != nil {
		return err
	}
	if len(spec.Lock) > 0 {
		if err := c.writeFile(LockFile, spec.Lock); err != nil {
			return err
		}
	}
	if spec.Shape != nil {
		return nil // the saved plan has the configuration
	}
	return c.writeGenerated(gen, providers)
}

func (c *Copy) writeFile(name string, content []byte) error {
	return os.WriteFile(filepath.Join(c.Root, filepath.FromSlash(name)), content, 0o600)
}

func (c *Copy) writeJSON(name string, content map[string]any) error {
	if len(content) == 0 {
		return nil
	}
	// Each argument has a line of its own, so that messages about it can be told apart.
	text, err := json.MarshalIndent(content, "", " ")
	if err != nil {
		return err
	}
	return c.writeFile(name, text)
}

func (c *Copy) writeGenerated(gen *generated, providers *providerBlocks) error {
	main, override := map[string]any{}, map[string]any{}
	if len(gen.variables) > 0 {
		main["variable"] = gen.variables
	}
	if len(providers.blocks) > 0 {
		main["provider"] = providers.blocks
	}
	if len(providers.required) > 0 {
		target := main
		if c.tree.Root.HasRequiredProviders {
			target = override
		}
		target["terraform"] = map[string]any{"required_providers": providers.required}
	}
	switch {
	case !c.Shape.NeedsLatch():
	case c.byFile:
		main["locals"] = map[string]any{latchName: "${jsondecode(file(\"./" + latchFile + "${substr(uuid(), 0, 0)}\"))}"}
	default:
		main["data"] = map[string]any{"terraform_remote_state": map[string]any{latchName: map[string]any{
			"backend": "local",
			"config":  map[string]any{"path": "./" + latchFile + "${substr(uuid(), 0, 0)}"},
		}}}
	}
	if len(c.Shape.Latched) > 0 {
		call := map[string]any{"source": "./" + latchDir}
		for name, expression := range gen.arguments {
			call[name] = "${" + expression + "}"
		}
		main["module"] = map[string]any{latchName: call}
		if err := c.writeJSON(path.Join(latchDir, "zz_outputs.tf.json"), map[string]any{"output": c.latchOutputs(gen)}); err != nil {
			return err
		}
	}
	outputs := map[string]any{}
	for i, rule := range c.validations {
		main["output"] = outputs
		outputs[checkName(i)] = map[string]any{
			"value":        nil,
			"precondition": map[string]any{"condition": rule.condition, "error_message": rule.errorMessage},
		}
	}
	if err := c.writeJSON(generatedFile, main); err != nil {
		return err
	}
	c.addOverrides(gen, override)
	if err := c.writeJSON(overrideFile, override); err != nil {
		return err
	}
	c.variables = mustMarshal(gen.values)
	return nil
}

func (c *Copy) latchOutputs(gen *generated) map[string]any {
	outputs := map[string]any{}
	for _, name := range c.Shape.Latched {
		value := "var." + name
		if function := gen.refined[name]; function != "" {
			value = function + "(" + value + ")"
		}
		output := map[string]any{"value": "${" + value + "}"}
		if c.tree.Root.Variables[name].Ephemeral {
			output["ephemeral"] = true
		}
		outputs[name] = output
	}
	return outputs
}

func (c *Copy) addOverrides(gen *generated, override map[string]any) {
	variables := map[string]any{}
	for _, name := range gen.sensitive {
		variables[name] = map[string]any{"sensitive": true}
	}
	if len(variables) > 0 {
		override["variable"] = variables
	}
}

// WriteFinal writes the values that the engine needs while it applies a plan: the content of the
// latch. The values of ephemeral variables are those that [Copy.ShareVariables] then shares.
//
// Values that are not known yet become null if destroying is set, which does not depend on them.
//
// Errors: values that the plan expects are missing, unknown, or contradict their refinements in the
// plan.
func (c *Copy) WriteFinal(inputs map[string]cty.Value, providers map[engine.ProviderSlot]engine.ProviderConfig, destroying bool) error {
	if c.Shape.NeedsLatch() {
		content, err := c.latchState(inputs, destroying)
		if c.byFile {
			content, err = c.latchValues(inputs)
		}
		if err != nil {
			return err
		}
		if err := c.writeFile(latchFile, content); err != nil {
			return err
		}
	}
	values := map[string]json.RawMessage{}
	for _, name := range c.Shape.Ephemeral {
		value, err := finalEphemeral(inputs[name])
		if err == nil && value.IsNull() {
			err = errors.New("it is null, but was not while planning")
		}
		if err != nil {
			return fmt.Errorf("input %q: %w", name, err)
		}
		values[name] = plainJSON(value)
	}
	for _, name := range c.Shape.EphemeralWrapped {
		value, err := finalEphemeral(inputs[name])
		if err != nil {
			return fmt.Errorf("input %q: %w", name, err)
		}
		values[ephemeralName(name)] = wrapped(value)
	}
	for _, leaf := range c.Shape.Providers {
		value, err := at(providers[leaf.Slot].Config, leaf.Path)
		if err == nil {
			value, err = finalEphemeral(value)
		}
		if err != nil {
			return fmt.Errorf("provider configuration %s: %w", leaf.Slot, err)
		}
		values[leaf.Variable] = wrapped(value)
	}
	c.variables = mustMarshal(values)
	return nil
}

// finalEphemeral returns the value without marks.
func finalEphemeral(value cty.Value) (cty.Value, error) {
	if value == cty.NilVal {
		return cty.NilVal, errors.New("no value")
	}
	value, _ = value.UnmarkDeep()
	if !value.IsWhollyKnown() {
		return cty.NilVal, errors.New("it is still not known")
	}
	return value, nil
}

// latchState returns the state file that the latch's data source reads.
func (c *Copy) latchState(inputs map[string]cty.Value, destroying bool) ([]byte, error) {
	outputs := map[string]tfstate.Output{}
	for _, leaf := range c.Shape.Leaves {
		value, err := leaf.final(inputs[leaf.Input])
		if err != nil && destroying {
			value, err = cty.NullVal(cty.String), nil
		}
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", leaf.Input, err)
		}
		outputs[leaf.Output] = tfstate.Output{Value: value}
	}
	state, err := (&tfstate.Document{}).WithIdentity("stack-inputs", 1).WithOutputs(outputs)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	return state.Bytes(), nil
}

// latchValues returns the file that the latch reads by a function.
func (c *Copy) latchValues(inputs map[string]cty.Value) ([]byte, error) {
	values := map[string]json.RawMessage{}
	for _, leaf := range c.Shape.Leaves {
		value, err := leaf.final(inputs[leaf.Input])
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", leaf.Input, err)
		}
		values[leaf.Output] = plainJSON(value)
	}
	return mustMarshal(values), nil
}

// Manifest returns the modules.json that init would write.
func Manifest(tree *module.Tree) []byte {
	type entry struct {
		Key     string
		Source  string
		Version string `json:",omitempty"`
		Dir     string
	}
	entries := []entry{{Dir: "."}, {Key: latchName, Source: "./" + latchDir, Dir: latchDir}}
	for _, node := range tree.Nodes {
		entries = append(entries, entry{node.Key, node.Source, node.Version, node.Path})
	}
	for _, standIn := range tree.StandIns {
		entries = append(entries, entry{standIn.Key, standIn.Source, standIn.Version, standInPath(standIn)})
	}
	return mustMarshal(map[string]any{"Modules": entries})
}

// standInPath is the directory of a stand-in in a working copy.
func standInPath(standIn module.StandIn) string { return path.Join(standInDir, standIn.Key) }

// isGenerated reports whether a file was made by Build.
func isGenerated(name string) bool {
	return strings.HasPrefix(name, standInDir+"/") ||
		slices.Contains([]string{generatedFile, overrideFile, VariablesFile, latchFile, path.Join(latchDir, "zz_outputs.tf.json")}, name)
}

// checkName is the name of the generated output that enforces a validation.
func checkName(index int) string { return fmt.Sprintf("%scheck_%d", prefix, index) }
