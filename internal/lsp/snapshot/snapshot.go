// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Snapshot is a stack at one moment.
type Snapshot struct {
	Dir string // of the stack, absolute

	// Files are the component files of the stack and of all that it embeds, and its deployment
	// files, by path.
	Files map[string]*File

	// Config is the configuration in the files. Those with syntax errors are not in it. Ranges name
	// files as [Snapshot.Path] understands.
	Config *stackconfig.Config

	// Declared is Config with the declarations of files with syntax errors as far as they are
	// understood, and with blocks that these had in their last correct version. The ranges of the
	// latter are of that version. Without syntax errors it is Config.
	Declared *stackconfig.Config

	// LoadDiagnostics are the mistakes that show without evaluating, those of syntax with them.
	LoadDiagnostics hcl.Diagnostics

	// Deployments is the configuration in the deployment files of the directory, nil if there are
	// none.
	Deployments *deployconfig.Config

	deployDiagnostics hcl.Diagnostics // of Deployments

	buffers map[string][]byte
	dirs    map[string]bool
	modules *moduleSet
	sound   *soundness // of the components, by the last snapshot that was validated
	state   func() []stackaddrs.AbsComponentInstance
	saved   func() map[string][]byte

	providers *knownProviders
	asked     map[stackaddrs.Provider]*engines.Kept // by their programs
}

// File is a component file or a deployment file.
type File struct {
	Path string
	Name string // in ranges
	Text *position.Text
	Open bool // in the editor
	JSON bool

	// Tree has the understandable parts; it is never nil, and its ranges are of the text.
	Tree        *hcl.File
	Diagnostics hcl.Diagnostics // of the syntax

	// LastGood is the last tree without syntax errors, nil if there was none. Its ranges are of the
	// text of that time, which it has.
	LastGood *hcl.File
}

// Body returns the syntax tree of a file in native syntax, nil for one in JSON.
func (f *File) Body() *hclsyntax.Body {
	body, _ := f.Tree.Body.(*hclsyntax.Body)
	return body
}

// File returns a component file of the stack by its path, nil if there is none.
func (s *Snapshot) File(path string) *File { return s.Files[path] }

// Paths returns the paths of all files, sorted.
func (s *Snapshot) Paths() []string { return slices.Sorted(maps.Keys(s.Files)) }

// StackDirs returns the directories of the stack and of all that it embeds, sorted.
func (s *Snapshot) StackDirs() []string {
	dirs := map[string]bool{}
	s.Declared.Walk(func(stack *stackconfig.Stack) { dirs[stack.Dir] = true })
	return slices.Sorted(maps.Keys(dirs))
}

// StacksOf returns the stacks of the tree that a file belongs to: several if its directory is
// embedded more than once.
func (s *Snapshot) StacksOf(path string) []*stackconfig.Stack {
	var stacks []*stackconfig.Stack
	s.Declared.Walk(func(stack *stackconfig.Stack) {
		if stack.Dir == filepath.Dir(path) {
			stacks = append(stacks, stack)
		}
	})
	return stacks
}

// Path returns the path of the file that a range names.
func (s *Snapshot) Path(name string) string {
	for _, config := range []*stackconfig.Config{s.Config, s.Declared} {
		if path, ok := config.Paths[name]; ok {
			return path
		}
	}
	if located, ok := s.Config.Resolver.(interface {
		Path(name string) (string, bool)
	}); ok {
		if path, ok := located.Path(name); ok {
			return path
		}
	}
	if path := filepath.FromSlash(name); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, filepath.FromSlash(name))
}

// Text returns the text of a file: of a component file, of one that is open, or of one on the disk,
// as those of modules are. It is nil if there is none.
func (s *Snapshot) Text(path string) *position.Text {
	if file := s.Files[path]; file != nil {
		return file.Text
	}
	if text, open := s.buffers[path]; open {
		return position.NewText(text)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return position.NewText(text)
}

// Module describes the module in a directory, as the source of a component has it. It is nil if
// there is none.
func (s *Snapshot) Module(dir string) *engine.Module {
	if tree := s.ModuleTree(dir); tree != nil {
		return tree.Module
	}
	return nil
}

// ModuleTree returns the module in a directory with its files, and with those that it calls. It is
// nil if there is none.
func (s *Snapshot) ModuleTree(dir string) *module.Tree {
	if dir == "" {
		return nil
	}
	tree, _ := s.modules.load(dir) //nolint:errcheck // Validate has the diagnostics
	return tree
}

// ProviderSchema returns the cached schema of a provider, nil until an operation or [Workspace.Ask]
// has fetched it.
func (s *Snapshot) ProviderSchema(provider stackaddrs.Provider) *engine.ProviderSchema {
	if provider.IsBuiltin() {
		return &engine.ProviderSchema{}
	}
	if kept := s.kept(provider); kept != nil {
		return kept.Schema
	}
	return nil
}

// ProviderFunctions returns the functions of a provider, nil if they are not known: they are if its
// schema is.
func (s *Snapshot) ProviderFunctions(provider stackaddrs.Provider) map[string]*engine.Function {
	if kept := s.kept(provider); kept != nil {
		return kept.Functions
	}
	return nil
}

func (s *Snapshot) kept(provider stackaddrs.Provider) *engines.Kept {
	if kept := s.providers.schemas()[provider]; kept != nil {
		return kept
	}
	return s.asked[provider]
}

// KnownProviders returns the providers that are at hand, sorted by address.
func (s *Snapshot) KnownProviders() []requirements.Known { return s.providers.atHand() }

// Instances returns the component instances that the state of the stack has, sorted. Only a state
// in a file is read, while nobody writes to it.
func (s *Snapshot) Instances() []stackaddrs.AbsComponentInstance { return s.state() }

// Saved returns the texts on the disk of the component files that have another one in the editor,
// by path.
func (s *Snapshot) Saved() map[string][]byte { return s.saved() }

// Functions returns the built-in functions of the language by both of their names.
func (s *Snapshot) Functions() map[string]function.Function { return stackruntime.Functions() }

// Validate finds the mistakes of the configuration, as far as that takes no process: the
// diagnostics of loading with them. Components in which no mistakes were found before, and for
// which nothing has changed since, are not looked at again.
func (s *Snapshot) Validate(ctx context.Context) hcl.Diagnostics {
	session := &session{binary.NewSourceSession(binary.SourceOptions{StackDir: s.Dir, Resolver: s.Config.Resolver}), s}
	now := s.dependencies()
	sound, diags := stackruntime.Revalidate(ctx, stackruntime.Options{Config: s.Config, Session: session}, s.sound.known(now))
	s.sound.keep(now, sound)
	return slices.Concat(s.LoadDiagnostics, diags, s.deployDiagnostics, s.checkDeployments())
}

// checkDeployments finds the mistakes in how deployments use the stack. Without component files
// there is none to use.
func (s *Snapshot) checkDeployments() hcl.Diagnostics {
	if s.Deployments == nil || len(s.Config.Files) == 0 {
		return nil
	}
	return s.Deployments.CheckStack(s.Config.Root)
}

// session knows the modules of a snapshot.
type session struct {
	*binary.SourceSession
	snap *Snapshot
}

// ProviderSchema implements [engine.Session].
func (s *session) ProviderSchema(_ context.Context, provider stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	return s.snap.ProviderSchema(provider), nil
}

// Module implements [engine.Session].
func (s *session) Module(_ context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	tree, diags := s.snap.modules.load(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Module, diags
}
