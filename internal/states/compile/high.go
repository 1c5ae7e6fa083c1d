// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"github.com/hashicorp/hcl/v2"
)

// firstOrder is the number of the first call that has none of its own (line C-04).
const firstOrder = 10000

// High is the content of SLS files, in the order in which they are loaded, with extensions applied.
type High struct {
	IDs     []*ID
	Loaded  []string // names of the files
	Exclude []Exclusion

	noAutoOrder bool
	byName      map[string]*ID
	declares    func(id string) string // the name of an SLS that is not loaded and has an id; "" if none is found
}

// ID is one name with the modules that do something for it.
type ID struct {
	Name, SLS, Env string
	Modules        []*Module
	Range          *hcl.Range

	file int // number of its file, counted from where loading began: before the files that it includes
}

// Module says which function of a module is to be called.
type Module struct {
	Name, Function string
	Args           []Arg
	AutoOrder      int // the number given by position; 0 if there is none
	Range          *hcl.Range
}

// Arg is an argument.
type Arg struct {
	Name  string
	Value any
	Range *hcl.Range // of the value

	// Requisites are the elements of Value, if the name is that of a kind of requisites.
	Requisites []Requisite
}

// Requisite names calls.
type Requisite struct {
	Module     string // "" for any; "sls" for all calls of a file, "id" for all of an id
	Identifier string // an id or a name, or a pattern for them
	Range      *hcl.Range
}

// Exclusion is an object that is left out after loading: exactly one of an id and a file.
type Exclusion struct {
	ID, SLS string
	Range   *hcl.Range
}

// Value returns the data as one mapping: id → module → list (line C-01).
func (h *High) Value() *Map {
	all := &Map{}
	for _, id := range h.IDs {
		one := &Map{}
		for _, module := range id.Modules {
			one.Set(module.Name, module.value())
		}
		one.Set("__sls__", id.SLS)
		one.Set("__env__", id.Env)
		all.Set(id.Name, one)
	}
	if len(h.Exclude) > 0 {
		var list []any
		for _, exclusion := range h.Exclude {
			if exclusion.ID != "" {
				list = append(list, single("id", exclusion.ID))
			} else {
				list = append(list, single("sls", exclusion.SLS))
			}
		}
		all.Set("__exclude__", list)
	}
	return all
}

func (m *Module) value() []any {
	list := []any{}
	for _, arg := range m.Args {
		list = append(list, single(arg.Name, arg.value()))
	}
	list = append(list, m.Function)
	if m.AutoOrder > 0 {
		list = append(list, single("order", int64(m.AutoOrder)))
	}
	return list
}

// arg returns an argument, nil if there is none of that name.
func (m *Module) arg(name string) *Arg {
	for i := range m.Args {
		if m.Args[i].Name == name {
			return &m.Args[i]
		}
	}
	return nil
}

// value returns requisites as they are written, which may be more than were written in one place.
func (a Arg) value() any {
	if !isRequisite(a.Name) {
		return a.Value
	}
	return requisiteValues(a.Requisites)
}

func requisiteValues(requisites []Requisite) []any {
	list := []any{}
	for _, r := range requisites {
		if r.Module == "" {
			list = append(list, r.Identifier)
		} else {
			list = append(list, single(r.Module, r.Identifier))
		}
	}
	return list
}

func single(key string, value any) *Map {
	return &Map{Entries: []Entry{{key, value}}}
}

// find returns the declaration of an id, nil if there is none.
func (h *High) find(id string) *ID { return h.byName[id] }

func (h *High) add(id *ID) {
	if h.byName == nil {
		h.byName = map[string]*ID{}
	}
	h.byName[id.Name] = id
	h.IDs = append(h.IDs, id)
}

// module returns the declaration of a module, nil if there is none.
func (id *ID) module(name string) *Module {
	for _, module := range id.Modules {
		if module.Name == name {
			return module
		}
	}
	return nil
}
