// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// View is the knowledge about a stack. All but Files may be missing: answers leave out the parts
// that depend on it.
type View struct {
	// Files are the component files of the stack and of all that it embeds, and its deployment files.
	// A workspace file is a world of its own: it is the only one then.
	Files []File

	// Config has where sources lead that are not local.
	Config *stackconfig.Config

	// Module returns the module in a directory, nil if there is none.
	Module func(dir string) *Module

	// Schema returns the schema of a provider, nil if it is not known.
	Schema func(provider stackaddrs.Provider) *engine.ProviderSchema

	// ProviderFunctions returns the functions of a provider, nil if they are not known.
	ProviderFunctions func(provider stackaddrs.Provider) map[string]*engine.Function

	// Providers returns the providers that are at hand.
	Providers func() []requirements.Known

	// Functions are those of the language. They are called with unknown values only.
	Functions map[string]function.Function

	// Saved returns the files that are another text on the disk than in Files.
	Saved func() []File

	// Instances returns the component instances that the state of the stack of Config has, as far as
	// that is known.
	Instances func() []stackaddrs.AbsComponentInstance

	// Directories returns the names of the directories in a directory.
	Directories func(dir string) []string
}

// File is a file as it is in the editor.
type File struct {
	Path string // absolute
	Name string // in ranges
	Src  []byte
}

// Module is the module of a component.
type Module struct {
	*engine.Module
	Files []File // of its directory
}

// Stack answers questions about a stack. It is safe for concurrent use.
type Stack struct {
	view  View
	dirs  map[string]*directory // by path
	files []*file               // by path

	found   func() []Occurrence // of all files
	modules struct {
		sync.Mutex
		known map[string]*moduleInfo // by directory
	}
	types struct {
		sync.Mutex
		known     map[Symbol]cty.Type
		functions map[string]function.Function // nil until they are needed
	}
}

// file is a file of a stack.
type file struct {
	File
	tree *syntax.File
	dir  *directory
}

// directory has the declarations in the files of a directory.
type directory struct {
	path  string
	files []*file // component files
	decls map[Symbol]*declaration
	names []Symbol // of the declarations, in order
}

// New returns answers about a stack.
func New(view View) *Stack {
	s := &Stack{view: view, dirs: map[string]*directory{}}
	s.modules.known, s.types.known = map[string]*moduleInfo{}, map[Symbol]cty.Type{}
	for _, source := range view.Files {
		s.add(source)
	}
	slices.SortFunc(s.files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range s.files {
		if !f.deploys() {
			f.dir.files = append(f.dir.files, f)
		}
		f.dir.declare(f)
	}
	s.found = sync.OnceValue(s.findOccurrences)
	return s
}

func (s *Stack) add(source File) {
	path := filepath.Dir(source.Path)
	if s.dirs[path] == nil {
		s.dirs[path] = &directory{path: path, decls: map[Symbol]*declaration{}}
	}
	s.files = append(s.files, &file{File: source, tree: parse(source), dir: s.dirs[path]})
}

func parse(source File) *syntax.File {
	if strings.HasSuffix(source.Path, ".json") {
		return syntax.ParseJSON(source.Name, source.Src, schema.Shape(schema.Of(source.Path)))
	}
	return syntax.ParseNative(source.Name, source.Src, schema.TypeNames(schema.Of(source.Path)))
}

// deploys reports whether a file is a deployment file.
func (f *file) deploys() bool { return deployconfig.IsDeployFile(f.Path) }

// isWorkspace reports whether a file is a workspace file.
func (f *file) isWorkspace() bool { return filepath.Base(f.Path) == cairnfile.FileName }

// file returns a file by its path, nil if there is none.
func (s *Stack) file(path string) *file {
	for _, f := range s.files {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// module returns the module in a directory, nil if there is none.
func (s *Stack) module(dir string) *Module {
	if s.view.Module == nil || dir == "" {
		return nil
	}
	if module := s.view.Module(dir); module != nil && module.Module != nil {
		return module
	}
	return nil
}

// sourceDir returns the directory that the source of a block leads to, "" if that is not known.
func (s *Stack) sourceDir(dir *directory, block *syntax.Block) string {
	argument := block.Body.Argument("source")
	if argument == nil {
		return ""
	}
	source, ok := argument.Value.Literal()
	if !ok {
		return ""
	}
	if isLocal(source.Text) {
		return filepath.Join(dir.path, filepath.FromSlash(source.Text))
	}
	return s.fetchedDir(dir, source.Text)
}

func isLocal(source string) bool {
	return source == "." || source == ".." || strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../")
}

// fetchedDir returns where a source is that is not local.
func (s *Stack) fetchedDir(dir *directory, written string) string {
	found := ""
	if s.view.Config == nil || s.view.Config.Root == nil {
		return ""
	}
	s.view.Config.Walk(func(stack *stackconfig.Stack) {
		if stack.Dir != dir.path {
			return
		}
		for _, component := range stack.Components {
			if component.Source.Written == written {
				found = component.Source.Dir
			}
		}
		for _, call := range stack.Calls {
			if call.Source.Written == written {
				found = call.Source.Dir
			}
		}
	})
	return found
}

// at returns the range without extent at an offset.
func (f *file) at(offset int) hcl.Range {
	pos := posAt(f.Src, offset)
	return hcl.Range{Filename: f.Name, Start: pos, End: pos}
}

// between returns a range of a file.
func (f *file) between(start, end int) hcl.Range {
	return hcl.Range{Filename: f.Name, Start: posAt(f.Src, start), End: posAt(f.Src, end)}
}

// posAt returns the position of an offset, or the nearest one in the text. Columns count
// characters.
func posAt(src []byte, offset int) hcl.Pos {
	offset = max(0, min(offset, len(src)))
	line := bytes.LastIndexByte(src[:offset], '\n') + 1
	return hcl.Pos{Line: 1 + bytes.Count(src[:line], []byte("\n")), Column: 1 + utf8.RuneCount(src[line:offset]), Byte: offset}
}
