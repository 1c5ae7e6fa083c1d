// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/ctymarks"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// deprecated is the mark of the value of a deprecated output, or of a part of an object that its
// provider will drop: the message about that. Values have such marks on their way to the place
// where they are used (rule V8).
type deprecated string

// deprecate returns the value of a deprecated output. The flag saves evaluations without such a
// value the search for marks.
func (e *Evaluation) deprecate(value cty.Value, message string) cty.Value {
	if e.opts.Phase == Apply { // the plan has warned
		return value
	}
	e.deprecations.Store(true)
	return value.Mark(deprecated(message))
}

// Deprecate returns an object with marks for the parts that its provider will drop, as expressions
// see it. There are none in an object that is unknown as a whole.
func (e *Evaluation) Deprecate(object cty.Value, block *schema.Block) cty.Value {
	if e.opts.Phase == Apply || object == cty.NilVal || !block.HasDeprecated() {
		return object
	}
	bare, _ := object.UnmarkDeep()
	parts := block.Deprecations(bare)
	if len(parts) == 0 {
		return object
	}
	// MarkWithPaths compares each part of the object with each path, which takes seconds for a
	// thousand nested blocks. Deprecations has no paths into sets, whose elements have the same text.
	found := make(map[string]deprecated, len(parts))
	for _, part := range parts {
		found[marks.DescribePath(part.Path)] = deprecated(part.Message)
	}
	e.deprecations.Store(true)
	return infallible(cty.Transform(object, func(path cty.Path, value cty.Value) (cty.Value, error) {
		if message, ok := found[marks.DescribePath(path)]; ok {
			return value.Mark(message), nil
		}
		return value, nil
	}))
}

// Used warns of the deprecated parts of a value where that is used, at the places of these parts,
// and returns it without the marks.
func (m *Module) Used(value cty.Value, at func(cty.Path) hcl.Range) cty.Value {
	return m.withoutDeprecations(value, func(message string, path cty.Path) { m.warnOfUse(message, at(path)) })
}

// usedWhole is Used for a value that is only passed on if it is not deprecated as a whole.
func (m *Module) usedWhole(value cty.Value, at hcl.Range) cty.Value {
	if !m.eval.deprecations.Load() || !value.IsMarked() {
		return value
	}
	bare, found := value.Unmark()
	for mark := range found {
		if message, ok := mark.(deprecated); ok {
			m.warnOfUse(string(message), at)
			delete(found, mark)
		}
	}
	return bare.WithMarks(found)
}

// withoutDeprecations returns a value without marks about deprecations, and calls do for each.
func (m *Module) withoutDeprecations(value cty.Value, do func(message string, path cty.Path)) cty.Value {
	if !m.eval.deprecations.Load() || !value.ContainsMarked() {
		return value
	}
	return infallible(value.WrangleMarksDeep(func(mark any, path cty.Path) (ctymarks.WrangleAction, error) {
		message, ok := mark.(deprecated)
		if !ok {
			return nil, nil
		}
		do(string(message), path)
		return ctymarks.WrangleDrop, nil
	}))
}

// infallible returns the result of a walk over a value whose callback does not fail.
func infallible(v cty.Value, err error) cty.Value {
	if err != nil {
		panic("eval: a walk that cannot fail has failed: " + err.Error())
	}
	return v
}

// deprecatedUse is a use of a deprecated value, whichever instance of the module or block it is in.
type deprecatedUse struct {
	message string
	at      hcl.Range
}

func (m *Module) warnOfUse(message string, at hcl.Range) {
	if m.ignoresDeprecations {
		return
	}
	if _, again := m.eval.warned.LoadOrStore(deprecatedUse{message, at}, true); again {
		return
	}
	m.eval.Diagnostics.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Deprecated value used", Detail: message, Subject: &at})
}

// ignoresDeprecations reports whether a call makes nothing of deprecated values that are used in
// its module.
func ignoresDeprecations(c *Call) bool {
	return c != nil && (c.Config.IgnoreDeprecations || c.module.ignoresDeprecations)
}

// used warns of the deprecated values that an output is made of. A called module passes on those
// inside of its own, unless the output is deprecated: then the caller hears of that alone.
func (o *Output) used(result Result) cty.Value {
	switch {
	case o.module.call == nil:
		return o.module.Used(result.Value, func(path cty.Path) hcl.Range { return body.RangeWithin(result.Expression, path) })
	case o.config.Deprecated == nil:
		return o.module.usedWhole(result.Value, result.Range)
	default:
		return o.module.withoutDeprecations(result.Value, func(string, cty.Path) {})
	}
}
