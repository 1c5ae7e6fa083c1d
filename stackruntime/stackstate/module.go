// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// stateVersion is the version of the state documents of modules.
const stateVersion = "4"

// object is one resource instance object of a module's state.
type object struct {
	addr    stackaddrs.ResourceInstance
	deposed stackaddrs.DeposedKey

	// resource is the entry of the resource without its instances, and instance
	// the entry of the instance, as they stand in the document but compact.
	resource json.RawMessage
	instance json.RawMessage
}

// compare gives the order of a document: that of the members which name a resource, as text.
func (o object) compare(other object) int {
	return cmp.Or(
		compareModules(o.addr.Module, other.addr.Module),
		cmp.Compare(o.addr.Resource.Mode.String(), other.addr.Resource.Mode.String()),
		cmp.Compare(o.addr.Resource.Type, other.addr.Resource.Type),
		cmp.Compare(o.addr.Resource.Name, other.addr.Resource.Name),
		bytes.Compare(o.resource, other.resource), // keeps apart what cannot share one entry
		o.addr.Key.Compare(other.addr.Key),
		cmp.Compare(o.deposed, other.deposed),
	)
}

func compareModules(a, b stackaddrs.ModuleInstance) int {
	if a == b {
		return 0
	}
	return cmp.Compare(a.String(), b.String())
}

// splitModule takes the state document of a module apart: into its resource
// instance objects and the rest, which is a JSON object without outputs, in
// compact form and with sorted names. Both are empty for an empty document.
func splitModule(doc engine.State) (rest json.RawMessage, objects []object, err error) {
	if len(doc) == 0 {
		return nil, nil, nil
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(doc, &top); err != nil {
		return nil, nil, fmt.Errorf("not a state document: %w", err)
	}
	if version := string(top["version"]); version != stateVersion {
		return nil, nil, fmt.Errorf("not a state document of version %s: its version is %q", stateVersion, version)
	}
	var resources []map[string]json.RawMessage
	if raw, ok := top["resources"]; ok {
		if err := json.Unmarshal(raw, &resources); err != nil {
			return nil, nil, fmt.Errorf("resources: %w", err)
		}
	}
	delete(top, "resources")
	delete(top, "outputs")
	for _, resource := range resources {
		objects, err = appendObjects(objects, resource)
		if err != nil {
			return nil, nil, err
		}
	}
	rest, err = encodeObject(top)
	return rest, objects, err
}

// appendObjects adds the objects of one entry of the list of resources. The
// entry is changed.
func appendObjects(objects []object, resource map[string]json.RawMessage) ([]object, error) {
	var instances []json.RawMessage
	if raw, ok := resource["instances"]; ok {
		if err := json.Unmarshal(raw, &instances); err != nil {
			return nil, fmt.Errorf("instances of a resource: %w", err)
		}
	}
	delete(resource, "instances")
	header, err := encodeObject(resource)
	if err != nil {
		return nil, err
	}
	addr, err := headerAddress(header)
	if err != nil {
		return nil, err
	}
	for _, raw := range instances {
		compact, err := appendCompact(nil, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", addr, err)
		}
		o := object{addr: addr, resource: header, instance: compact}
		if o.addr.Key, o.deposed, err = instanceIdentity(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", addr, err)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// headerAddress returns the address of a resource from its entry.
func headerAddress(header json.RawMessage) (addr stackaddrs.ResourceInstance, err error) {
	var entry struct {
		Module, Mode, Type, Name string
		Instances                json.RawMessage
	}
	if err := json.Unmarshal(header, &entry); err != nil {
		return addr, fmt.Errorf("entry of a resource: %w", err)
	}
	if entry.Instances != nil {
		return addr, errors.New("entry of a resource: instances are not expected here")
	}
	addr.Resource = stackaddrs.Resource{Type: entry.Type, Name: entry.Name}
	switch entry.Mode {
	case stackaddrs.ManagedResource.String():
	case stackaddrs.DataResource.String():
		addr.Resource.Mode = stackaddrs.DataResource
	default:
		return addr, fmt.Errorf("entry of a resource: unknown mode %q", entry.Mode)
	}
	if addr.Module, err = canonical(entry.Module, stackaddrs.ParseModuleInstance); err != nil {
		return addr, err
	}
	if parsed, err := stackaddrs.ParseResourceInstance(addr.Resource.String()); err != nil || parsed.Resource != addr.Resource {
		return addr, errors.Join(fmt.Errorf("entry of a resource: %q and %q are not a type and a name", entry.Type, entry.Name), err)
	}
	return addr, nil
}

// instanceIdentity returns what tells an instance entry from others of its resource.
func instanceIdentity(instance json.RawMessage) (stackaddrs.InstanceKey, stackaddrs.DeposedKey, error) {
	if !bytes.HasPrefix(instance, []byte("{")) {
		return stackaddrs.NoKey, "", errors.New("entry of an instance: not an object")
	}
	var entry struct {
		IndexKey any                   `json:"index_key"`
		Deposed  stackaddrs.DeposedKey `json:"deposed"`
	}
	if err := json.Unmarshal(instance, &entry); err != nil {
		return stackaddrs.NoKey, "", fmt.Errorf("entry of an instance: %w", err)
	}
	if entry.Deposed != "" {
		if _, err := stackaddrs.ParseDeposedKey(string(entry.Deposed)); err != nil {
			return stackaddrs.NoKey, "", err
		}
	}
	switch key := entry.IndexKey.(type) {
	case nil:
		return stackaddrs.NoKey, entry.Deposed, nil
	case string:
		return stackaddrs.StringKey(key), entry.Deposed, nil
	case float64:
		if key == float64(int64(key)) {
			return stackaddrs.IntKey(int64(key)), entry.Deposed, nil
		}
	}
	return stackaddrs.NoKey, "", fmt.Errorf("invalid index key %v", entry.IndexKey)
}

// joinModule is the reverse of [splitModule]. The document it makes depends on
// its arguments only, not on the order of the objects, which it sorts in place.
//
// A document that has no lineage of its own gets one that is derived from the
// component's address, since terraform requires one.
func joinModule(component stackaddrs.AbsComponentInstance, rest json.RawMessage, objects []object) (engine.State, error) {
	if len(rest) == 0 && len(objects) == 0 {
		return nil, nil
	}
	var top map[string]json.RawMessage
	if len(rest) > 0 {
		if err := json.Unmarshal(rest, &top); err != nil {
			return nil, fmt.Errorf("rest of the module's state: %w", err)
		}
	}
	if top == nil {
		top = map[string]json.RawMessage{}
	}
	top["version"] = json.RawMessage(stateVersion)
	if _, ok := top["serial"]; !ok {
		top["serial"] = json.RawMessage("1")
	}
	if lineage := top["lineage"]; len(lineage) == 0 || string(lineage) == `""` || string(lineage) == "null" {
		top["lineage"] = json.RawMessage(`"` + derivedLineage(component) + `"`)
	}
	top["outputs"] = json.RawMessage("{}")
	resources, err := joinResources(objects)
	if err != nil {
		return nil, err
	}
	top["resources"] = resources
	return appendObject(make([]byte, 0, len(rest)+len(resources)+128), top)
}

// lineageNamespace is the name space of the lineages derived from addresses.
var lineageNamespace = uuid.MustParse("6f0d7a8e-4a39-5d0c-9d54-5f3a0f1f5d7b")

func derivedLineage(component stackaddrs.AbsComponentInstance) string {
	return uuid.NewSHA1(lineageNamespace, []byte(component.String())).String()
}

func joinResources(objects []object) (json.RawMessage, error) {
	slices.SortFunc(objects, object.compare)
	list := make([]byte, 0, 2+256*len(objects))
	list = append(list, '[')
	for i, o := range objects {
		if i > 0 && objects[i-1].compare(o) == 0 {
			return nil, fmt.Errorf("%s occurs twice", o.addr)
		}
		if i > 0 && bytes.Equal(objects[i-1].resource, o.resource) {
			list = append(list, ',')
			list = append(list, o.instance...)
			continue
		}
		if i > 0 {
			list = append(list, "]},"...)
		}
		header := o.resource[:len(o.resource)-1] // without the closing brace
		list = append(list, header...)
		list = append(list, `,"instances":[`...)
		list = append(list, o.instance...)
	}
	if len(objects) > 0 {
		list = append(list, "]}"...)
	}
	return append(list, ']'), nil
}

// record returns the value of the object's record.
func (o object) record() []byte {
	value := make([]byte, 0, len(o.resource)+len(o.instance)+32)
	value = append(value, `{"resource":`...)
	value = append(value, o.resource...)
	value = append(value, `,"instance":`...)
	value = append(value, o.instance...)
	return append(value, '}')
}

// decodeObjectRecord is the reverse of [object.record], for the record with the
// given key. headers has the addresses of resource entries seen before.
func decodeObjectRecord(key Key, value []byte, headers map[string]stackaddrs.ResourceInstance) (object, error) {
	var entry struct{ Resource, Instance json.RawMessage }
	if err := json.Unmarshal(value, &entry); err != nil {
		return object{}, err
	}
	if len(entry.Resource) == 0 || len(entry.Instance) == 0 {
		return object{}, errors.New("the record has no resource or no instance")
	}
	addr, ok := headers[string(entry.Resource)]
	if !ok {
		var err error
		if addr, err = headerAddress(entry.Resource); err != nil {
			return object{}, err
		}
		headers[string(entry.Resource)] = addr
	}
	o := object{addr: addr, resource: entry.Resource, instance: entry.Instance}
	var err error
	if o.addr.Key, o.deposed, err = instanceIdentity(entry.Instance); err != nil {
		return object{}, err
	}
	if o.addr != key.Resource || o.deposed != key.Deposed {
		return object{}, fmt.Errorf("the record is of another object: %s", o.addr)
	}
	return o, nil
}

// headOrder has the names that come first in objects, as terraform writes them.
var headOrder = []string{
	"version", "terraform_version", "serial", "lineage", "outputs", "resources", // documents
	"module", "mode", "type", "name", "provider", // entries of resources
}

// encodeObject writes a JSON object in compact form, its values token by token
// as they are. The members are changed.
func encodeObject(members map[string]json.RawMessage) (json.RawMessage, error) {
	for name, value := range members {
		compact, err := appendCompact(nil, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		members[name] = compact
	}
	return appendObject(nil, members)
}

// appendObject appends a JSON object, the values as they are.
func appendObject(out []byte, members map[string]json.RawMessage) (json.RawMessage, error) {
	names := slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(cmp.Compare(headRank(a), headRank(b)), strings.Compare(a, b))
	})
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(out, quoted...), ':')
		out = append(out, members[name]...)
	}
	return append(out, '}'), nil
}

func headRank(name string) int {
	if i := slices.Index(headOrder, name); i >= 0 {
		return i
	}
	return len(headOrder)
}

// appendCompact appends a JSON value without white space between its tokens.
func appendCompact(out []byte, value json.RawMessage) ([]byte, error) {
	buf := bytes.NewBuffer(out)
	if err := json.Compact(buf, value); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
