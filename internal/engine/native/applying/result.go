// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// evaluateOutputs computes the outputs of the root module, as far as that is possible.
func (a *applier) evaluateOutputs(ctx context.Context) {
	a.outputs = map[string]cty.Value{}
	for name, output := range a.eval.Root().Outputs() {
		if value, ok := output.Value(ctx); ok && !a.waits(name) {
			a.outputs[name] = value
		}
	}
}

// waits reports whether an output of the root module depends on a deferred change: its value is
// unknown then.
func (a *applier) waits(output string) bool {
	if len(a.Plan.Deferred) == 0 {
		return false
	}
	return slices.ContainsFunc(a.Graph.Output(output), func(r *deps.Resource) bool { return slices.Contains(a.Plan.Deferred, r.Addr) })
}

// result puts together the state, outputs and checks after the apply.
func (a *applier) result() (*engine.ApplyResult, hcl.Diagnostics) {
	a.notBegun()
	result := &engine.ApplyResult{State: a.Planned.RefreshedState, Checks: a.checks()}
	outputs := map[string]cty.Value{}
	declared := a.eval.Root().Outputs()
	for name, output := range declared {
		value, ok := a.outputs[name]
		if !ok && a.Mode == engine.Destroy && !a.eval.Diagnostics.HasErrors() {
			value = marks.Declared(cty.NullVal(cty.DynamicPseudoType), output.Config().Sensitive, output.Config().Ephemeral)
		} else if !ok {
			value = marks.Declared(cty.DynamicVal, output.Config().Sensitive, output.Config().Ephemeral)
		}
		outputs[name] = value
	}
	result.Outputs, result.Ephemeral = a.eval.Root().SplitOutputs(outputs)
	doc, err := a.now.Document(state.Finish{Outputs: a.stored(declared), Checks: result.Checks})
	if err != nil {
		a.eval.Diagnostics.Add(failure.New("Unusable state", "%s.", err))
	} else {
		result.State = doc.Bytes()
	}
	return result, a.eval.Diagnostics.All()
}

// stored returns the outputs for the state. Those that could not be computed stay as they were.
func (a *applier) stored(declared map[string]*eval.Output) map[string]tfstate.Output {
	outputs := map[string]tfstate.Output{}
	if a.Mode == engine.Destroy {
		return outputs
	}
	before, err := a.before.Document().Outputs()
	if err != nil {
		before = nil
	}
	for name, output := range declared {
		value, ok := a.outputs[name]
		if output.Config().Ephemeral {
			continue
		}
		var bare cty.Value
		var found cty.ValueMarks
		if ok {
			bare, found = value.UnmarkDeep()
			ok = bare.IsWhollyKnown()
		}
		if !ok {
			if old, known := before[name]; known {
				outputs[name] = old
			}
			continue
		}
		if !bare.IsNull() {
			_, sensitive := found[marks.Sensitive]
			outputs[name] = tfstate.Output{Value: bare, Sensitive: sensitive}
		}
	}
	return outputs
}

// checks returns the results of conditions: those of now, and unknown for conditions that were not
// checked again.
func (a *applier) checks() []engine.CheckResult {
	type key struct {
		kind    engine.CheckKind
		address string
	}
	now := map[key]engine.CheckResult{}
	if a.Mode != engine.Destroy {
		for _, result := range a.eval.Checks.Results() {
			now[key{result.Kind, result.Address}] = result
		}
	}
	var results []engine.CheckResult
	for _, planned := range a.Planned.Checks {
		result, ok := now[key{planned.Kind, planned.Address}]
		if !ok {
			result = engine.CheckResult{Kind: planned.Kind, Address: planned.Address, Status: engine.CheckUnknown}
		} else {
			result = withUnchecked(result, planned)
		}
		results = append(results, result)
	}
	return results
}

// withUnchecked returns the result with the objects that were to be checked, and were not.
func withUnchecked(result, planned engine.CheckResult) engine.CheckResult {
	checked := make(map[string]bool, len(result.Objects))
	for _, object := range result.Objects {
		checked[object.Address] = true
	}
	for _, object := range planned.Objects {
		if checked[object.Address] {
			continue
		}
		result.Objects = append(result.Objects, engine.CheckedObject{Address: object.Address, Status: engine.CheckUnknown})
		if result.Status == engine.CheckPass {
			result.Status = engine.CheckUnknown
		}
	}
	slices.SortFunc(result.Objects, func(a, b engine.CheckedObject) int { return cmp.Compare(a.Address, b.Address) })
	return result
}
