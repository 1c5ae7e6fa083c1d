// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package slstest makes trees of SLS files for tests.
package slstest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

// Tree makes a file system of an archive; text before its first file is blah.sls.
func Tree(archive string) fstest.MapFS {
	files := fstest.MapFS{}
	parsed := txtar.Parse([]byte(archive))
	if len(bytes.TrimSpace(parsed.Comment)) > 0 {
		files["blah.sls"] = &fstest.MapFile{Data: parsed.Comment}
	}
	for _, file := range parsed.Files {
		files[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	return files
}

// Many makes files of states that require some of those before them, in several files below the
// limit of their size. The names are those of the files for loading all.
func Many(states, requisites int) (fstest.MapFS, []string) {
	const inFile = 1000
	random := rand.New(rand.NewPCG(1, 2))
	files := fstest.MapFS{}
	var names []string
	for from := 0; from < states; from += inFile {
		var b bytes.Buffer
		for i := from; i < min(from+inFile, states); i++ {
			fmt.Fprintf(&b, "s%d: {m.f: [{require_in: [end]}, {require: [", i)
			for n := range min(requisites, i) {
				if n > 0 {
					b.WriteString(", ")
				}
				fmt.Fprintf(&b, "{m: s%d}", random.IntN(i))
			}
			b.WriteString("]}]}\n")
		}
		name := fmt.Sprintf("f%d", from/inFile)
		names = append(names, name)
		files[name+".sls"] = &fstest.MapFile{Data: b.Bytes()}
	}
	files["end.sls"] = &fstest.MapFile{Data: []byte("end: {m.f: [{order: first}]}\n")}
	return files, append(names, "end")
}
