// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// LoadOptions say how files are read. The zero value has the usual settings.
type LoadOptions struct {
	Dir         string // shown before the names of files in diagnostics
	Env         string // name of the environment; "base" if empty
	NoAutoOrder bool   // gives calls no numbers by position (line C-06)
}

// Load reads SLS files and the files they include. Files is the root of their tree; it should not
// lead out of that, as that of an [os.Root] does not. With errors, the result is the part that
// could be understood.
func Load(files fs.FS, names []string, opts LoadOptions) (*High, hcl.Diagnostics) {
	l := newLoader(files, opts)
	for _, name := range names {
		if sls, ok := l.absolute(name, nil); ok {
			l.visit(sls, nil)
		}
	}
	l.extend()
	return l.high, l.diags
}

func newLoader(files fs.FS, opts LoadOptions) *loader {
	if opts.Env == "" {
		opts.Env = "base"
	}
	l := &loader{files: files, opts: opts, high: &High{noAutoOrder: opts.NoAutoOrder}, visited: map[string]bool{}, next: firstOrder}
	l.high.declares = l.declares
	return l
}

type loader struct {
	files   fs.FS
	opts    LoadOptions
	high    *High
	visited map[string]bool
	next    int // order number of the next call without one
	begun   int // how many files are loaded or being loaded
	extends []extension
	hints   nearest.Hints
	diags   hcl.Diagnostics

	names     []string          // of all files in the tree; nil until somebody asks
	elsewhere map[string]string // ids of files that are not loaded, with their names; nil until somebody asks

	// Of the top file, if there is one.
	topSection     *hcl.Range
	topExpressions []string
	topMatched     bool
}

// extension is one entry of "extend".
type extension struct {
	id      string
	subject *hcl.Range
	modules []*Module
}

func (l *loader) problem(code problem.Code, subject *hcl.Range, summary, detail string, args ...any) {
	l.diags = l.diags.Append(problem.New(code, subject, summary, detail, args...))
}

// visit loads a file, after the files it includes. One that is being loaded, or was, is passed over
// (line C-13).
func (l *loader) visit(sls string, from *hcl.Range) {
	if l.visited[sls] {
		return
	}
	l.visited[sls] = true
	file, src, ok := l.read(sls, from)
	if !ok {
		return
	}
	shown := path.Join(l.opts.Dir, file)
	root, diags := parse(shown, src)
	l.diags = l.diags.Extend(diags)
	if diags.HasErrors() {
		return
	}
	l.begun++
	number := l.begun
	d := &fileReader{decoder: decoder{file: shown}, sls: sls, env: l.opts.Env}
	d.read(root)
	for _, include := range d.includes {
		if name, ok := l.relative(sls, path.Base(file) == "init.sls", include); ok {
			l.visit(name, include.Range)
		}
	}
	l.diags = l.diags.Extend(d.diags)
	l.high.Loaded = append(l.high.Loaded, sls)
	l.high.Exclude = append(l.high.Exclude, d.excludes...)
	l.extends = append(l.extends, d.extends...)
	for _, id := range d.ids {
		id.file = number
		l.declare(id)
	}
}

// declare adds an id and numbers its calls.
func (l *loader) declare(id *ID) {
	if other := l.high.find(id.Name); other != nil {
		l.problem(problem.DuplicateID, id.Range, "Duplicate ID",
			"The id %q is already declared at %s. Each id stands for one thing: rename one of them, or change the first with \"extend\".",
			id.Name, place(other.Range))
		return
	}
	l.high.add(id)
	if l.opts.NoAutoOrder {
		return
	}
	for _, module := range id.Modules {
		if module.arg("order") == nil {
			module.AutoOrder = l.next
			l.next++
		}
	}
}

func place(r *hcl.Range) string {
	if r == nil {
		return "an unknown place"
	}
	return problem.PlaceOf(*r).String()
}

// read returns the content of an SLS file and its path below the root.
func (l *loader) read(sls string, from *hcl.Range) (file string, src []byte, ok bool) {
	base := strings.ReplaceAll(sls, ".", "/")
	for _, file := range []string{base + ".sls", base + "/init.sls"} {
		src, err := yamldoc.ReadFile(l.files, file)
		switch {
		case err == nil:
			return file, src, true
		case !errors.Is(err, fs.ErrNotExist):
			l.problem(problem.BadPath, from, "Unreadable SLS file", "The file of the SLS %q cannot be read: %s.", sls, safefile.Reason(err))
			return "", nil, false
		}
	}
	hint := l.hints.DidYouMean(sls, slices.Values(l.known()))
	if name, ok := strings.CutSuffix(sls, ".sls"); ok {
		hint = " The extension is left out: " + name + "."
	}
	l.problem(problem.UnknownRef, from, "Unknown SLS", "There is no SLS %q: neither %s nor %s exists.%s",
		sls, path.Join(l.opts.Dir, base+".sls"), path.Join(l.opts.Dir, base, "init.sls"), hint)
	return "", nil, false
}

// declares returns the name of an SLS that is not loaded and has an id; "" if none is found among
// the first ones. Not to be called before all are loaded that shall be.
func (l *loader) declares(id string) string {
	if l.elsewhere == nil {
		l.elsewhere = map[string]string{}
		const enough = 500
		names := l.known()
		for _, name := range names[:min(enough, len(names))] {
			if !l.visited[name] && name != strings.TrimSuffix(topName, ".sls") {
				l.readIDs(name)
			}
		}
	}
	return l.elsewhere[id]
}

// readIDs adds the ids of an SLS to those elsewhere, as far as it can be read.
func (l *loader) readIDs(name string) {
	base := strings.ReplaceAll(name, ".", "/")
	src, err := yamldoc.ReadFile(l.files, base+".sls")
	if err != nil {
		src, err = yamldoc.ReadFile(l.files, base+"/init.sls")
	}
	root, diags := parse(name, src)
	if err != nil || diags.HasErrors() || root == nil || root.Kind != yaml.MappingNode {
		return
	}
	for n := 0; n+1 < len(root.Content); n += 2 {
		if id := root.Content[n].Value; l.elsewhere[id] == "" {
			l.elsewhere[id] = name
		}
	}
}

// known lists the names of the files in the tree, as far as they can be found.
func (l *loader) known() []string {
	if l.names != nil {
		return l.names
	}
	const enough = 10_000
	names := []string{}
	err := fs.WalkDir(l.files, ".", func(file string, entry fs.DirEntry, err error) error {
		if len(names) >= enough {
			return fs.SkipAll
		}
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, ".sls") {
			name := strings.TrimSuffix(strings.TrimSuffix(file, ".sls"), "/init")
			names = append(names, strings.ReplaceAll(name, "/", "."))
		}
		return nil
	})
	if err != nil {
		names = []string{} // no suggestion then
	}
	l.names = names
	return names
}

// absolute checks the name of an SLS file. Its words are the elements of a path, so that it cannot
// lead out of the root.
func (l *loader) absolute(name string, from *hcl.Range) (string, bool) {
	if strings.ContainsAny(name, "/\\\x00") || slices.Contains(strings.Split(name, "."), "") {
		l.problem(problem.BadPath, from, "Invalid SLS name",
			"%q is not a name of an SLS. Write the path below the root with dots and without the extension: \"web.config\" is web/config.sls.", name)
		return "", false
	}
	return name, true
}

// relative resolves the leading dots of an include: one is the package of the including file, each
// further one leads up.
func (l *loader) relative(sls string, isInit bool, include Requisite) (string, bool) {
	name := strings.TrimLeft(include.Identifier, ".")
	dots := len(include.Identifier) - len(name)
	if dots == 0 || strings.Contains(name, "/") {
		return l.absolute(name, include.Range)
	}
	levels := strings.Split(sls, ".")
	if !isInit {
		dots++
	}
	up := dots - 1
	if up > len(levels) {
		l.problem(problem.BadPath, include.Range, "Include outside of the root",
			"The leading dots of %q lead above the root of the SLS files. Leave out %d of them.", include.Identifier, up-len(levels))
		return "", false
	}
	return l.absolute(strings.Join(append(levels[:len(levels)-up:len(levels)-up], name), "."), include.Range)
}

// parse reads the YAML of an SLS file. Files that have to be rendered first are refused.
func parse(file string, src []byte) (*yaml.Node, hcl.Diagnostics) {
	firstLine, _, _ := strings.Cut(string(src[:min(len(src), 200)]), "\n")
	if renderer, ok := strings.CutPrefix(firstLine, "#!"); ok && strings.TrimSpace(renderer) != "yaml" {
		return nil, hcl.Diagnostics{needsRendering(&hcl.Range{
			Filename: file, Start: hcl.InitialPos, End: hcl.Pos{Line: 1, Column: 1 + len(firstLine), Byte: len(firstLine)},
		}, "Its first line asks for another renderer.")}
	}
	root, diags := yamldoc.Parse(file, src)
	if diags.HasErrors() {
		if at := templateInText(file, src); at != nil {
			return nil, hcl.Diagnostics{needsRendering(at, "This begins a template.")}
		}
		return nil, diags
	}
	if root == nil {
		return nil, nil
	}
	seen := map[*yaml.Node]bool{}
	if node := template(root, seen); node != nil {
		return nil, hcl.Diagnostics{needsRendering(yamldoc.Range(file, node), "This begins a template.")}
	}
	return root, nil
}

func needsRendering(subject *hcl.Range, what string) *hcl.Diagnostic {
	return problem.New(problem.Syntax, subject, "Unsupported renderer",
		"%s cairn reads SLS files as plain YAML and renders no templates. Write out the result of the template, or put the text in quotes "+
			"if it is meant as it stands.", what)
}

// template returns a node that is a template: "{{ x }}", which is a mapping with a mapping as its
// key, or a word without quotes that has the marks of one.
func template(node *yaml.Node, seen map[*yaml.Node]bool) *yaml.Node {
	if node == nil || seen[node] {
		return nil
	}
	seen[node] = true
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Style == 0 && hasTemplate(node.Value) {
			return node
		}
	case yaml.MappingNode:
		if node.Style == yaml.FlowStyle && len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode &&
			node.Content[0].Style == yaml.FlowStyle {
			return node
		}
	}
	for _, child := range node.Content {
		if found := template(child, seen); found != nil {
			return found
		}
	}
	return nil
}

func hasTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%")
}

// templateInText finds a template in a file that is not YAML.
func templateInText(file string, src []byte) *hcl.Range {
	line := 0
	for text := range strings.Lines(string(src[:min(len(src), 1<<20)])) {
		line++
		code, _, _ := strings.Cut(text, " #")
		if strings.HasPrefix(strings.TrimSpace(code), "#") {
			continue
		}
		for _, mark := range []string{"{%", "{{"} {
			if column := strings.Index(code, mark); column >= 0 {
				at := hcl.Pos{Line: line, Column: column + 1}
				return &hcl.Range{Filename: file, Start: at, End: hcl.Pos{Line: line, Column: column + 3}}
			}
		}
	}
	return nil
}
