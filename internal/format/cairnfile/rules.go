// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

// form is an attribute that is a rule.
type form struct {
	rel     Relation
	inverse bool
	policy  Policy
	types   []Type
}

var (
	everything = []Type{StackType, GroupType, TaskType}
	applied    = []Type{StackType, GroupType}
	tasks      = []Type{TaskType}
)

var forms = map[string]form{
	"after":        {After, false, Default, everything},
	"before":       {After, true, Default, everything},
	"after_any":    {After, false, Any, everything},
	"require":      {After, false, Default, everything},
	"require_in":   {After, true, Default, everything},
	"require_any":  {After, false, Any, everything},
	"requires":     {After, false, Default, everything},
	"required_for": {After, true, Default, everything},

	"plan_after":      {PlanAfter, false, Default, applied},
	"plan_after_any":  {PlanAfter, false, Any, applied},
	"apply_after":     {ApplyAfter, false, Default, applied},
	"apply_after_any": {ApplyAfter, false, Any, applied},
	"modified_by":     {ModifiedBy, false, Default, applied},

	"modified_by_outputs": {ModifiedByOutputs, false, Default, applied},

	"watch":         {Watch, false, Default, tasks},
	"watch_in":      {Watch, true, Default, tasks},
	"watch_any":     {Watch, false, Any, tasks},
	"prereq":        {Prereq, false, Default, tasks},
	"prereq_in":     {Prereq, true, Default, tasks},
	"onchanges":     {OnChanges, false, Default, tasks},
	"onchanges_in":  {OnChanges, true, Default, tasks},
	"onchanges_any": {OnChanges, false, Any, tasks},
	"onfail":        {OnFail, false, Default, tasks},
	"onfail_in":     {OnFail, true, Default, tasks},
	"onfail_all":    {OnFail, false, All, tasks},
	"listen":        {Listen, false, Default, tasks},
	"listen_in":     {Listen, true, Default, tasks},
}
