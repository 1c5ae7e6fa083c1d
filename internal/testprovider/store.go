// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Store is a directory of objects, one JSON file each, as the provider keeps them.
//
// Safe for concurrent use, also by several processes: files are replaced whole.
type Store struct {
	Dir string
}

// Object is the record that the provider keeps of one managed resource instance.
//
// Values has every attribute and nested block of the resource by name, in the JSON of Terraform's
// state; attributes of unknown type are wrapped as {"type":…,"value":…}. A member that is missing
// counts as unchanged when the object is read. WriteOnly has the last values of write-only
// attributes.
type Object struct {
	Type      string                     `json:"type"`
	ID        string                     `json:"id"`
	Region    string                     `json:"region,omitempty"`
	Values    map[string]json.RawMessage `json:"values"`
	WriteOnly map[string]json.RawMessage `json:"write_only,omitempty"`
}

// Get returns the object with the given id.
//
// Errors:
//   - [fs.ErrNotExist]: there is none.
func (s Store) Get(id string) (*Object, error) {
	raw, err := os.ReadFile(s.path(id))
	if err != nil {
		return nil, fmt.Errorf("reading object %q: %w", id, err)
	}
	obj := new(Object)
	if err := json.Unmarshal(raw, obj); err != nil {
		return nil, fmt.Errorf("reading object %q: %w", id, err)
	}
	return obj, nil
}

// Create stores an object whose id is not taken yet.
//
// Errors:
//   - [fs.ErrExist]: the id is taken.
func (s Store) Create(obj *Object) error {
	return s.write(obj, os.Link) // unlike Rename, Link never replaces a file
}

// Put stores obj in place of the object with its id, if there is one.
func (s Store) Put(obj *Object) error {
	return s.write(obj, os.Rename)
}

// Delete removes the object with the given id.
//
// Errors:
//   - [fs.ErrNotExist]: there is none.
func (s Store) Delete(id string) error {
	if err := os.Remove(s.path(id)); err != nil {
		return fmt.Errorf("deleting object %q: %w", id, err)
	}
	return nil
}

// List returns the ids of all objects in lexical order of their file names. A missing directory is
// an empty store.
func (s Store) List() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(s.Dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing objects: %w", err)
	}
	ids := make([]string, 0, len(names))
	for _, name := range names {
		id, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			return nil, fmt.Errorf("listing objects: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (s Store) path(id string) string {
	return filepath.Join(s.Dir, url.PathEscape(id)+".json")
}

// write puts obj into a temporary file and lets place move that to its final name.
func (s Store) write(obj *Object, place func(from, to string) error) error {
	raw, err := json.MarshalIndent(obj, "", "  ")
	if err != nil {
		return fmt.Errorf("storing object %q: %w", obj.ID, err)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("storing object %q: %w", obj.ID, err)
	}
	tmp, err := os.CreateTemp(s.Dir, "*.tmp")
	if err != nil {
		return fmt.Errorf("storing object %q: %w", obj.ID, err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // Fails after a rename, as it should.
	_, err = tmp.Write(append(raw, '\n'))
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = place(tmp.Name(), s.path(obj.ID))
	}
	if err != nil {
		return fmt.Errorf("storing object %q: %w", obj.ID, err)
	}
	return nil
}
