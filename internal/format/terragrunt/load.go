// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terragrunt

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// FileName is the name of a file that makes a directory a unit.
const FileName = "terragrunt.hcl"

// Unit is one directory.
type Unit struct {
	Dir    string // with slashes, from the root of the tree; "." for the root
	Source string // of the module, "" if the files are in the directory
	Range  hcl.Range

	Included     []string    // files that it includes, from the root of the tree, as far as they can be read
	Files        []string    // files that expressions and var files of these name, from the root of the tree, whether or not they are there
	Unread       []hcl.Range // names of such files that cannot be evaluated
	Dependencies []Dependency
	Inputs       map[string]string // those that are written out: strings, numbers and booleans
	Unknown      []Unknown
}

// Dependency is a directory that a unit comes after.
type Dependency struct {
	Dir   string // as of a unit
	Range hcl.Range
}

// Unknown is something that could not be evaluated, or that is not understood.
type Unknown struct {
	What  string // a noun phrase
	Range hcl.Range
	Order bool // it may say something about order
}

const largestFile = 1 << 20

// Load reads the units of a tree, sorted by directory. Directories whose names begin with a dot are
// left out, and links are not followed.
func Load(root string) ([]*Unit, hcl.Diagnostics) {
	l := &loader{root: root, parsed: map[string]parsed{}, budget: evaluationBudget}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, hcl.Diagnostics{problem.New(problem.BadPath, &hcl.Range{Filename: root}, "Unreadable directory",
			"The directory cannot be read: %s.", err)}
	}
	defer dir.Close() //nolint:errcheck // nothing is written
	l.files = dir.FS()
	err = fs.WalkDir(l.files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.Name() == FileName && entry.Type().IsRegular():
			l.unit(name)
		}
		return nil
	})
	if err != nil {
		l.diags = l.diags.Append(problem.New(problem.BadPath, &hcl.Range{Filename: root}, "Unreadable directory",
			"The directory cannot be read: %s.", err))
	}
	slices.SortFunc(l.units, func(a, b *Unit) int { return strings.Compare(a.Dir, b.Dir) })
	l.cycles()
	return l.units, l.diags
}

type loader struct {
	root   string
	files  fs.FS
	units  []*Unit
	diags  hcl.Diagnostics
	budget order.Budget

	parsed map[string]parsed // files that are included
}

type parsed struct {
	body  *hclsyntax.Body
	diags hcl.Diagnostics
}

// included is [loader.parse] for files that many others may include.
func (l *loader) included(name string) (*hclsyntax.Body, hcl.Diagnostics) {
	file, again := l.parsed[name]
	if !again {
		file.body, file.diags = l.parse(name)
		l.parsed[name] = file
	}
	return file.body, file.diags
}

func (l *loader) shown(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

// parse reads a file of the tree.
func (l *loader) parse(name string) (*hclsyntax.Body, hcl.Diagnostics) {
	src, err := l.read(name)
	if err != nil {
		return nil, hcl.Diagnostics{problem.New(problem.BadPath, &hcl.Range{Filename: l.shown(name)}, "Unreadable file",
			"The file cannot be read: %s.", safefile.Reason(err))}
	}
	file, diags := hclsource.Parse(src, l.shown(name))
	for _, diag := range diags {
		diag.Extra = problem.Syntax
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return file.Body.(*hclsyntax.Body), nil
}

func (l *loader) read(name string) ([]byte, error) {
	src, err := safefile.Read(l.files, name, largestFile)
	if err == nil && len(src) > largestFile {
		err = fmt.Errorf("it has more than %d MiB", largestFile>>20)
	}
	return src, err
}

// unit reads a file and adds its directory, if that has a configuration.
func (l *loader) unit(name string) {
	body, diags := l.parse(name)
	l.diags = l.diags.Extend(diags)
	if body == nil {
		return
	}
	u := &Unit{
		Dir:    path.Dir(name),
		Range:  hcl.Range{Filename: l.shown(name), Start: hcl.InitialPos, End: hcl.InitialPos},
		Inputs: map[string]string{},
	}
	r := &reader{loader: l, unit: u, seen: map[string]bool{name: true}, named: map[string]bool{}, filed: map[string]bool{}}
	r.body(body, false)
	entries, err := fs.ReadDir(l.files, u.Dir)
	hasFiles := err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".tf") || strings.HasSuffix(e.Name(), ".tf.json") || strings.HasSuffix(e.Name(), ".tofu")
	})
	if hasFiles || r.hasSource {
		l.units = append(l.units, u)
	}
}

// cycles reports units that wait for themselves.
func (l *loader) cycles() {
	var b order.Builder
	numbers := map[string]int{}
	for _, u := range l.units {
		numbers[u.Dir] = b.Add(order.Node{Name: u.Dir})
	}
	for _, u := range l.units {
		for _, d := range u.Dependencies {
			if from, there := numbers[d.Dir]; there {
				b.Edge(order.Edge{From: from, To: numbers[u.Dir], Reason: u.Dir + " depends on " + d.Dir, Place: problem.PlaceOf(d.Range)})
			}
		}
	}
	_, err := b.Build()
	l.diags = l.diags.Extend(problem.OfCycles(err))
}
