// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
)

const (
	nativeSuffix = ".tfcomponent.hcl"
	jsonSuffix   = ".tfcomponent.json"
)

// The names that component files had until 2025.
const (
	formerNativeSuffix = ".tfstack.hcl"
	formerJSONSuffix   = ".tfstack.json"
)

// IsComponentFile reports by its name whether a file belongs to a component configuration.
func IsComponentFile(name string) bool {
	return isNative(name) || isJSON(name)
}

func isNative(name string) bool {
	return strings.HasSuffix(name, nativeSuffix) || strings.HasSuffix(name, formerNativeSuffix)
}

func isJSON(name string) bool {
	return strings.HasSuffix(name, jsonSuffix) || strings.HasSuffix(name, formerJSONSuffix)
}

func isFormerName(name string) bool {
	return strings.HasSuffix(name, formerNativeSuffix) || strings.HasSuffix(name, formerJSONSuffix)
}

// ParseFile parses a component file, in the syntax that its name says, without
// decoding it. The result is never nil and has the source text in any case.
func ParseFile(name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	return parseFile(name, name, src)
}

// ParseFileAs is [ParseFile] for a file that diagnostics call by another name than that of which
// its syntax depends, as those of packages are.
func ParseFileAs(fileName, name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	return parseFile(fileName, name, src)
}

// parseFile parses a file whose name in diagnostics, as a source address, may not show its syntax.
func parseFile(fileName, name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	var file *hcl.File
	var diags hcl.Diagnostics
	switch {
	case isNative(fileName):
		file, diags = safehcl.ParseConfig(src, name, hcl.InitialPos)
	case isJSON(fileName):
		file, diags = safehcl.ParseJSON(src, name)
	default:
		diags = hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "File type not supported",
			Detail:   fmt.Sprintf("%s must end in %s or %s.", name, nativeSuffix, jsonSuffix),
			Subject:  fileStart(name),
		}}
	}
	if file == nil || file.Body == nil {
		file = &hcl.File{Body: hcl.EmptyBody()}
	}
	file.Bytes = src
	return file, diags
}

// directory is a stack directory, decoded. It is made once, however many calls
// embed it.
type directory struct {
	realPath string
	stack    Stack // without address and children
	err      error // why the directory could not be listed
}

func (l *loader) directory(path string) *directory {
	if dir, ok := l.directories[path]; ok {
		return dir
	}
	dir := &directory{realPath: path}
	l.directories[path] = dir
	if realPath, err := l.fsys.RealPath(path); err == nil {
		dir.realPath = realPath
	}
	entries, err := l.fsys.ReadDir(path)
	if err != nil {
		dir.err = err
		return dir
	}

	d := newDecoder(l, path)
	for _, entry := range entries {
		if !IsComponentFile(entry.Name()) {
			continue
		}
		if isFormerName(entry.Name()) {
			l.formerNames = append(l.formerNames, d.displayName(entry.Name()))
		}
		d.file(entry)
	}
	d.finish()
	dir.stack = *d.stack
	l.diags = append(l.diags, d.diags...)
	return dir
}

// warnOfFormerNames warns of all files with former names at once, at the first of them.
func (l *loader) warnOfFormerNames() {
	if len(l.formerNames) == 0 {
		return
	}
	slices.SortFunc(l.formerNames, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	first, others := l.formerNames[0], ""
	if n := len(l.formerNames) - 1; n == 1 {
		others = " and another file"
	} else if n > 1 {
		others = fmt.Sprintf(" and %d other files", n)
	}
	l.diags = l.diags.Append(&hcl.Diagnostic{
		Severity: hcl.DiagWarning,
		Summary:  "Deprecated file names",
		Detail: fmt.Sprintf("%s%s: these names were given up in 2025, and other programs ignore such files. "+
			"They are read all the same. Rename them to end in %s or %s.",
			first, others, nativeSuffix, jsonSuffix),
		Subject: fileStart(first),
	})
}

// file reads, parses and decodes one file of the directory.
func (d *decoder) file(entry fs.DirEntry) {
	name := d.displayName(entry.Name())
	path := filepath.Join(d.stack.Dir, entry.Name())
	if d.isDir(entry, path) {
		d.stack.Incomplete = true
		d.errorf(*fileStart(name), "Directory where a file was expected",
			"%s carries a component-file suffix but is a directory.", name)
		return
	}
	src, err := d.loader.fsys.ReadFile(path)
	if err != nil {
		d.stack.Incomplete = true
		d.errorf(*fileStart(name), "Stack source unreadable", "Reading %s failed: %s.", name, err)
		return
	}
	file, diags := d.loader.parse(path, name, src)
	d.loader.files[name], d.loader.paths[name] = file, path
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		d.stack.Incomplete = true
		return
	}
	d.json = isJSON(entry.Name())
	d.body(file.Body)
}

func (d *decoder) isDir(entry fs.DirEntry, path string) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := d.loader.fsys.Stat(path)
	return err == nil && info.IsDir()
}

func (d *decoder) displayName(file string) string {
	return d.loader.displayName(filepath.Join(d.stack.Dir, file))
}

// fileStart is the place of a diagnostic about a whole file.
func fileStart(name string) *hcl.Range {
	return &hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// newDecoder returns a decoder for the files of one directory.
func newDecoder(l *loader, dir string) *decoder {
	return &decoder{
		loader:        l,
		declared:      map[any]hcl.Range{},
		badLocalNames: map[string]bool{},
		stack: &Stack{
			Dir:        dir,
			Variables:  map[string]*InputVariable{},
			Locals:     map[string]*LocalValue{},
			Outputs:    map[string]*OutputValue{},
			Providers:  map[stackaddrs.ProviderConfigRef]*ProviderConfig{},
			Components: map[string]*Component{},
			Calls:      map[string]*StackCall{},
			Rejected:   map[stackaddrs.Referenceable]bool{},
		},
	}
}
