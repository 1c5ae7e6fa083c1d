// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/journal"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/engine/native/slots"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Session is an [engine.Session] in this process. Made by [Engine.Open].
type Session struct {
	opts     Options
	info     engine.Info
	stackDir string
	modules  *module.Loader
	works    *engine.Works
	log      *enginelog.Log // nil for none
	pool     *instances.Pool
	journal  *journal.Journal
	prepare  *install.Installer
	calls    chan struct{}
	loaded   once.Map[string, *loaded] // by module directory

	mu struct {
		sync.Mutex
		functions map[tablesKey]*lang.Tables
	}
}

var _ engine.Session = (*Session)(nil)

// loaded is a tree of modules with the results of analysing it, each found once.
type loaded struct {
	read        *module.Tree // nil if there is none
	tree        *module.Node // its root
	files       bool         // the modules mention files in other ways than functions do
	graph       *deps.Graph
	diags       hcl.Diagnostics // about errors that do not depend on the inputs
	unsupported hcl.Diagnostics

	// validation has the mistakes by the schemas of providers, and by their own checks. The key says
	// whether blocks are made for objects to import.
	validation once.Map[bool, hcl.Diagnostics]
}

// load reads the tree of a module, once.
func (s *Session) load(dir string) *loaded {
	//nolint:errcheck // there is none
	l, _ := s.loaded.Get(context.Background(), dir, func() (*loaded, error) { return read(s.modules, dir), nil })
	return l
}

func read(modules *module.Loader, dir string) *loaded {
	l := &loaded{}
	if l.read, l.diags = modules.LoadStrict(dir); l.read != nil {
		l.tree = l.read.Root
	}
	if l.tree == nil || l.diags.HasErrors() {
		return l
	}
	l.files = slices.ContainsFunc(l.read.Directories(), mentionsFiles)
	l.graph = deps.New(l.tree)
	l.unsupported = planning.Unsupported(l.tree)
	return l
}

// mentionsFiles reports whether a module mentions files in other ways than functions do.
func mentionsFiles(dir *module.Directory) bool {
	return slices.ContainsFunc(dir.Files, func(file *module.File) bool { return slots.MentionsFiles(file.Source) })
}

// used returns the types of a provider's objects that the modules of the tree have.
func (l *loaded) used(addr stackaddrs.Provider) []stackaddrs.Resource { return usedIn(l.tree, addr) }

func usedIn(tree *module.Node, addr stackaddrs.Provider) []stackaddrs.Resource {
	var found []stackaddrs.Resource
	for name, resource := range tree.Resources {
		if resource.ProviderAddr == addr {
			found = append(found, name)
		}
	}
	for _, action := range tree.Actions {
		if action.ProviderAddr == addr {
			found = append(found, stackaddrs.Resource{}) // a type of which nothing is known
		}
	}
	for _, child := range tree.Children {
		found = append(found, usedIn(child, addr)...)
	}
	return found
}

// validate checks the tree as far as that is possible without inputs, once, unless it was
// interrupted. Of a tree that could not be loaded whole, it checks the rest, without asking
// providers.
func (s *Session) validate(ctx context.Context, l *loaded) hcl.Diagnostics {
	return s.validateFor(ctx, l, false)
}

// validateFor is validate, with or without blocks that are made for objects to import.
func (s *Session) validateFor(ctx context.Context, l *loaded, generates bool) hcl.Diagnostics {
	if l.tree == nil || l.tree.Faulty {
		return l.diags
	}
	invalid, err := l.validation.Get(ctx, generates, func() (hcl.Diagnostics, error) {
		tree := l.tree
		opts := validate.Options{
			Types:   &s.opts.Shared.Types,
			Schemas: schemas{ctx, s}, Functions: s.functions(ctx, nil, tree.Dir, functionsKey{}), Graph: l.graph,
			RootPath: rootPath, WorkPath: s.workPath(), Generates: generates,
		}
		if l.diags.HasErrors() {
			tree = tree.Sound()
		} else {
			opts.Validator = &validator{session: s, directory: &directory{session: s, tree: l.read}}
		}
		return validate.Tree(ctx, tree, opts), context.Cause(ctx)
	})
	if err != nil {
		invalid = hcl.Diagnostics{stopped("Operation interrupted", fmt.Errorf("the module was not validated completely: %w", err))}
	}
	reported := slices.Concat(l.diags, l.unsupported)
	return append(reported, beside(reported, invalid)...)
}

// beside returns the mistakes at other places than errors that are reported already: a function
// that only OpenTofu has is also one that nobody has declared.
func beside(reported, diags hcl.Diagnostics) hcl.Diagnostics {
	places := map[hcl.Range]bool{}
	for _, diag := range reported {
		if diag.Severity == hcl.DiagError && diag.Subject != nil {
			places[*diag.Subject] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return diag.Subject != nil && places[*diag.Subject] })
}

// unsupported returns the errors about a module that the engine cannot do.
func (s *Session) unsupported(dir string) hcl.Diagnostics {
	l := s.load(dir)
	if l.tree == nil {
		return nil
	}
	return planning.Unsupported(l.tree) // also where other mistakes have kept loading from looking for it
}

// Info implements [engine.Session].
func (s *Session) Info() engine.Info { return s.info }

// CanApply implements [engine.Session].
func (s *Session) CanApply(made engine.Info) bool { return made == s.info }

// Module implements [engine.Session].
func (s *Session) Module(_ context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	tree, diags := s.modules.Load(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Module, diags
}

// Stop implements [engine.Session].
func (s *Session) Stop(_ context.Context, work engine.WorkID, how engine.Urgency) error {
	return s.works.Stop(work, how)
}

// Acknowledge implements [engine.Session].
func (s *Session) Acknowledge(_ context.Context, work engine.WorkID) error {
	return s.journal.Acknowledge(work)
}

// slots returns the providers of a component. The caller releases them.
func (s *Session) slots(l *loaded, dir *directory, given map[engine.ProviderSlot]engine.ProviderConfig, phase string) *slots.Slots {
	return slots.New(slots.Options{
		Pool: s.pool, Package: s.providerPackage, Slots: given, TerraformVersion: TerraformVersion, Directory: dir,
		Used: l.used, Phase: phase,
	})
}

// rootPath is the value of path.root, and of path.module in the root module, which file functions
// start from.
const rootPath = "."

// workPath returns the value of path.cwd: the directory of the stack, as with the binary engine.
func (s *Session) workPath() string { return filepath.ToSlash(s.stackDir) }

// oneAtATime returns an observer that several tasks may call.
func oneAtATime(observe engine.Observer) engine.Observer {
	if observe == nil {
		return nil
	}
	var mu sync.Mutex
	numbered := observe.Numbered()
	return func(event engine.Event) {
		mu.Lock()
		defer mu.Unlock()
		numbered(event)
	}
}

// schemas gives the static checks the schemas of providers.
type schemas struct {
	ctx     context.Context //nolint:containedctx // for the time of one call
	session *Session
}

// Schema implements [validate.Schemas]. Why there is none is reported when the provider is used.
func (s schemas) Schema(addr stackaddrs.Provider) *schema.Provider {
	found, err := s.session.schema(s.ctx, addr)
	if err != nil {
		return nil
	}
	return found
}
