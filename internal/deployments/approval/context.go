// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package approval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Facts are properties of a plan, besides its changes, that conditions can refer to.
type Facts struct {
	Deployment  string
	Replans     int             // how many plans of the same operation came before it
	Diagnostics hcl.Diagnostics // about the plan
}

// planOperation is the operation after which plans are judged.
const planOperation = "plan"

// Context returns the object "context" of conditions.
//
// Shape: object with operation, success, errors, warnings and plan, as section 9.2 of the language
// reference has them. The changes are an object of numbers, those of components a map of such
// objects with the addresses of component instances as keys. Null, unknown, marks: never.
func Context(plan *stackplan.Plan, facts Facts) cty.Value {
	components := map[string]cty.Value{}
	for _, component := range plan.Components {
		components[component.Addr.String()] = changesObject(component.Counts())
	}
	return cty.ObjectVal(map[string]cty.Value{
		"operation": cty.StringVal(planOperation),
		"success":   cty.BoolVal(!facts.Diagnostics.HasErrors()),
		"errors":    messages(facts.Diagnostics, hcl.DiagError),
		"warnings":  messages(facts.Diagnostics, hcl.DiagWarning),
		"plan": cty.ObjectVal(map[string]cty.Value{
			"mode":              cty.StringVal(plan.Mode.String()),
			"applyable":         cty.BoolVal(plan.Applyable),
			"changes":           changesObject(plan.Counts()),
			"component_changes": mapOf(components, changesType),
			"replans":           cty.NumberIntVal(int64(facts.Replans)),
			"deployment":        deployconfig.DeploymentObject(facts.Deployment),
		}),
	})
}

var changesType = changesObject(stackplan.Counts{}).Type()

// changesObject counts changes. The total includes deferred changes, so that a plan without changes
// is one that leaves nothing to do.
func changesObject(n stackplan.Counts) cty.Value {
	numbers := map[string]int{
		"add": n.Add, "change": n.Change, "remove": n.Remove, "import": n.Import, "move": n.Move, "forget": n.Forget, "defer": n.Defer,
		"action_invocation": n.Invoke, "total": n.Total(),
	}
	object := make(map[string]cty.Value, len(numbers))
	for name, number := range numbers {
		object[name] = cty.NumberIntVal(int64(number))
	}
	return cty.ObjectVal(object)
}

var messageType = cty.Object(map[string]cty.Type{"summary": cty.String, "detail": cty.String})

func messages(diags hcl.Diagnostics, severity hcl.DiagnosticSeverity) cty.Value {
	var found []cty.Value
	for _, diag := range diags {
		if diag.Severity == severity {
			found = append(found, cty.ObjectVal(map[string]cty.Value{"summary": cty.StringVal(diag.Summary), "detail": cty.StringVal(diag.Detail)}))
		}
	}
	if len(found) == 0 {
		return cty.SetValEmpty(messageType)
	}
	return cty.SetVal(found)
}

func mapOf(values map[string]cty.Value, element cty.Type) cty.Value {
	if len(values) == 0 {
		return cty.MapValEmpty(element)
	}
	return cty.MapVal(values)
}
