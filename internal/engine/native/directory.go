// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/engine/native/slots"
	"github.com/cairnstacks/cairn/internal/module"
)

// directory is the start of relative names for functions, providers and provisioners of one
// component instance, in one operation: the working copy that the binary engine would run in, at
// the same place, without generated files. It is made only where something may need it. Elsewhere
// nothing can be told from the directory of the module, which functions then read. Safe for
// concurrent use.
type directory struct {
	session   *Session
	component string
	tree      *module.Tree
	inputs    map[string]cty.Value

	mu struct {
		sync.Mutex
		made bool
		run  *rundir.Dir
		copy *workcopy.Copy
		err  error
	}
}

var _ slots.Directory = (*directory)(nil)

// newDirectory returns the directory of a component instance, which is made if the module has the
// means to use it, or has written files before. The caller closes it.
func (s *Session) newDirectory(l *loaded, component string, inputs map[string]cty.Value) (*directory, hcl.Diagnostics) {
	d := &directory{session: s, component: component, tree: l.read, inputs: inputs}
	if s.opts.Standalone {
		return d, nil
	}
	if !l.files {
		if _, err := os.Lstat(d.written()); err != nil {
			return d, nil //nolint:nilerr // it has written nothing
		}
	}
	if _, err := d.Make(); err != nil {
		return d, hcl.Diagnostics{stopped("Component directory not made", err)}
	}
	return d, nil
}

func (d *directory) written() string { return rundir.Written(d.session.opts.RunsDir, d.component) }

// Make implements [slots.Directory].
func (d *directory) Make() (string, error) {
	if d.session.opts.Standalone { // whose files are its own, as for terraform
		return d.tree.Root.Dir, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mu.made {
		d.mu.made, d.mu.err = true, d.make()
	}
	if d.mu.err != nil {
		return "", d.mu.err
	}
	return d.mu.copy.Root, nil
}

// make lays the directory out. Must be called with the lock held.
func (d *directory) make() error {
	layout, err := workcopy.NewLayout(d.tree, d.inputs, d.session.opts.WorkDir)
	if err != nil {
		return err
	}
	if d.mu.run, err = rundir.New(d.session.opts.RunsDir, d.component); err != nil {
		return err
	}
	made, err := workcopy.Link(d.mu.run.File(rundir.TreeDir), d.tree, layout)
	if err == nil {
		err = made.RestoreFiles(d.written())
	}
	if err != nil {
		return err
	}
	d.mu.copy = made
	return nil
}

// Root returns where relative names start from.
func (d *directory) Root() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.copy == nil {
		return d.tree.Root.Dir
	}
	return d.mu.copy.Root
}

// Has implements [slots.Directory].
func (d *directory) Has(name string) bool {
	_, err := os.Lstat(filepath.Join(d.Root(), name))
	return err == nil
}

// Close keeps written files and removes the directory. Nothing may work in it any more.
func (d *directory) Close() hcl.Diagnostics {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.mu.copy != nil {
		err = d.mu.copy.KeepFiles(d.written())
	}
	if d.mu.run != nil {
		err = errors.Join(err, d.mu.run.Remove())
	}
	d.mu.run, d.mu.copy = nil, nil
	if err == nil {
		return nil
	}
	warning := stopped("Module files not kept", fmt.Errorf("the directory of %s: %w", d.component, err))
	warning.Severity = hcl.DiagWarning
	return hcl.Diagnostics{warning}
}
