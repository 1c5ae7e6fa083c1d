// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Entry is a resource instance object as JSON. Made by [Parse] or an [EntryReader].
//
// Its own JSON form is an object with two members: "resource", which is the entry of the list of
// resources without its instances, and "instance", which is one of these.
type Entry struct {
	Addr    stackaddrs.ResourceInstance
	Deposed stackaddrs.DeposedKey

	resource, instance json.RawMessage
}

// Object is the decoded content of an entry.
type Object struct {
	Addr    stackaddrs.ResourceInstance
	Deposed stackaddrs.DeposedKey

	Provider      string // provider configuration address as in the document
	SchemaVersion uint64
	Tainted       bool

	// Attributes is a JSON object in the form of the provider's schema. FlatAttributes replaces it in
	// very old documents: a JSON object of strings.
	Attributes, FlatAttributes json.RawMessage

	// SensitiveAttributes is the list of paths as in the document.
	SensitiveAttributes json.RawMessage

	// Private is the provider's private data, in base64 as in the document. Empty if there is none.
	Private string

	Dependencies []string // resource addresses, in the order of the document

	CreateBeforeDestroy bool

	// Identity is a JSON object in the form of the provider's identity schema, of which
	// IdentityVersion is the version. Empty for an object without one.
	Identity        json.RawMessage
	IdentityVersion uint64
}

// Entry encodes the object, whose attributes must be valid JSON.
func (o Object) Entry() (Entry, error) {
	member := "attributes"
	if len(o.Attributes) == 0 && len(o.FlatAttributes) > 0 {
		member, o.Attributes = "attributes_flat", o.FlatAttributes
	}
	attributes, err := compact(o.Attributes)
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %s: %w", o.Addr, member, err)
	}
	const typicalResource, typicalInstance = 160, 120 // bytes without the attributes
	size := typicalResource + typicalInstance + len(attributes) + len(o.SensitiveAttributes) + len(o.Private)
	for _, name := range o.Dependencies {
		size += len(name) + len(`"",`)
	}
	text := make([]byte, 0, size)

	text = append(text, '{')
	if !o.Addr.Module.IsRoot() {
		text = appendMember(text, "module", encode(o.Addr.Module.String()))
	}
	text = appendMember(text, "mode", encode(o.Addr.Resource.Mode.String()))
	text = appendMember(text, "type", encode(o.Addr.Resource.Type))
	text = appendMember(text, "name", encode(o.Addr.Resource.Name))
	text = append(appendMember(text, "provider", encode(o.Provider)), '}')
	end := len(text)

	text = appendMember(append(text, '{'), member, attributes)
	if o.CreateBeforeDestroy {
		text = appendMember(text, "create_before_destroy", encode(true))
	}
	if len(o.Dependencies) > 0 {
		text = appendMember(text, "dependencies", encode(o.Dependencies))
	}
	if o.Deposed != "" {
		text = appendMember(text, "deposed", encode(string(o.Deposed)))
	}
	if len(o.Identity) > 0 {
		identity, err := compact(o.Identity)
		if err != nil {
			return Entry{}, fmt.Errorf("%s: identity: %w", o.Addr, err)
		}
		text = appendMember(text, "identity", identity)
		text = appendMember(text, "identity_schema_version", encode(o.IdentityVersion))
	}
	if key := o.Addr.Key.Index(); key != nil {
		text = appendMember(text, "index_key", encode(key))
	}
	if o.Private != "" {
		text = appendMember(text, "private", encode(o.Private))
	}
	text = appendMember(text, "schema_version", encode(o.SchemaVersion))
	sensitive := o.SensitiveAttributes
	if len(sensitive) == 0 {
		sensitive = json.RawMessage("[]")
	}
	text = appendMember(text, "sensitive_attributes", sensitive)
	if o.Tainted {
		text = appendMember(text, "status", encode(taintedStatus))
	}
	text = append(text, '}')
	return Entry{Addr: o.Addr, Deposed: o.Deposed, resource: text[:end:end], instance: text[end:]}, nil
}

// In returns the address of the object in the state of a component.
func (o Object) In(component stackaddrs.AbsComponentInstance) stackaddrs.AbsResourceInstanceObject {
	return stackaddrs.AbsResourceInstanceObject{
		Component: component,
		Item:      stackaddrs.ResourceInstanceObject{Instance: o.Addr, Deposed: o.Deposed},
	}
}

// ProviderName returns the source address of the object's provider.
func (o Object) ProviderName() string {
	config, ok := ParseProviderConfig(o.Provider)
	if !ok {
		return o.Provider
	}
	return config.Provider
}

// Object decodes the entry.
func (e Entry) Object() (Object, error) {
	o := Object{Addr: e.Addr, Deposed: e.Deposed}
	var status string
	for name, value := range members(e.resource) {
		if name == "provider" {
			if err := stringMember(&o.Provider, name, value); err != nil {
				return Object{}, fmt.Errorf("%s: %w", e.Addr, err)
			}
		}
	}
	// A null counts as a missing member: neither an object nor its identity can be null. Members that
	// are not known here are those of newer versions; they stay in the entry.
	for name, value := range members(e.instance) {
		var err error
		switch name {
		case "provider": // OpenTofu, where it differs between instances
			err = stringMember(&o.Provider, name, value)
		case "schema_version":
			err = json.Unmarshal(value, &o.SchemaVersion)
		case "status":
			err = stringMember(&status, name, value)
		case "attributes":
			if !isNull(value) {
				o.Attributes = value
			}
		case "attributes_flat":
			if !isNull(value) {
				o.FlatAttributes = value
			}
		case "private":
			err = stringMember(&o.Private, name, value)
		case "sensitive_attributes":
			o.SensitiveAttributes = value
		case "dependencies":
			err = json.Unmarshal(value, &o.Dependencies)
		case "create_before_destroy":
			err = json.Unmarshal(value, &o.CreateBeforeDestroy)
		case "identity":
			if !isNull(value) {
				o.Identity = value
			}
		case "identity_schema_version":
			err = json.Unmarshal(value, &o.IdentityVersion)
		}
		if err != nil {
			return Object{}, fmt.Errorf("%s: %s: %w", e.Addr, name, err)
		}
	}
	// An object with a status that is not known must not pass for a healthy one.
	if o.Tainted = status == taintedStatus; status != "" && !o.Tainted {
		return Object{}, fmt.Errorf("%s: unknown status %q", e.Addr, status)
	}
	return o, nil
}

// WithAddr returns the object at another address.
func (e Entry) WithAddr(addr stackaddrs.ResourceInstance) Entry {
	values := map[string]any{
		"module": nil, "mode": addr.Resource.Mode.String(), "type": addr.Resource.Type, "name": addr.Resource.Name,
	}
	if !addr.Module.IsRoot() {
		values["module"] = addr.Module.String()
	}
	e.Addr = addr
	e.resource = setMembers(e.resource, values)
	e.instance = setMembers(e.instance, map[string]any{"index_key": addr.Key.Index()})
	return e
}

// WithDeposed returns the object as a deposed one of its instance, or as the current one for "".
func (e Entry) WithDeposed(key stackaddrs.DeposedKey) Entry {
	values := map[string]any{"deposed": nil}
	if key != "" {
		values["deposed"] = string(key)
	}
	e.Deposed = key
	e.instance = setMembers(e.instance, values)
	return e
}

// WithTainted returns the object as one that is to be replaced, or not.
func (e Entry) WithTainted(tainted bool) Entry {
	values := map[string]any{"status": nil}
	if tainted {
		values["status"] = taintedStatus
	}
	e.instance = setMembers(e.instance, values)
	return e
}

// taintedStatus is the status of an object that is to be replaced. There is no other one.
const taintedStatus = "tainted"

// WithoutDependencies returns the entry without the dependencies that drop accepts.
func (e Entry) WithoutDependencies(drop func(address string) bool) (Entry, error) {
	o, err := e.Object()
	if err != nil || !slices.ContainsFunc(o.Dependencies, drop) {
		return e, err
	}
	return e.WithDependencies(slices.DeleteFunc(o.Dependencies, drop)), nil
}

// WithDependencies returns the entry with other dependencies.
func (e Entry) WithDependencies(addresses []string) Entry {
	values := map[string]any{"dependencies": nil}
	if len(addresses) > 0 {
		values["dependencies"] = addresses
	}
	e.instance = setMembers(e.instance, values)
	return e
}

// WithProvider returns the entry with another provider configuration, as engines write it.
func (e Entry) WithProvider(config ProviderConfig) Entry {
	e.resource = setMembers(e.resource, map[string]any{"provider": config.String()})
	e.instance = setMembers(e.instance, map[string]any{"provider": nil})
	return e
}

// Equal reports whether two entries are the same object with the same content.
func (e Entry) Equal(other Entry) bool {
	return bytes.Equal(e.resource, other.resource) && bytes.Equal(e.instance, other.instance)
}

// AppendJSON appends the JSON form of the entry.
func (e Entry) AppendJSON(out []byte) []byte {
	const resource, instance = `{"resource":`, `,"instance":`
	out = slices.Grow(out, len(resource)+len(e.resource)+len(instance)+len(e.instance)+1)
	out = append(append(out, resource...), e.resource...)
	out = append(append(out, instance...), e.instance...)
	return append(out, '}')
}

// compare gives the order of a document: that of the members which name a resource, as text.
func (e Entry) compare(other Entry) int {
	return cmp.Or(
		compareModules(e.Addr.Module, other.Addr.Module),
		cmp.Compare(e.Addr.Resource.Mode.String(), other.Addr.Resource.Mode.String()),
		cmp.Compare(e.Addr.Resource.Type, other.Addr.Resource.Type),
		cmp.Compare(e.Addr.Resource.Name, other.Addr.Resource.Name),
		bytes.Compare(e.resource, other.resource), // keeps objects apart that cannot share one entry of the list
		e.Addr.Key.Compare(other.Addr.Key),
		cmp.Compare(e.Deposed, other.Deposed),
	)
}

func compareModules(a, b stackaddrs.ModuleInstance) int {
	if a == b {
		return 0
	}
	return cmp.Compare(a.String(), b.String())
}

// appendEntries appends the list of resources. The entries must be sorted.
func appendEntries(out []byte, entries []Entry) json.RawMessage {
	out = append(out, '[')
	for i, e := range entries {
		switch {
		case i > 0 && bytes.Equal(entries[i-1].resource, e.resource):
			out = append(out, ',')
		case i > 0:
			out = append(out, "]},"...)
			fallthrough
		default:
			out = append(out, e.resource[:len(e.resource)-1]...) // without the closing brace
			out = append(out, `,"instances":[`...)
		}
		out = append(out, e.instance...)
	}
	if len(entries) > 0 {
		out = append(out, "]}"...)
	}
	return append(out, ']')
}

// EntryReader reads the JSON forms of entries, one after the other; it keeps the parsed address of
// a resource for the next of its instances. The zero value is ready for use. Not safe for
// concurrent use.
type EntryReader struct {
	addrs map[string]stackaddrs.ResourceInstance // by resource
}

// Read reads the JSON form of an entry.
func (r *EntryReader) Read(text []byte) (Entry, error) {
	text, err := compact(text)
	if err != nil {
		return Entry{}, err
	}
	if !isObject(text) {
		return Entry{}, errors.New("not an object")
	}
	var resource, instance json.RawMessage
	for name, value := range members(text) {
		switch name {
		case "resource":
			resource = value
		case "instance":
			instance = value
		}
	}
	if isNull(resource) || isNull(instance) {
		return Entry{}, errors.New("there is no resource or no instance")
	}
	addr, ok := r.addrs[string(resource)]
	if !ok {
		if addr, err = resourceAddr(resource); err != nil {
			return Entry{}, err
		}
		if r.addrs == nil {
			r.addrs = make(map[string]stackaddrs.ResourceInstance)
		}
		r.addrs[string(resource)] = addr
	}
	return newEntry(addr, resource, instance)
}

// newEntry makes an entry of an instance of a resource.
func newEntry(addr stackaddrs.ResourceInstance, resource, instance json.RawMessage) (Entry, error) {
	e := Entry{Addr: addr, resource: resource, instance: instance}
	if !isObject(instance) {
		return e, fmt.Errorf("an instance of %s: not an object", addr)
	}
	for name, value := range members(instance) {
		var err error
		switch name {
		case "index_key":
			e.Addr.Key, err = instanceKey(value)
		case "deposed":
			e.Deposed, err = deposedKey(value)
		}
		if err != nil {
			return e, fmt.Errorf("an instance of %s: %w", addr, err)
		}
	}
	return e, nil
}

func instanceKey(value json.RawMessage) (stackaddrs.InstanceKey, error) {
	var key any
	if err := json.Unmarshal(value, &key); err != nil {
		return stackaddrs.NoKey, err
	}
	switch key := key.(type) {
	case nil:
		return stackaddrs.NoKey, nil
	case string:
		return stackaddrs.StringKey(key), nil
	case float64:
		if key == float64(int64(key)) {
			return stackaddrs.IntKey(int64(key)), nil
		}
	}
	return stackaddrs.NoKey, fmt.Errorf("invalid index key %s", value)
}

func deposedKey(value json.RawMessage) (stackaddrs.DeposedKey, error) {
	var text string
	if err := stringMember(&text, "deposed", value); err != nil || text == "" {
		return "", err
	}
	return stackaddrs.ParseDeposedKey(text)
}

// resourceAddr returns the address of a resource, without a key, from its entry.
func resourceAddr(resource json.RawMessage) (addr stackaddrs.ResourceInstance, err error) {
	if !isObject(resource) {
		return addr, errors.New("a resource: not an object")
	}
	var module, mode string
	for name, value := range members(resource) {
		switch name {
		case "module":
			err = stringMember(&module, name, value)
		case "mode":
			err = stringMember(&mode, name, value)
		case "type":
			err = stringMember(&addr.Resource.Type, name, value)
		case "name":
			err = stringMember(&addr.Resource.Name, name, value)
		case "instances":
			err = errors.New("instances are not expected here")
		}
		if err != nil {
			return addr, fmt.Errorf("a resource: %w", err)
		}
	}
	switch mode {
	case stackaddrs.ManagedResource.String():
	case stackaddrs.DataResource.String():
		addr.Resource.Mode = stackaddrs.DataResource
	default:
		return addr, fmt.Errorf("a resource: unknown mode %q", mode)
	}
	if addr.Module, err = stackaddrs.ParseModuleInstance(module); err != nil {
		return addr, err
	}
	if addr.Module.String() != module {
		return addr, fmt.Errorf("%q is not the canonical form of the address %s", module, addr.Module)
	}
	if parsed, err := stackaddrs.ParseResourceInstance(addr.Resource.String()); err != nil || parsed.Resource != addr.Resource {
		return addr, errors.Join(fmt.Errorf("a resource: %q and %q are not a type and a name", addr.Resource.Type, addr.Resource.Name), err)
	}
	return addr, nil
}
