// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providercall

import (
	"errors"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

var errChanged = errors.New("it has now returned something else for the same arguments than before, as a file was changed since the plan " +
	"was made, or while it was made. Make a new plan")

// OfFiles returns a function that reads files, such as file, so that it fails if they have changed.
// Otherwise it is as f.
func (r *Results) OfFiles(name string, f function.Function) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Type:        function.StaticReturnType(cty.DynamicPseudoType), // not asked of f, since that would render templates
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result, err := f.Call(args)
			if err != nil {
				return cty.NilVal, err
			}
			bare, resultMarks := result.UnmarkDeep()
			bareArgs := make([]cty.Value, len(args))
			_, ephemeral := resultMarks[marks.Ephemeral]
			for i, arg := range args {
				var argMarks cty.ValueMarks
				bareArgs[i], argMarks = arg.UnmarkDeep()
				_, found := argMarks[marks.Ephemeral]
				ephemeral = ephemeral || found
			}
			if ephemeral { // nothing that derives from such values is kept
				return result, nil
			}
			same, err := r.confirms(map[string]cty.Value{"function": cty.StringVal(name)}, bareArgs, bare)
			if err == nil && !same {
				err = errChanged
			}
			return result, err
		},
	}
	spec.Params = slices.Clone(f.Params())
	for i := range spec.Params {
		takeAll(&spec.Params[i])
	}
	if variadic := f.VarParam(); variadic != nil {
		all := *variadic
		takeAll(&all)
		spec.VarParam = &all
	}
	return function.New(spec)
}

// takeAll leaves special arguments to the function that is called.
func takeAll(p *function.Parameter) {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
}
