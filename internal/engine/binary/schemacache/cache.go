// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schemacache keeps schemas of providers on disk, since a large provider takes seconds to
// return its own.
//
// There is a file for each package of a provider, named by a key which the caller makes of all that
// the schemas depend on.
//
// Rules:
//
//  1. A file is written under another name and renamed: no reader sees half of it, and of several
//     writers one wins.
//  2. A file begins with a checksum of the rest, which is compared whenever the file is read. One
//     that is damaged counts as missing.
//  3. Directories and files are for their owner alone.
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
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/sealed"
)

// Schemas are those of one provider, in the JSON form of the engine.
type Schemas struct {
	Config json.RawMessage            // of its configuration; empty if it has none
	Types  map[string]json.RawMessage // of resource types, data sources and so on, by names that the caller chooses
}

// Cache is a directory of files. The zero value has none, and keeps nothing.
type Cache struct{ dir string }

// In returns the cache in a directory, which is made when it is needed.
func In(dir string) Cache { return Cache{dir} }

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

const (
	suffix = ".schemas"
	kind   = "cairn schemas 1" // its content are the index, a line feed, and the data
)

// Load returns the schemas for a key, nil if they are not there as a whole.
func (c Cache) Load(key string) *Entry {
	if c.dir == "" {
		return nil
	}
	path := c.path(key)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	entry, err := decode(content)
	if err != nil {
		return nil
	}
	touch(path)
	return entry
}

// Store keeps schemas and returns them as Load will. The entry is usable even if there is an error.
func (c Cache) Store(key string, schemas Schemas) (*Entry, error) {
	content, entry, err := encode(schemas)
	if err != nil {
		return nil, err
	}
	if c.dir == "" {
		return entry, nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return entry, err
	}
	c.prune(time.Now())
	return entry, replace(c.path(key), content)
}

func (c Cache) path(key string) string { return filepath.Join(c.dir, key+suffix) }

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
	rest := append(append(head, '\n'), entry.data...)
	return sealed.Seal(kind, rest), entry, nil
}

var errDamaged = errors.New("the file of schemas is damaged")

func decode(content []byte) (*Entry, error) {
	rest, whole := sealed.Open(kind, content)
	if !whole {
		return nil, errDamaged
	}
	head, data, found := bytes.Cut(rest, []byte("\n"))
	entry := &Entry{data: data}
	if !found || json.Unmarshal(head, &entry.index) != nil {
		return nil, errDamaged
	}
	return entry, nil
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

// keepUnused is how long a file stays after it was last read, and touchAfter how exactly that is
// known.
const (
	keepUnused = 60 * 24 * time.Hour
	touchAfter = 24 * time.Hour
)

// touch records that a file is in use.
func touch(path string) {
	now := time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > touchAfter {
		_ = os.Chtimes(path, now, now) //nolint:errcheck // it is made again if it is removed too early
	}
}

// prune removes files that nobody has used for long, also those that a killed process has not
// finished.
func (c Cache) prune(now time.Time) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		old := err == nil && now.Sub(info.ModTime()) > keepUnused
		if old && info.Mode().IsRegular() && (strings.HasSuffix(entry.Name(), suffix) || strings.HasPrefix(entry.Name(), temporaryPrefix)) {
			_ = os.Remove(filepath.Join(c.dir, entry.Name())) //nolint:errcheck // the next one tries again
		}
	}
}

const temporaryPrefix = ".new-"

// replace writes a file as a whole (rule 1).
func replace(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), temporaryPrefix+"*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
