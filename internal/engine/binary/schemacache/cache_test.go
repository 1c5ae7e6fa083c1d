// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schemacache

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func someSchemas(size int) Schemas {
	s := Schemas{Config: json.RawMessage(`{"block":{}}`), Types: map[string]json.RawMessage{}}
	for i := range size {
		s.Types[fmt.Sprintf("managed/x_%d", i)] = json.RawMessage(fmt.Sprintf(`{"version":%d}`, i))
	}
	return s
}

// check fails unless an entry has the schemas.
func check(t *testing.T, entry *Entry, want Schemas) {
	t.Helper()
	if entry == nil {
		t.Fatal("there is no entry")
	}
	if got, err := entry.Config(); err != nil || string(got) != string(want.Config) {
		t.Errorf("Config() = %s, %v, want %s", got, err, want.Config)
	}
	if len(entry.index.Types) != len(want.Types) {
		t.Errorf("the entry has %d types, want %d", len(entry.index.Types), len(want.Types))
	}
	for name, schema := range want.Types {
		if got, err := entry.Type(name); err != nil || string(got) != string(schema) {
			t.Errorf("Type(%q) = %s, %v, want %s", name, got, err, schema)
		}
	}
	if got, err := entry.Type("managed/other"); got != nil || err != nil {
		t.Errorf("Type of what there is not: %s, %v", got, err)
	}
}

func TestStoreAndLoad(t *testing.T) {
	for name, want := range map[string]Schemas{"none": {}, "one": someSchemas(1), "many": someSchemas(500)} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			stored, err := In(dir).Store("k", want)
			if err != nil {
				t.Fatal(err)
			}
			check(t, stored, want)
			check(t, In(dir).Load("k"), want)
			if got := In(dir).Load("other"); got != nil {
				t.Errorf("Load of another key: %v", got)
			}
			if runtime.GOOS == "windows" {
				return
			}
			for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "k.schemas"): 0o600} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, want)
				}
			}
		})
	}
}

// Where nothing can be written, nothing is kept, and the schemas are usable all the same.
func TestStoreWithoutDirectory(t *testing.T) {
	want := someSchemas(3)
	stored, err := Cache{}.Store("k", want)
	if err != nil {
		t.Fatal(err)
	}
	check(t, stored, want)
	if got := (Cache{}).Load("k"); got != nil {
		t.Errorf("Load without a directory: %v", got)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stored, err = In(filepath.Join(file, "below")).Store("k", want)
	if err == nil {
		t.Error("Store below a file: no error")
	}
	check(t, stored, want)
}

// However a file is damaged, it is never taken for one with other schemas.
func TestDamagedFile(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	dir := t.TempDir()
	want := someSchemas(20)
	if _, err := In(dir).Store("k", want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "k.schemas")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	isBelieved := func(file []byte) bool {
		t.Helper()
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return In(dir).Load("k") != nil
	}
	for size := range len(good) {
		if isBelieved(good[:size]) {
			t.Errorf("cut to %d bytes, the file is believed", size)
		}
	}
	for at := range len(good) {
		changed := append([]byte(nil), good...)
		changed[at] ^= byte(1 << (at % 8)) // any bit will do
		if isBelieved(changed) {
			t.Errorf("with a bit of byte %d changed, the file is believed", at)
		}
	}
	if isBelieved(append(good, 0)) {
		t.Error("with a byte more, the file is believed")
	}
	if _, err := In(dir).Store("k", want); err != nil {
		t.Fatal(err)
	}
	check(t, In(dir).Load("k"), want)
}

// A reader gets everything or nothing while others write.
func TestConcurrentWriters(t *testing.T) {
	cache := In(t.TempDir())
	want := someSchemas(200)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if _, err := cache.Store("k", want); err != nil {
					t.Error(err)
				}
				if got := cache.Load("k"); got != nil {
					check(t, got, want)
				}
			}
		})
	}
	testenv.Within(t, "everybody has written and read", all.Wait)
	check(t, cache.Load("k"), want)
	left, err := filepath.Glob(filepath.Join(cache.files.Path, safefile.TemporaryPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, schemas := range []Schemas{{}, someSchemas(2)} {
		content, _, err := encode(schemas)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte("{\"config\":{\"at\":-1,\"size\":5},\"types\":{\"x\":{\"at\":9223372036854775807,\"size\":9223372036854775807}}}\nxxxxxx"))
	f.Fuzz(func(t *testing.T, rest []byte) {
		entry := decode(rest)
		if entry == nil {
			return
		}
		if _, err := entry.Config(); err != nil {
			t.Log(err)
		}
		for name := range entry.index.Types {
			if schema, err := entry.Type(name); err == nil && len(schema) > 1<<30 {
				t.Errorf("%q has %d bytes", name, len(schema))
			}
		}
	})
}
