// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// counting counts how often files are read.
type counting struct {
	fstest.MapFS
	reads int
}

func (c *counting) ReadFile(name string) ([]byte, error) {
	c.reads++
	return c.MapFS.ReadFile(name)
}

var _ fs.ReadFileFS = (*counting)(nil)

// TestHintsReadFilesOnce looks for possible targets of many requisites in files that are not
// loaded: it reads each of these once.
func TestHintsReadFilesOnce(t *testing.T) {
	const files, requisites = 20, 50
	tree := &counting{MapFS: fstest.MapFS{}}
	var src strings.Builder
	for i := range files {
		tree.MapFS[fmt.Sprintf("f%d.sls", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "other%d: {m.f: []}\n", i)}
	}
	for i := range requisites {
		fmt.Fprintf(&src, "s%d: {m.f: [{require: [{n: other%d}]}]}\n", i, i)
	}
	tree.MapFS["all.sls"] = &fstest.MapFile{Data: []byte(src.String())}
	high, diags := Load(tree, []string{"all"}, LoadOptions{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	_, diags = Compile(high, CompileOptions{})
	if len(diags) != requisites {
		t.Fatalf("%d problems, want %d", len(diags), requisites)
	}
	if !strings.Contains(diags[7].Detail, `The SLS "f7" declares it`) {
		t.Errorf("got %s", diags[7].Detail)
	}
	if tree.reads > files+1 {
		t.Errorf("%d files were read %d times", files+1, tree.reads)
	}
}
