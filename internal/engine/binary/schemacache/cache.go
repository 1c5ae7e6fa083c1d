// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schemacache keeps schemas of providers on disk, since a large provider takes seconds to
// return its own.
//
// There is a file for each package of a provider, named by a key which the caller makes of all that
// the schemas depend on.
//
// Files are those of a [sealed.Dir]: one that is damaged counts as missing.
//
// Nothing depends on the cache: where it cannot be written, schemas are read again the next time.
package schemacache

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cairnstacks/cairn/internal/sealed"
)

// Schemas are those of one provider, in the JSON form of the engine.
type Schemas struct {
	Config json.RawMessage            // of its configuration; empty if it has none
	Types  map[string]json.RawMessage // of resource types, data sources and so on, by names that the caller chooses
}

// Cache is a directory of files. The zero value has none, and keeps nothing.
type Cache struct{ files sealed.Dir }

// In returns the cache in a directory, which is made when it is needed.
func In(dir string) Cache {
	// The content are the index, a line feed, and the data.
	return Cache{sealed.Dir{Path: dir, Suffix: ".schemas", Kind: "cairn schemas 1"}}
}

// Entry has the schemas of one provider. It is safe for concurrent use.
type Entry struct {
	index index
	data  []byte // the schemas that the index points to
}

// index says where each schema is.
type index struct {
	Config span            `json:"config"`
	Types  map[string]span `json:"types"`
}

// span is a part of the data, compressed.
type span struct {
	At   int `json:"at"`
	Size int `json:"size"`
}

// Load returns the schemas for a key, nil if they are not there as a whole.
func (c Cache) Load(key string) *Entry {
	content, whole := c.files.Load(key)
	if !whole {
		return nil
	}
	return decode(content)
}

// Store keeps schemas and returns them as Load will. The entry is usable even if there is an error.
func (c Cache) Store(key string, schemas Schemas) (*Entry, error) {
	content, entry, err := encode(schemas)
	if err != nil {
		return nil, err
	}
	return entry, c.files.Store(key, content)
}

func encode(schemas Schemas) ([]byte, *Entry, error) {
	entry := &Entry{index: index{Types: make(map[string]span, len(schemas.Types))}}
	var data bytes.Buffer
	compressed, err := flate.NewWriter(&data, flate.BestSpeed)
	if err != nil {
		return nil, nil, err
	}
	add := func(schema []byte) (span, error) {
		at := data.Len()
		compressed.Reset(&data)
		_, err := compressed.Write(schema)
		err = errors.Join(err, compressed.Close())
		return span{at, data.Len() - at}, err
	}
	if len(schemas.Config) > 0 {
		if entry.index.Config, err = add(schemas.Config); err != nil {
			return nil, nil, err
		}
	}
	for name, schema := range schemas.Types {
		if entry.index.Types[name], err = add(schema); err != nil {
			return nil, nil, err
		}
	}
	entry.data = data.Bytes()
	head, err := json.Marshal(entry.index)
	if err != nil {
		return nil, nil, err
	}
	return append(append(head, '\n'), entry.data...), entry, nil
}

var errDamaged = errors.New("the file of schemas is damaged")

// decode returns nil for content of another form.
func decode(content []byte) *Entry {
	head, data, found := bytes.Cut(content, []byte("\n"))
	entry := &Entry{data: data}
	if !found || json.Unmarshal(head, &entry.index) != nil {
		return nil
	}
	return entry
}

// Config returns the schema of the provider's configuration, empty if it has none.
func (e *Entry) Config() (json.RawMessage, error) { return e.read(e.index.Config) }

// Type returns the schema with a name, nil if there is none.
func (e *Entry) Type(name string) (json.RawMessage, error) {
	at, ok := e.index.Types[name]
	if !ok {
		return nil, nil
	}
	return e.read(at)
}

func (e *Entry) read(at span) (json.RawMessage, error) {
	if at.Size == 0 {
		return nil, nil
	}
	if at.At < 0 || at.Size < 0 || at.At > len(e.data)-at.Size {
		return nil, errDamaged
	}
	schema, err := io.ReadAll(flate.NewReader(bytes.NewReader(e.data[at.At : at.At+at.Size])))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return schema, nil
}
