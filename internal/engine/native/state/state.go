// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package state

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// State is the state of one component. Made by [Read], [FromDocument] and [Working.State].
type State struct {
	doc       *tfstate.Document // with everything but objects, and those objects that were not changed since
	resources map[ResourceAddr]*Resource
}

// ResourceAddr is the address of a resource in one instance of its module.
type ResourceAddr struct {
	Module   stackaddrs.ModuleInstance
	Resource stackaddrs.Resource
}

// Instance returns the address of an instance.
func (a ResourceAddr) Instance(key stackaddrs.InstanceKey) stackaddrs.ResourceInstance {
	return stackaddrs.ResourceInstance{Module: a.Module, Resource: a.Resource, Key: key}
}

// Compare orders addresses as a state document does: by the text of the module instance, the mode,
// the type and the name.
func (a ResourceAddr) Compare(b ResourceAddr) int {
	if a.Module != b.Module {
		if order := cmp.Compare(a.Module.String(), b.Module.String()); order != 0 {
			return order
		}
	}
	return cmp.Or(
		cmp.Compare(a.Resource.Mode.String(), b.Resource.Mode.String()),
		cmp.Compare(a.Resource.Type, b.Resource.Type),
		cmp.Compare(a.Resource.Name, b.Resource.Name),
	)
}

// resourceOf returns the address of the resource of an instance.
func resourceOf(addr stackaddrs.ResourceInstance) ResourceAddr {
	return ResourceAddr{addr.Module, addr.Resource}
}

// Resource is a state's objects of a resource in one instance of its module.
type Resource struct {
	Addr      ResourceAddr
	Instances []*Instance // sorted: without a key, by number, by text
}

// Instance returns an instance, or nil.
func (r *Resource) Instance(key stackaddrs.InstanceKey) *Instance {
	if r == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(r.Instances, key, func(i *Instance, key stackaddrs.InstanceKey) int { return i.Key.Compare(key) })
	if !found {
		return nil
	}
	return r.Instances[i]
}

// Instance is a state's objects of a resource instance.
type Instance struct {
	Key     stackaddrs.InstanceKey
	Current *Object   // nil if there are only deposed ones
	Deposed []*Object // sorted by key
}

// Objects returns the current object and the deposed ones, as far as there are any.
func (i *Instance) Objects() []*Object {
	if i == nil || i.Current == nil && len(i.Deposed) == 0 {
		return nil
	}
	if i.Current == nil {
		return i.Deposed
	}
	return append([]*Object{i.Current}, i.Deposed...)
}

// object returns the object with a deposed key, or the current one; nil if there is none.
func (i *Instance) object(deposed stackaddrs.DeposedKey) *Object {
	switch {
	case i == nil:
		return nil
	case deposed == "":
		return i.Current
	}
	for _, o := range i.Deposed {
		if o.Entry.Deposed == deposed {
			return o
		}
	}
	return nil
}

// with returns the instance with another object, or without it if that is nil.
func (i *Instance) with(key stackaddrs.InstanceKey, deposed stackaddrs.DeposedKey, object *Object) *Instance {
	changed := &Instance{Key: key}
	if i != nil {
		changed.Current, changed.Deposed = i.Current, i.Deposed
	}
	if deposed == "" {
		changed.Current = object
		return changed
	}
	at, found := slices.BinarySearchFunc(changed.Deposed, deposed,
		func(o *Object, key stackaddrs.DeposedKey) int { return cmp.Compare(o.Entry.Deposed, key) })
	end := at
	if found {
		end++
	}
	var objects []*Object
	if object != nil {
		objects = []*Object{object}
	}
	changed.Deposed = slices.Concat(changed.Deposed[:at], objects, changed.Deposed[end:])
	return changed
}

// Object is an object in a state. Made by [NewObject].
type Object struct {
	Entry tfstate.Entry

	decode  sync.Once
	content tfstate.Object
	err     error
}

// NewObject returns an object of a state.
func NewObject(e tfstate.Entry) *Object { return &Object{Entry: e} }

// Content decodes the entry of the object, once. The caller must not change it.
func (o *Object) Content() (*tfstate.Object, error) {
	o.decode.Do(func() { o.content, o.err = o.Entry.Object() })
	return &o.content, o.err
}

// Status is the status of an object.
type Status int

// The statuses.
const (
	Ready   Status = iota
	Tainted        // to be replaced
)

// Status returns the status of the object.
func (o *Object) Status() (Status, error) {
	content, err := o.Content()
	if err == nil && content.Tainted {
		return Tainted, nil
	}
	return Ready, err
}

// Private returns the provider's private data of the object.
func (o *Object) Private() ([]byte, error) {
	content, err := o.Content()
	if err != nil || content.Private == "" {
		return nil, err
	}
	private, err := base64.StdEncoding.DecodeString(content.Private)
	if err != nil {
		return nil, fmt.Errorf("private data of %s: %w", o.Entry.Addr, err)
	}
	return private, nil
}

// Provider returns the provider configuration that the object was made with. States of terraform
// 0.12 and older name none.
func (o *Object) Provider() (tfstate.ProviderConfig, error) {
	content, err := o.Content()
	if err != nil {
		return tfstate.ProviderConfig{}, err
	}
	config, ok := tfstate.ParseProviderConfig(content.Provider)
	if !ok {
		return config, fmt.Errorf("%s: %q is not the address of a provider configuration: let terraform state replace-provider put one there",
			o.Entry.Addr, content.Provider)
	}
	return config, nil
}

// Read parses a state.
//
// Errors: those of [tfstate.Parse], and an object that is there twice.
func Read(text engine.State) (*State, error) {
	doc, err := tfstate.Parse(text)
	if err != nil {
		return nil, err
	}
	return FromDocument(doc)
}

// FromDocument is [Read] for a document that was parsed already.
func FromDocument(doc *tfstate.Document) (*State, error) {
	s := &State{doc: doc, resources: make(map[ResourceAddr]*Resource)}
	for _, e := range doc.Entries() {
		addr := resourceOf(e.Addr)
		r := s.resources[addr]
		if r == nil {
			r = &Resource{Addr: addr}
			s.resources[addr] = r
		}
		if err := r.add(NewObject(e)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add adds an object to a resource that nobody else knows yet.
func (r *Resource) add(o *Object) error {
	at, found := slices.BinarySearchFunc(r.Instances, o.Entry.Addr.Key,
		func(i *Instance, key stackaddrs.InstanceKey) int { return i.Key.Compare(key) })
	if !found {
		r.Instances = slices.Insert(r.Instances, at, &Instance{Key: o.Entry.Addr.Key})
	}
	i := r.Instances[at]
	switch {
	case i.object(o.Entry.Deposed) != nil:
		return fmt.Errorf("%s occurs twice", stackaddrs.ResourceInstanceObject{Instance: o.Entry.Addr, Deposed: o.Entry.Deposed})
	case o.Entry.Deposed == "":
		i.Current = o
	default:
		*i = *i.with(i.Key, o.Entry.Deposed, o)
	}
	return nil
}

// Document returns the document that the state was read from, or is printed as. Its objects are
// those of the state.
func (s *State) Document() *tfstate.Document { return s.doc }

// IsEmpty reports whether there are no objects.
func (s *State) IsEmpty() bool { return len(s.resources) == 0 }

// Resource returns the objects of a resource, or nil without any.
func (s *State) Resource(module stackaddrs.ModuleInstance, r stackaddrs.Resource) *Resource {
	return s.resources[ResourceAddr{module, r}]
}

// Object returns the current object of a resource instance, or that with a deposed key. Nil if
// there is none.
func (s *State) Object(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) *Object {
	return s.resources[resourceOf(addr)].Instance(addr.Key).object(deposed)
}

// Resources returns all resources, sorted by address.
func (s *State) Resources() []*Resource { return sorted(s.resources) }

func sorted(resources map[ResourceAddr]*Resource) []*Resource {
	list := make([]*Resource, 0, len(resources))
	for _, r := range resources {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *Resource) int { return a.Addr.Compare(b.Addr) })
	return list
}

// Modules returns the module instances that hold objects, and those that they are in, sorted. The
// root module is always among them.
func (s *State) Modules() []stackaddrs.ModuleInstance { return modules(s.resources) }

func modules(resources map[ResourceAddr]*Resource) []stackaddrs.ModuleInstance {
	found := map[stackaddrs.ModuleInstance]bool{stackaddrs.RootModuleInstance: true}
	list := []stackaddrs.ModuleInstance{stackaddrs.RootModuleInstance}
	for addr := range resources {
		for module := addr.Module; !found[module]; {
			found[module] = true
			list = append(list, module)
			module, _, _ = module.Parent()
		}
	}
	slices.SortFunc(list, stackaddrs.ModuleInstance.Compare)
	return list
}

// HasModule reports whether a module instance, or one inside of it, holds objects.
func (s *State) HasModule(module stackaddrs.ModuleInstance) bool {
	return hasModule(s.resources, module)
}

func hasModule(resources map[ResourceAddr]*Resource, module stackaddrs.ModuleInstance) bool {
	for addr := range resources {
		if Inside(addr.Module, module) {
			return true
		}
	}
	return false
}

// Inside reports whether a module instance is another one, or below it.
func Inside(module, outer stackaddrs.ModuleInstance) bool {
	path, prefix := module.Path(), outer.Path()
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}
