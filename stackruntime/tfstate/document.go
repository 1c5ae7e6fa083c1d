// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Version is the version of the format.
const Version = 4

// ErrNotDocument is the error for text that is not a state document at all.
var ErrNotDocument = errors.New("not a state document")

// VersionError is the error for a document in another version of the format.
type VersionError struct {
	Version string // as in the document; "" without one
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("not a state document of version %d: its version is %q", Version, e.Version)
}

// Document is a state document. The zero value is an empty one (rule D4).
type Document struct {
	src     []byte // nil if it was changed, or made of parts
	members object // without the resources; nil for an empty document
	entries []Entry

	lineage string
	serial  uint64
}

// Parse parses a document. Text without anything but white space is an empty one. The document may
// share memory with the text.
//
// Errors:
//   - [ErrNotDocument]: it is something else.
//   - [*VersionError]: the document is in another version of the format.
//   - any other error: an object in it cannot be understood.
func Parse(text []byte) (*Document, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return &Document{}, nil
	}
	if known := parsedBefore(text); known != nil {
		return known, nil
	}
	compacted, err := compact(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotDocument, err)
	}
	if !isObject(compacted) {
		return nil, fmt.Errorf("%w: not an object", ErrNotDocument)
	}
	d := &Document{src: text, members: objectOf(compacted)}
	resources := d.members["resources"]
	delete(d.members, "resources")
	if err := d.check(); err != nil {
		return nil, err
	}
	if isNull(resources) {
		return d, nil
	}
	if !isList(resources) {
		return nil, errors.New("resources: not a list")
	}
	for resource := range elements(resources) {
		if d.entries, err = appendResource(d.entries, resource); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.entries, Entry.compare)
	if bytes.Equal(compacted, text) { // and nobody else has it
		d.src = compacted
		keepRecent(d)
	}
	return d, nil
}

// appendResource adds the objects of an element of the list of resources.
func appendResource(entries []Entry, resource json.RawMessage) ([]Entry, error) {
	if !isObject(resource) {
		return nil, errors.New("a resource: not an object")
	}
	o := objectOf(resource)
	instances := o["instances"]
	delete(o, "instances")
	header := o.appendTo(nil)
	addr, err := resourceAddr(header)
	if err != nil || isNull(instances) {
		return entries, err
	}
	if !isList(instances) {
		return nil, fmt.Errorf("instances of %s: not a list", addr)
	}
	for instance := range elements(instances) {
		e, err := newEntry(addr, header, instance)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// check looks at the members that every document has, and keeps those that identify its state.
func (d *Document) check() error {
	if version := string(d.members["version"]); version != string(encode(Version)) {
		return &VersionError{version}
	}
	if err := stringMember(&d.lineage, "lineage", d.members["lineage"]); err != nil {
		return fmt.Errorf("%w: %w", ErrNotDocument, err)
	}
	if serial, ok := d.members["serial"]; ok {
		if err := json.Unmarshal(serial, &d.serial); err != nil {
			return fmt.Errorf("%w: serial: %w", ErrNotDocument, err)
		}
	}
	return nil
}

// Unknown returns a member of the document, or of an object in it, that this version of cairn does
// not know, for messages; empty if there is none.
func (d *Document) Unknown() string {
	for _, name := range slices.Sorted(maps.Keys(d.members)) {
		if !slices.Contains(documentMembers, name) {
			return fmt.Sprintf("%q", name)
		}
	}
	for _, e := range d.entries {
		for _, part := range []struct {
			object json.RawMessage
			known  []string
		}{{e.resource, resourceMembers}, {e.instance, instanceMembers}} {
			for name := range members(part.object) {
				if !slices.Contains(part.known, name) {
					return fmt.Sprintf("%q of %s", name, e.Addr)
				}
			}
		}
	}
	return ""
}

// The possible members of documents, of the elements of their list of resources, and of the
// instances of these.
var (
	documentMembers = []string{"version", "terraform_version", "serial", "lineage", "outputs", "check_results"}
	resourceMembers = []string{"module", "mode", "type", "name", "each", "provider"}
	instanceMembers = []string{
		"index_key", "deposed", "status", "schema_version", "attributes", "attributes_flat", "sensitive_attributes",
		"identity_schema_version", "identity", "private", "dependencies", "create_before_destroy", "provider",
	}
)

// New puts a document together of the rest of one, as [Document.Rest] returns it, and of entries.
// Missing members that a document must have are added, except for a lineage. Without a rest and
// entries it is empty.
func New(rest json.RawMessage, entries []Entry) (*Document, error) {
	if len(rest) == 0 && len(entries) == 0 {
		return &Document{}, nil
	}
	d := &Document{members: object{}}
	if len(rest) > 0 {
		compacted, err := compact(rest)
		if err != nil {
			return nil, fmt.Errorf("rest of a state document: %w", err)
		}
		if !isObject(compacted) {
			return nil, errors.New("rest of a state document: not an object")
		}
		d.members = objectOf(compacted)
		delete(d.members, "resources")
	}
	d.members["version"] = encode(Version)
	if _, ok := d.members["serial"]; !ok {
		d.members["serial"] = json.RawMessage("1")
	}
	d.members["outputs"] = json.RawMessage("{}")
	if err := d.check(); err != nil {
		return nil, err
	}
	return d.WithEntries(entries)
}

// IsEmpty reports whether there is no state at all.
func (d *Document) IsEmpty() bool { return d.members == nil }

// Lineage returns the name of the state that the document is a version of, Serial which of its
// versions. Either may be missing, and is then zero.
func (d *Document) Lineage() string { return d.lineage }

// Serial is described at [Document.Lineage].
func (d *Document) Serial() uint64 { return d.serial }

// HasObjects reports whether there is any resource instance object.
func (d *Document) HasObjects() bool { return len(d.entries) > 0 }

// Entries returns the resource instance objects, sorted by address: the current one of an instance
// before those deposed. The caller must not change the slice.
func (d *Document) Entries() []Entry { return d.entries }

// Objects decodes all entries, in their order.
func (d *Document) Objects() ([]Object, error) {
	objects := make([]Object, len(d.entries))
	for i, e := range d.entries {
		var err error
		if objects[i], err = e.Object(); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// ParseObjects is [Parse] and [Document.Objects], for callers that look at nothing else.
func ParseObjects(text []byte) ([]Object, error) {
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return d.Objects()
}

// Rest returns the document without resources and outputs, in the form of rule D2. Nil for an empty
// document.
func (d *Document) Rest() json.RawMessage {
	if d.IsEmpty() {
		return nil
	}
	rest := maps.Clone(d.members)
	delete(rest, "outputs")
	return rest.appendTo(nil)
}

// Bytes prints the document (rules D1 and D2). The caller must not change the result.
func (d *Document) Bytes() []byte {
	if d.IsEmpty() || d.src != nil {
		return d.src
	}
	size := len(`{"resources":[]}]}`)
	for name, value := range d.members {
		size += len(name) + len(value) + len(`"":,`)
	}
	for i, e := range d.entries {
		size += len(e.instance) + 1
		if i == 0 || !bytes.Equal(d.entries[i-1].resource, e.resource) {
			size += len(e.resource) + len(`"instances":[],`)
		}
	}
	names := slices.AppendSeq(make([]string, 0, len(d.members)+1), maps.Keys(d.members))
	names = append(names, "resources")
	slices.SortFunc(names, compareNames)
	out := append(make([]byte, 0, size), '{')
	for _, name := range names {
		if name == "resources" {
			out = appendEntries(appendMember(out, name, nil), d.entries)
		} else {
			out = appendMember(out, name, d.members[name])
		}
	}
	return append(out, '}')
}

// Identity distinguishes states that hold different objects.
type Identity struct {
	Absent    bool   `json:"absent,omitempty"` // there is no state at all
	Lineage   string `json:"lineage,omitempty"`
	Serial    uint64 `json:"serial,omitempty"`
	Resources string `json:"resources"` // hash; empty without resources
}

// Identity returns the members that distinguish the document from others.
func (d *Document) Identity() Identity {
	if d.IsEmpty() {
		return Identity{Absent: true}
	}
	identity := Identity{Lineage: d.lineage, Serial: d.serial}
	if d.HasObjects() {
		sum := sha256.Sum256(appendEntries(nil, d.entries))
		identity.Resources = hex.EncodeToString(sum[:])
	}
	return identity
}

// with returns a copy that has other values of some members.
func (d *Document) with(values object) *Document {
	changed := *d
	changed.src = nil
	changed.members = maps.Clone(d.members)
	if d.IsEmpty() {
		changed.members = object{"version": encode(Version)}
	}
	maps.Copy(changed.members, values)
	return &changed
}

// WithIdentity returns a document with another lineage and serial.
func (d *Document) WithIdentity(lineage string, serial uint64) *Document {
	if !d.IsEmpty() && d.lineage == lineage && d.serial == serial {
		return d
	}
	changed := d.with(object{"lineage": encode(lineage), "serial": encode(serial)})
	changed.lineage, changed.serial = lineage, serial
	return changed
}

// WithEntries returns a document with other resource instance objects, in any order. It fails if
// one of them occurs twice.
func (d *Document) WithEntries(entries []Entry) (*Document, error) {
	changed := d.with(nil)
	changed.entries = slices.SortedFunc(slices.Values(entries), Entry.compare)
	for i := 1; i < len(changed.entries); i++ {
		if changed.entries[i-1].compare(changed.entries[i]) == 0 {
			return nil, fmt.Errorf("%s occurs twice", changed.entries[i].Addr)
		}
	}
	return changed, nil
}

// Resources returns the resources that there are objects of, without keys of instances, each once
// and in the order of the entries.
func (d *Document) Resources() []stackaddrs.ResourceInstance {
	var resources []stackaddrs.ResourceInstance
	for _, e := range d.entries {
		resource := e.Addr
		resource.Key = stackaddrs.NoKey
		if n := len(resources); n == 0 || resources[n-1] != resource {
			resources = append(resources, resource)
		}
	}
	return resources
}
