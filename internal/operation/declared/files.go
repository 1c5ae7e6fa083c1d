// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package declared has the declarations of the deployment files of stacks, read once for all
// operations of a process, and the deployments that a store has next to them.
package declared

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Files are the declarations of deployment files, with their diagnostics.
type Files struct {
	Config *deployconfig.Config // nil if there are none
	Diags  hcl.Diagnostics

	mu struct {
		sync.Mutex
		stack   string          // by its files; "" if none was checked
		checked hcl.Diagnostics // result of CheckStack for all deployments
	}
}

// CheckStack checks the references of the files to the stack, once for all deployments of it that
// are worked on, as long as its files stay the same.
func (f *Files) CheckStack(config *stackconfig.Config) hcl.Diagnostics {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(config.Files)) {
		fmt.Fprintf(sum, "%q %q\n", name, config.Files[name].Bytes)
	}
	stack := string(sum.Sum(nil))
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.stack != stack {
		f.mu.stack, f.mu.checked = stack, f.Config.CheckStack(config.Root)
	}
	return slices.Clone(f.mu.checked)
}

// Known are deployment files that were read, by the directory of their stack. Those of a stack with
// many deployments are read once for all operations on these, as long as the files stay the same.
// The zero value knows none. Safe for concurrent use.
type Known struct {
	mu struct {
		sync.Mutex
		loaded map[string]*Files
	}
}

// In returns the declarations of the deployment files in a directory.
func (k *Known) In(dir string) *Files {
	k.mu.Lock()
	loaded := k.mu.loaded[dir]
	k.mu.Unlock()
	if loaded != nil && loaded.Config.IsCurrent() {
		return loaded
	}
	loaded = &Files{}
	loaded.Config, loaded.Diags = deployconfig.Load(dir)
	if loaded.Config == nil {
		return loaded // without files there is nothing to keep
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.loaded == nil {
		k.mu.loaded = map[string]*Files{}
	}
	k.mu.loaded[dir] = loaded
	return loaded
}
