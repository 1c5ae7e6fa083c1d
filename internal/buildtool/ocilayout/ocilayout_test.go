// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package ocilayout

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The same files make the same image, whenever and wherever.
func TestWriteIsReproducible(t *testing.T) {
	write := func(content string) []byte {
		dir := t.TempDir()
		image := Image{
			Architecture: "amd64",
			Created:      time.Date(2026, 11, 30, 9, 17, 2, 0, time.UTC),
			Files: []File{
				{Name: "a/b/program", Mode: 0o755, Content: []byte(content)},
				{Name: "tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
			},
			Config: Config{User: "1:1", Labels: map[string]string{"x": "1", "y": "2", "z": "3"}},
		}
		if err := Write(dir, []Image{image}); err != nil {
			t.Fatal(err)
		}
		index, err := os.ReadFile(filepath.Join(dir, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		return index
	}
	one, same, other := write("one"), write("one"), write("other")
	if string(one) != string(same) {
		t.Errorf("two images of the same files differ:\n%s\n%s", one, same)
	}
	if string(one) == string(other) {
		t.Errorf("images of different files are the same:\n%s", one)
	}
}

func TestWriteFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, []Image{{Architecture: "amd64"}}); err == nil {
		t.Error("an image was written into a file")
	}
}
