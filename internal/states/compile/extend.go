// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/internal/problem"
)

// extend applies all extensions in the order of loading.
func (l *loader) extend() {
	for _, extension := range l.extends {
		id := l.high.find(extension.id)
		if id == nil {
			id = l.high.findByName(extension)
		}
		if id == nil {
			hint := l.hints.DidYouMean(extension.id, slices.Values(l.high.names())) + " Include the SLS that does."
			if name := l.declares(extension.id); name != "" {
				hint = fmt.Sprintf(" The SLS %q does: include it.", name)
			}
			l.problem(problem.UnknownRef, extension.subject, "Extension of an unknown ID", "No loaded SLS declares the id %q.%s", extension.id, hint)
			continue
		}
		for _, module := range extension.modules {
			l.extendModule(id, module)
		}
	}
}

func (l *loader) extendModule(id *ID, with *Module) {
	module := id.module(with.Name)
	if module == nil {
		if with.Function == "" {
			l.problem(problem.UnknownRef, with.Range, "Extension of an unknown module",
				"The id %q does not have the module %q. To add it, write \"%[2]s.FUNCTION:\".", id.Name, with.Name)
			return
		}
		id.Modules = append(id.Modules, with)
		return
	}
	if with.Function != "" {
		module.Function = with.Function
	}
	for _, arg := range with.Args {
		module.merge(arg)
	}
}

// merge adds requisites to those there are, and replaces all other arguments.
func (m *Module) merge(arg Arg) {
	if arg.Name == "order" {
		m.AutoOrder = 0
	}
	existing := m.arg(arg.Name)
	switch {
	case existing == nil:
		m.Args = append(m.Args, arg)
	case isRequisite(arg.Name):
		existing.Requisites = slices.Concat(existing.Requisites, arg.Requisites)
	default:
		*existing = arg
	}
}

// findByName finds the only id whose module of the extension has that name.
func (h *High) findByName(extension extension) *ID {
	var found *ID
	for _, id := range h.IDs {
		for _, with := range extension.modules {
			module := id.module(with.Name)
			if module == nil {
				continue
			}
			if name := module.arg("name"); name != nil && name.Value == extension.id {
				if found != nil && found != id {
					return nil
				}
				found = id
			}
		}
	}
	return found
}

func (h *High) names() []string {
	names := make([]string, len(h.IDs))
	for i, id := range h.IDs {
		names[i] = id.Name
	}
	return names
}
