// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var _ engine.FunctionCaller = (*Session)(nil)

// Functions implements [engine.FunctionCaller].
//
// The functions of the built-in provider are part of the binary and not listed: no plugin has them.
func (e *Session) Functions(ctx context.Context, provider stackaddrs.Provider) (map[string]*engine.Function, error) {
	if provider.IsBuiltin() {
		return nil, nil
	}
	binary, err := e.providerBinary(provider)
	if err != nil {
		return nil, err
	}
	return e.plugins.Functions(ctx, binary)
}

// CallFunction implements [engine.FunctionCaller].
func (e *Session) CallFunction(ctx context.Context, provider stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error) {
	binary, err := e.providerBinary(provider)
	if err != nil {
		return cty.NilVal, err
	}
	return e.plugins.Call(ctx, binary, name, args)
}

// providerBinary returns the path of the program of an installed provider.
func (e *Session) providerBinary(provider stackaddrs.Provider) (string, error) {
	e.mu.Lock()
	binary, known := e.mu.binaries[provider]
	e.mu.Unlock()
	if known {
		return binary, nil
	}
	installed, err := e.preparer.Packages()
	if err != nil {
		return "", err
	}
	for _, one := range installed {
		found, err := e.preparer.ParseProvider(one.Source())
		if err != nil {
			return "", err
		}
		if found != provider {
			continue
		}
		if binary, err = findProgram(one.Dir, provider.Type); err != nil {
			return "", err
		}
		e.mu.Lock()
		e.mu.binaries[provider] = binary
		e.mu.Unlock()
		return binary, nil
	}
	return "", fmt.Errorf("provider %s is not installed. Run cairn init", provider)
}

// findProgram returns the path of the program in a provider's package.
func findProgram(dir, providerType string) (string, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return "", fmt.Errorf("looking for an installed provider: %w", err)
	}
	name := "terraform-provider-" + providerType
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), name)
		if ok && !entry.IsDir() && (rest == "" || rest[0] == '_' || rest[0] == '.') {
			return filepath.Join(dir, entry.Name()), nil
		}
	}
	return "", fmt.Errorf("the package of the provider in %s has no program %s", dir, name)
}
