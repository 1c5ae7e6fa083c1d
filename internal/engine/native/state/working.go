// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package state

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Working is a copy of a state that is being changed. Made by [State.Working].
type Working struct {
	base *State

	mu struct {
		sync.Mutex
		changed map[ResourceAddr]*workingResource
	}
}

// workingResource is a resource that was changed.
type workingResource struct {
	instances map[stackaddrs.InstanceKey]*Instance // each immutable
	sorted    *Resource                            // nil after a change, and without objects
}

// Working returns a copy to change.
func (s *State) Working() *Working {
	w := &Working{base: s}
	w.mu.changed = make(map[ResourceAddr]*workingResource)
	return w
}

// Set writes an object, in the place of the one of the same address and deposed key.
func (w *Working) Set(e tfstate.Entry) { w.SetObject(NewObject(e)) }

// SetObject is [Working.Set] for an object that may have been decoded already.
func (w *Working) SetObject(o *Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(o.Entry.Addr, o.Entry.Deposed, o)
}

// Remove removes an object, if it is there.
func (w *Working) Remove(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(addr, deposed, nil)
}

// Depose makes the current object of a resource instance a deposed one under a new key, which is
// returned together with it. The result is nil if there is no current object.
func (w *Working) Depose(addr stackaddrs.ResourceInstance) *Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	instance := w.instance(addr)
	if instance == nil || instance.Current == nil {
		return nil
	}
	key := newDeposedKey()
	for instance.object(key) != nil {
		key = newDeposedKey()
	}
	deposed := NewObject(instance.Current.Entry.WithDeposed(key))
	w.put(addr, key, deposed)
	w.put(addr, "", nil)
	return deposed
}

// Restore makes a deposed object the current one of its resource instance again, unless there is a
// current one. It returns the object, or nil if nothing was done.
func (w *Working) Restore(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) *Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	instance := w.instance(addr)
	object := instance.object(deposed)
	if object == nil || instance.Current != nil {
		return nil
	}
	current := NewObject(object.Entry.WithDeposed(""))
	w.put(addr, "", current)
	w.put(addr, deposed, nil)
	return current
}

// newDeposedKey makes up a key.
func newDeposedKey() stackaddrs.DeposedKey {
	var key [4]byte
	rand.Read(key[:]) // never fails
	return stackaddrs.DeposedKey(hex.EncodeToString(key[:]))
}

// put writes or removes an object. w.mu must be held.
func (w *Working) put(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey, o *Object) {
	r := w.change(resourceOf(addr))
	r.sorted = nil
	changed := r.instances[addr.Key].with(addr.Key, deposed, o)
	if changed.Current == nil && len(changed.Deposed) == 0 {
		delete(r.instances, addr.Key)
		return
	}
	r.instances[addr.Key] = changed
}

// change returns a resource for being changed. w.mu must be held.
func (w *Working) change(addr ResourceAddr) *workingResource {
	r := w.mu.changed[addr]
	if r != nil {
		return r
	}
	r = &workingResource{instances: make(map[stackaddrs.InstanceKey]*Instance)}
	if before := w.base.resources[addr]; before != nil {
		for _, i := range before.Instances {
			r.instances[i.Key] = i
		}
	}
	w.mu.changed[addr] = r
	return r
}

// instance returns the objects of a resource instance. w.mu must be held.
func (w *Working) instance(addr stackaddrs.ResourceInstance) *Instance {
	if r := w.mu.changed[resourceOf(addr)]; r != nil {
		return r.instances[addr.Key]
	}
	return w.base.resources[resourceOf(addr)].Instance(addr.Key)
}

// Object returns the current object of a resource instance, or that with a deposed key. Nil if
// there is none.
func (w *Working) Object(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) *Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.instance(addr).object(deposed)
}

// Resource returns the objects of a resource, or nil without any.
func (w *Working) Resource(module stackaddrs.ModuleInstance, r stackaddrs.Resource) *Resource {
	addr := ResourceAddr{module, r}
	w.mu.Lock()
	defer w.mu.Unlock()
	if changed := w.mu.changed[addr]; changed != nil {
		return changed.resource(addr)
	}
	return w.base.resources[addr]
}

// resource returns the resource as it is now.
func (r *workingResource) resource(addr ResourceAddr) *Resource {
	if r.sorted == nil && len(r.instances) > 0 {
		instances := slices.SortedFunc(maps.Values(r.instances), func(a, b *Instance) int { return a.Key.Compare(b.Key) })
		r.sorted = &Resource{Addr: addr, Instances: instances}
	}
	return r.sorted
}

// resources returns all resources as they are now.
func (w *Working) resources() map[ResourceAddr]*Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.mu.changed) == 0 {
		return w.base.resources
	}
	all := maps.Clone(w.base.resources)
	for addr, changed := range w.mu.changed {
		if r := changed.resource(addr); r != nil {
			all[addr] = r
		} else {
			delete(all, addr)
		}
	}
	return all
}

// Resources returns all resources as they are now, sorted by address.
func (w *Working) Resources() []*Resource { return sorted(w.resources()) }

// Modules returns the module instances that hold objects now, and those that they are in, sorted.
// The root module is always among them.
func (w *Working) Modules() []stackaddrs.ModuleInstance { return modules(w.resources()) }

// HasModule reports whether a module instance, or one inside of it, holds objects now.
func (w *Working) HasModule(module stackaddrs.ModuleInstance) bool {
	return hasModule(w.resources(), module)
}

// Finish is the parts of a document besides the objects.
type Finish struct {
	Outputs map[string]tfstate.Output // of the root module; without those that are null
	Checks  []engine.CheckResult
}

// State returns the state as it is now, with the outputs and the results of checks that it had
// before.
func (w *Working) State() (*State, error) {
	resources := w.resources()
	if w.base.doc.IsEmpty() && len(resources) == 0 {
		return w.base, nil
	}
	doc, err := w.base.doc.WithEntries(entries(resources))
	if err != nil {
		return nil, fmt.Errorf("making a state: %w", err)
	}
	return &State{doc: doc, resources: resources}, nil
}

// Document returns the state as it is now as a document. It has the lineage and the serial of the
// state before: without any, they are for the caller to give. It is empty if there was no state,
// and there is nothing to be stored.
func (w *Working) Document(finish Finish) (*tfstate.Document, error) {
	resources := w.resources()
	doc := w.base.doc
	if doc.IsEmpty() && len(resources) == 0 && len(finish.Outputs) == 0 && len(finish.Checks) == 0 {
		return doc, nil
	}
	var err error
	for _, change := range []func(*tfstate.Document) (*tfstate.Document, error){
		func(d *tfstate.Document) (*tfstate.Document, error) { return d.WithEntries(entries(resources)) },
		func(d *tfstate.Document) (*tfstate.Document, error) { return d.WithOutputs(finish.Outputs) },
		func(d *tfstate.Document) (*tfstate.Document, error) { return d.WithChecks(finish.Checks) },
	} {
		if doc, err = change(doc); err != nil {
			return nil, fmt.Errorf("making a state: %w", err)
		}
	}
	return doc, nil
}

// entries returns the objects of resources, in no order.
func entries(resources map[ResourceAddr]*Resource) []tfstate.Entry {
	list := make([]tfstate.Entry, 0, len(resources))
	for _, r := range resources {
		for _, i := range r.Instances {
			for _, o := range i.Objects() {
				list = append(list, o.Entry)
			}
		}
	}
	return list
}
