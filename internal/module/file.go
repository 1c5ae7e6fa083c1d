// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// File is one configuration file of a module.
type File struct {
	Name     string // in its directory
	Display  string // as ranges in the file name it
	Source   []byte
	JSON     bool
	Override bool
	Tofu     bool // only tofu reads it

	// File is never nil, but lacks the parts that could not be parsed.
	File *hcl.File

	// Broken is set if there are mistakes in the syntax.
	Broken bool
}

// Native returns the syntax tree of a file in native syntax.
func (f *File) Native() (body *hclsyntax.Body, ok bool) {
	body, ok = f.File.Body.(*hclsyntax.Body)
	return body, ok
}

// suffixes of configuration files, the ones that hide others first.
var (
	terraformSuffixes = []string{".tf", ".tf.json"}
	tofuSuffixes      = []string{".tofu", ".tofu.json", ".tf", ".tf.json"}
)

// HasValues reports whether a file of that name has values of variables, and is read where the
// engine is run in its directory.
func HasValues(name string) bool {
	name = strings.TrimSuffix(name, ".json")
	return name == "terraform.tfvars" || strings.HasSuffix(name, ".auto.tfvars")
}

// splitName splits a file name into base and suffix; suffix is empty if the file is
// no configuration file.
func splitName(name string, suffixes []string) (base, suffix string) {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		(strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")) {
		return name, ""
	}
	for _, suffix := range suffixes {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			return base, suffix
		}
	}
	return name, ""
}

// isOfTofu reports whether a name is that of a configuration file that only tofu reads.
func isOfTofu(name string) bool {
	_, suffix := splitName(name, tofuSuffixes)
	return strings.HasPrefix(suffix, ".tofu")
}

// fileNames are the names of the files in the directory of a module, in byte order.
type fileNames struct {
	read   []string // the configuration files: primary files first, then override files
	tofu   []string // those that only tofu reads, whether they are read or not
	values []string // those with values of variables, which are read where the engine is run in the directory
}

func (l *Loader) fileNames(dir string) (fileNames, error) {
	var names fileNames
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names, err
	}
	suffixes := terraformSuffixes
	if l.readsTofu() {
		suffixes = tofuSuffixes
	}
	present := make(map[string]bool, len(entries))
	for _, entry := range entries {
		present[entry.Name()] = true
	}
	for _, entry := range entries {
		base, suffix := splitName(entry.Name(), suffixes)
		ofTofu, ofValues := isOfTofu(entry.Name()), HasValues(entry.Name())
		if suffix == "" && !ofTofu && !ofValues || isDirectory(dir, entry) {
			continue
		}
		if ofTofu {
			names.tofu = append(names.tofu, entry.Name())
		}
		hiding := strings.Replace(suffix, ".tf", ".tofu", 1)
		switch {
		case ofValues:
			names.values = append(names.values, entry.Name())
		case suffix != "" && (hiding == suffix || !l.readsTofu() || !present[base+hiding]):
			names.read = append(names.read, entry.Name())
		}
	}
	names.read = append(names.read, l.added(dir)...)
	slices.Sort(names.read)
	slices.SortStableFunc(names.read, func(a, b string) int {
		return cmp.Compare(rank(a, suffixes), rank(b, suffixes))
	})
	return names, nil
}

// added returns the names of the files in a directory that are not there.
func (l *Loader) added(dir string) []string {
	var names []string
	for path := range l.opts.Added {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

func isDirectory(dir string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err == nil && info.IsDir()
}

func rank(name string, suffixes []string) int {
	base, _ := splitName(name, suffixes)
	if base == "override" || strings.HasSuffix(base, "_override") {
		return 1
	}
	return 0
}

func (l *Loader) parseFile(dir, name string) (*File, hcl.Diagnostics) {
	display := l.display(filepath.Join(dir, name))
	source, err := l.readFile(filepath.Join(dir, name))
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Unreadable module file", "The file %s of a module cannot be read: %s.", display, err)}
	}
	return l.opts.Files.parse(name, display, source)
}

func (l *Loader) readFile(path string) ([]byte, error) {
	for _, texts := range []map[string][]byte{l.opts.Buffers, l.opts.Added} {
		if text, ok := texts[path]; ok {
			return text, nil
		}
	}
	return os.ReadFile(path)
}

// parse parses a file.
func parse(name, display string, source []byte) (*File, hcl.Diagnostics) {
	file := &File{
		Name:     name,
		Display:  display,
		Source:   source,
		JSON:     strings.HasSuffix(name, ".json"),
		Override: rank(name, tofuSuffixes) == 1,
		Tofu:     isOfTofu(name),
	}
	var diags hcl.Diagnostics
	if file.JSON {
		file.File, diags = safehcl.ParseJSON(source, display)
	} else {
		file.File, diags = safehcl.ParseConfig(source, display, hcl.InitialPos)
	}
	file.Broken = diags.HasErrors()
	if file.File == nil {
		file.File = &hcl.File{Body: hcl.EmptyBody(), Bytes: source}
	}
	return file, diags
}

// display returns how ranges name the file (rule D2).
func (l *Loader) display(path string) string {
	if l.opts.Resolver != nil {
		if place, ok := l.opts.Resolver.Locate(path); ok {
			return place.Address
		}
	}
	if rel, err := filepath.Rel(l.opts.Base, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}
