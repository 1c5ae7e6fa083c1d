// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

const (
	nativeSuffix = ".tfdeploy.hcl"
	jsonSuffix   = ".tfdeploy.json"
)

// IsDeployFile reports by its name whether a file is a deployment file.
func IsDeployFile(name string) bool {
	return strings.HasSuffix(name, nativeSuffix) || strings.HasSuffix(name, jsonSuffix)
}

// ParseFile parses a deployment file, in the syntax that its name says, without decoding it. The
// result is never nil and has the source text in any case.
func ParseFile(name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	file, diags := safehcl.ParseFile(src, name)
	if file == nil || file.Body == nil {
		file = &hcl.File{Body: hcl.EmptyBody()}
	}
	file.Bytes = src
	return file, diags
}

// LoadOptions are the parameters of [LoadWith].
type LoadOptions struct {
	// Buffers are texts that stand for files, by their absolute paths. The files need not be there.
	Buffers map[string][]byte

	// Parse is called in Place of [ParseFile], with the path of the file besides: for callers that
	// have parsed a file before. Nil parses.
	Parse func(path, name string, src []byte) (*hcl.File, hcl.Diagnostics)

	// FilesWithin are the directories that functions read files in, as stackconfig.LoadOptions has
	// them.
	FilesWithin []string
}

// Load reads the deployment files in the directory of a stack. It returns nil, nil if there are
// none.
//
// With errors the configuration is as rule D1 says; it is nil only if the directory cannot be read.
// Diagnostics are sorted by place and name files relative to the directory.
func Load(dir string) (*Config, hcl.Diagnostics) { return LoadWith(dir, LoadOptions{}) }

// LoadWith is [Load] with options.
func LoadWith(dir string, opts LoadOptions) (*Config, hcl.Diagnostics) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	names, err := deployFiles(dir, opts.Buffers)
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Deployment files unreadable", "Reading %s failed: %s.", dir, err)}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if opts.Parse == nil {
		opts.Parse = func(_, name string, src []byte) (*hcl.File, hcl.Diagnostics) { return ParseFile(name, src) }
	}
	d := newDecoder(dir)
	d.config.filesWithin = opts.FilesWithin
	for _, name := range names {
		d.file(name, opts)
	}
	d.finish(names[0])
	return d.config, identity.Sort(d.diags)
}

// IsCurrent reports whether the deployment files are still those of which the configuration was
// read.
func (c *Config) IsCurrent() bool {
	names, err := deployFiles(c.Dir, nil)
	if err != nil || len(names) != len(c.Files) {
		return false
	}
	for _, name := range names {
		file := c.Files[name]
		if file == nil {
			return false
		}
		if src, err := readFile(filepath.Join(c.Dir, name)); err != nil || !bytes.Equal(src, file.Bytes) {
			return false
		}
	}
	return true
}

// deployFiles returns the names of the deployment files in a directory, sorted.
func deployFiles(dir string, buffers map[string][]byte) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if IsDeployFile(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	for path := range buffers {
		if name := filepath.Base(path); filepath.Dir(path) == dir && IsDeployFile(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// file reads, parses and decodes one file.
func (d *decoder) file(name string, opts LoadOptions) {
	path := filepath.Join(d.config.Dir, name)
	src, buffered := opts.Buffers[path]
	if !buffered {
		var err error
		if src, err = readFile(path); err != nil {
			d.config.Incomplete = true
			d.errorf(fileStart(name), "Deployment files unreadable", "Reading %s failed: %s.", name, err)
			return
		}
	}
	file, diags := opts.Parse(path, name, src)
	d.config.Files[name] = file
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		d.config.Incomplete = true
		return
	}
	d.json = nil
	if strings.HasSuffix(name, jsonSuffix) {
		d.json = file.Bytes
	}
	d.body(file.Body)
}

func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: filepath.Base(path), Err: fmt.Errorf("it is a directory, and a file was expected")}
	}
	return os.ReadFile(path)
}

// fileStart is the place of a diagnostic about a whole file.
func fileStart(name string) hcl.Range {
	return hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
}
