// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"maps"
	"sync"

	"github.com/zclconf/go-cty/cty/function"
)

// Tables are the tables of functions of one run, for scopes whose relative file paths start from
// different directories. Each is made once, when it is first asked for, and shared by all scopes of
// its directory.
//
// Tables are safe for concurrent use.
type Tables struct {
	opts Options
	mu   struct {
		sync.Mutex
		made map[string]map[string]function.Function // by base directory
	}
}

// NewTables returns the tables for scopes that have these options in common. Its base directory is
// not used.
func NewTables(opts Options) *Tables {
	t := &Tables{opts: opts}
	t.mu.made = map[string]map[string]function.Function{}
	return t
}

// In returns the table for scopes with this base directory, as [Functions] makes it. The caller
// must not change it.
func (t *Tables) In(baseDir string) map[string]function.Function {
	t.mu.Lock()
	defer t.mu.Unlock()
	table, ok := t.mu.made[baseDir]
	if !ok {
		opts := t.opts
		opts.BaseDir = baseDir
		table = Functions(opts)
		t.mu.made[baseDir] = table
	}
	return table
}

// With returns a table with further functions, such as those that [ProviderFunctions] found for all
// expressions of a module. Without any it is the given table. HCL proposes other names for one that
// does not exist only from the innermost context with functions, so a table serves its users better
// than a second context does.
func With(table, further map[string]function.Function) map[string]function.Function {
	if len(further) == 0 {
		return table
	}
	table = maps.Clone(table)
	maps.Copy(table, further)
	return table
}

// ReadingFiles returns the functions of a table whose results depend on the content of files, as
// remember makes them of their names without "core::".
func ReadingFiles(
	table map[string]function.Function, remember func(name string, f function.Function) function.Function,
) map[string]function.Function {
	found := map[string]function.Function{}
	for _, name := range readingNames {
		f := remember(name, table[name])
		found[name], found[corePrefix+name] = f, f
	}
	return found
}
