// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options are the parameters of [NewLoader].
type Options struct {
	// Base is the directory that ranges name files relative to (rule D2).
	Base string

	// Tofu makes the loader read all directories as tofu does: with .tofu files.
	Tofu bool

	// ForTofu makes it do so where a directory says that it is for tofu (rule D7).
	ForTofu bool

	// Terraform is the version of terraform that modules may ask for. With tofu it is empty: that
	// takes no such request for its own.
	Terraform string

	// Oldest is the oldest version that modules may ask for, where the engine has the language of a
	// range of versions; otherwise empty.
	Oldest string

	// EphemeralOutputs lets modules of components have ephemeral outputs, which terraform and tofu
	// refuse in a root module.
	EphemeralOutputs bool

	// Resolver finds modules that are not in local directories. Without one, calls of them are errors.
	Resolver stackconfig.Resolver

	// Standalone makes the loader accept provider blocks in the root module, which nobody gives any
	// configuration.
	Standalone bool

	// Constants returns the values that a stack gives to the variables of the module in a directory,
	// by name, as far as they are constants. Nil stands for an engine to which the sources of modules
	// are literals.
	Constants func(dir string) map[string]stackconfig.Constant

	// FilesWithin are the directories in which functions in sources of modules read files, as
	// [stackconfig.LoadOptions] has them.
	FilesWithin []string

	// Files are those that other loaders have parsed, too. Nil stands for none.
	Files *Files

	// Buffers are texts that stand for files that are there, by their absolute paths.
	Buffers map[string][]byte

	// Added are texts that stand for files that are not there, by their absolute paths.
	Added map[string][]byte
}

// OptionsOf returns how the named engine reads the modules of a stack in a directory. The name may
// be the zero value, the resolver nil.
func OptionsOf(info engine.Info, stackDir string, resolver stackconfig.Resolver) Options {
	options := Options{Base: stackDir, Resolver: resolver}
	switch info.Name {
	case toolchain.Native:
		options.Terraform, options.Oldest = toolchain.NativeTerraform, toolchain.NativeOldest
		options.ForTofu, options.EphemeralOutputs, options.Constants = true, true, NoConstants
	case "":
		options.ForTofu, options.Constants = true, NoConstants // as the usual engine does
	case toolchain.Tofu:
		options.Tofu = true
	default:
		options.Terraform = info.Version
	}
	return options
}

// NoConstants are the constants of a stack that gives none: constant variables have their defaults.
func NoConstants(string) map[string]stackconfig.Constant { return nil }

// Of returns the options with the constants of a stack. An engine to which the sources of modules
// are literals has no use for them.
func (o Options) Of(config *stackconfig.Config) Options {
	if o.Constants != nil && config != nil {
		known := sync.OnceValue(config.Constants)
		o.Constants = func(dir string) map[string]stackconfig.Constant { return known()[dir] }
		o.FilesWithin = config.FilesWithin
	}
	return o
}

// Loader reads modules. It is safe for concurrent use.
type Loader struct {
	opts Options // with an absolute base

	dirs  once.Map[string, loaded[*Directory]] // by path
	trees once.Map[string, loaded[*Tree]]      // by path

	functions func() *lang.Tables // for the sources of modules, before anything is planned
	allowance func() *bounds.Allowance
}

// loaded is a result with the mistakes in it.
type loaded[T any] struct {
	value T
	diags hcl.Diagnostics
}

func loadOnce[T any](known *once.Map[string, loaded[T]], path string, read func(path string) (T, hcl.Diagnostics)) (T, hcl.Diagnostics) {
	found, _ := known.Get(context.Background(), path, func() (loaded[T], error) { //nolint:errcheck // there is none
		value, diags := read(path)
		return loaded[T]{value, diags}, nil
	})
	return found.value, slices.Clip(found.diags)
}

// NewLoader returns a loader that has read nothing yet.
func NewLoader(opts Options) *Loader {
	if base, err := filepath.Abs(opts.Base); err == nil {
		opts.Base = base
	}
	allowance := sync.OnceValue(func() *bounds.Allowance { return lang.AllowanceFor(opts.FilesWithin) })
	return &Loader{
		opts: opts, allowance: allowance,
		functions: sync.OnceValue(func() *lang.Tables {
			return lang.NewTables(lang.Options{Within: opts.FilesWithin, Allowance: allowance(), PureOnly: true})
		}),
	}
}

// With returns a loader that has read nothing yet, and will read one more file, which is not there.
func (l *Loader) With(path string, text []byte) *Loader {
	options := l.opts
	options.Added = map[string][]byte{path: text}
	maps.Copy(options.Added, l.opts.Added)
	return NewLoader(options)
}

// Load reads the module in dir and all the modules that it calls. The caller must not change
// the results.
//
// The tree is nil only if dir is not readable or has no configuration files. With other error
// diagnostics it holds the parts that could be understood.
func (l *Loader) Load(dir string) (*Tree, hcl.Diagnostics) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, hcl.Diagnostics{noModule(dir, err.Error())}
	}
	return loadOnce(&l.trees, path, l.loadTree)
}

// LoadStrict is Load for an engine that evaluates the modules itself: it reports the mistakes, too,
// that an engine with a binary leaves to the binary. Features that the native engine does not
// support are no mistakes, and only in [Directory.Unsupported].
func (l *Loader) LoadStrict(dir string) (*Tree, hcl.Diagnostics) {
	tree, diags := l.Load(dir)
	if tree == nil || tree.Unsupported.HasErrors() {
		return nil, diags
	}
	return tree, append(diags, tree.strict...)
}

// directory reads the files of one directory.
func (l *Loader) directory(path string) (*Directory, hcl.Diagnostics) {
	return loadOnce(&l.dirs, path, l.readDirectory)
}

func (l *Loader) readDirectory(path string) (*Directory, hcl.Diagnostics) {
	names, err := l.fileNames(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, hcl.Diagnostics{noModule(l.display(path), "There is no such directory.")}
	case err != nil:
		return nil, hcl.Diagnostics{noModule(l.display(path), "The directory cannot be read: "+err.Error()+".")}
	}
	dir := newDirectory(path)
	decoder := &decoder{dir: dir, declared: map[string]hcl.Range{}}
	for _, name := range names.values {
		dir.ValueFiles = append(dir.ValueFiles, l.display(filepath.Join(path, name)))
	}
	for _, name := range names.read {
		file, moreDiags := l.parseFile(path, name)
		decoder.report(moreDiags)
		if file != nil {
			dir.Files = append(dir.Files, file)
		}
	}
	if l.readsTofu() {
		dir.Tofu = signOfTofu(dir.Files)
	} else {
		for _, name := range names.tofu {
			dir.TofuFiles = append(dir.TofuFiles, l.display(filepath.Join(path, name)))
		}
		decoder.report(dir.withoutTofu())
	}
	decoder.tofu = l.opts.Tofu || dir.Tofu != nil
	for _, file := range dir.Files {
		decoder.file(file)
	}
	decoder.finish()
	return dir, decoder.common
}

func noModule(display, reason string) *hcl.Diagnostic {
	return failure.New("No module at this source", "The directory %s is not a module. %s", display, reason)
}
