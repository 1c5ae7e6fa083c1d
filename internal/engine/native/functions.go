// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/internal/module"
)

// functionsKey is the state that the functions of all modules depend on.
type functionsKey struct {
	timestamp time.Time
	applying  bool
}

// tablesKey is that which tables of functions depend on, for all directories.
type tablesKey struct {
	functionsKey
	tofu bool // for modules of tofu
}

// functions returns the functions for the modules of a tree, of a component with a directory, or of
// none: then relative names start from root alone. The tables of built-in functions are made once
// for all components.
func (s *Session) functions(ctx context.Context, dir *directory, root string, key functionsKey) func(*module.Node) *hcl.EvalContext {
	return s.functionsWith(ctx, dir, func(tofu bool) map[string]function.Function {
		return s.builtIn(root, tablesKey{key, tofu})
	}, &providercall.Results{})
}

// remembering is functions for one component, of which those that could return something else while
// applying than while planning have to agree with results.
func (s *Session) remembering(
	ctx context.Context, dir *directory, key functionsKey, results *providercall.Results,
) func(*module.Node) *hcl.EvalContext {
	return s.functionsWith(ctx, dir, func(tofu bool) map[string]function.Function {
		table := s.builtIn(dir.Root(), tablesKey{key, tofu})
		return lang.With(table, lang.ReadingFiles(table, results.OfFiles))
	}, results)
}

func (s *Session) builtIn(root string, key tablesKey) map[string]function.Function {
	s.mu.Lock()
	tables := s.mu.functions[key]
	if tables == nil {
		tables = lang.NewTables(lang.Options{PlanTimestamp: key.timestamp, PureOnly: !key.applying, Tofu: key.tofu})
		s.mu.functions[key] = tables
	}
	s.mu.Unlock()
	return tables.In(root)
}

// functionsWith adds the functions of providers to the table for a module.
func (s *Session) functionsWith(
	ctx context.Context, dir *directory, table func(tofu bool) map[string]function.Function, results *providercall.Results,
) func(*module.Node) *hcl.EvalContext {
	none := map[string]cty.Value{} // which HCL tells from a place where there are no variables
	contextFor := func(tofu bool) func() *hcl.EvalContext {
		return sync.OnceValue(func() *hcl.EvalContext { return &hcl.EvalContext{Variables: none, Functions: table(tofu)} })
	}
	ofTerraform, ofTofu := contextFor(false), contextFor(true)
	return func(tree *module.Node) *hcl.EvalContext {
		shared := ofTerraform
		if tree.Tofu != nil {
			shared = ofTofu
		}
		of := s.providerFunctions(ctx, dir, tree, results)
		if len(of) == 0 {
			return shared()
		}
		return &hcl.EvalContext{Variables: none, Functions: lang.With(shared().Functions, of)}
	}
}

// providerFunctions returns the functions of providers that a module calls, by the names that it
// has for them. Missing ones are reported by the evaluation of the call.
func (s *Session) providerFunctions(
	ctx context.Context, dir *directory, tree *module.Node, results *providercall.Results,
) map[string]function.Function {
	var found map[string]function.Function
	for _, call := range tree.Functions {
		if !strings.HasPrefix(call.Name, "provider::") {
			continue
		}
		localName, name, ok := lang.ProviderCall{Name: call.Name}.Parts()
		if _, known := found[call.Name]; known || !ok {
			continue
		}
		addr, declared := tree.Provider(localName)
		if !declared { // nothing stands for a provider in a call but an entry of required_providers
			continue
		}
		schema, err := s.schema(ctx, addr)
		if err != nil || schema.Functions[name] == nil {
			continue
		}
		if found == nil {
			found = map[string]function.Function{}
		}
		found[call.Name] = (&providercall.Function{
			Provider: addr, Name: name, Signature: schema.Functions[name], Results: results,
			Call: func(args []cty.Value) (cty.Value, error) {
				return s.callFunction(ctx, dir, functionCall{addr, name, args})
			},
		}).Callable()
	}
	return found
}
