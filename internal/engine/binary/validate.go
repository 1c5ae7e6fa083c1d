// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/mistakes"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/safefile"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ValidateModule implements [engine.Session]. Diagnostics of [Session.Module] are not repeated. All
// else is checked that the modules it is about leave to be checked.
func (e *Session) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	tree, _ := e.modules.Load(dir) //nolint:errcheck // Module reports the diagnostics
	if tree == nil || tree.Cycle || tree.Unsupported.HasErrors() {
		return nil
	}
	diags, err := e.validateOnce(ctx, tree)
	diags = slices.Clip(diags)
	if err != nil {
		diags = diags.Append(failure.Of("Module validation failed", err))
	}
	return diags
}

// validateOnce is validateAll, once for each module.
func (e *Session) validateOnce(ctx context.Context, tree *module.Tree) (hcl.Diagnostics, error) {
	return e.validated.Get(ctx, tree.Root.Dir, func() (hcl.Diagnostics, error) { return e.validateAll(ctx, tree) })
}

// validateAll finds all mistakes in a tree. A tree without any takes one process.
//
// The engine itself stops at modules that it cannot load, and leaves out parts that depend on other
// mistakes. So the modules that a faulty tree calls are validated on their own, and their caller
// with stand-ins for those that are faulty.
func (e *Session) validateAll(ctx context.Context, tree *module.Tree) (hcl.Diagnostics, error) {
	found := mistakes.New(tree)
	if len(tree.Faulty)+len(tree.Missing) == 0 {
		diags, err := e.validate(ctx, tree)
		if err != nil || !diags.HasErrors() {
			return diags, err
		}
		found.AddWhole(diags)
	}
	for _, dir := range tree.Called() {
		called, _ := e.modules.Load(dir.Dir) //nolint:errcheck // they are those of the caller, or rules for roots
		if called == nil {
			continue // an empty directory
		}
		diags, err := e.validateOnce(ctx, called)
		if err != nil {
			return nil, err
		}
		found.Add(mistakes.AsCalled(diags))
	}
	for replaced := 0; !tree.Faulty[tree.Root.Directory] && found.ToReplace() > replaced; {
		replaced = found.ToReplace()
		diags, err := e.validate(ctx, tree.StandIn(found.Faulty))
		if err != nil {
			return nil, err
		}
		found.Add(mistakes.BesideStandIns(diags))
	}
	return found.Diags, nil
}

func (e *Session) validate(ctx context.Context, tree *module.Tree) (diags hcl.Diagnostics, err error) {
	lock, diags := e.lockFor(tree, nil)
	if diags.HasErrors() {
		return diags, nil
	}
	layout, hash, err := e.layOut(tree, nil)
	if err != nil {
		return nil, err
	}
	record, err := e.validRecord(ctx, hash, lock)
	if err != nil {
		return nil, err
	}
	if fileExists(record) && len(tree.StandIns) == 0 {
		e.log.DebugContext(ctx, "module is known to be valid", "dir", tree.Root.Dir)
		return nil, nil
	}
	dir, err := rundir.New(e.runsDir, "validate "+tree.Root.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()

	// Slots need configurations, or resources in them would be at fault.
	providers := map[engine.ProviderSlot]engine.ProviderConfig{}
	for slot, needed := range tree.Module.Slots {
		if slices.ContainsFunc(tree.Root.Providers, func(block module.ProviderBlock) bool { return block.Slot == slot }) {
			continue // a called module may have such a block
		}
		providers[slot] = engine.ProviderConfig{Provider: needed.Provider}
	}
	copied, err := workcopy.Build(&workcopy.Spec{
		Dir: dir.File(rundir.TreeDir), Tree: tree, Layout: layout, Lock: lock, Providers: providers, ForValidation: true,
	})
	if err != nil {
		return nil, err
	}
	dataDir, err := e.dataDir(tree)
	if err != nil {
		return nil, err
	}
	stdout, stderr, err := e.binary.Run(ctx, command.Invocation{
		Dir: e.stackDir, Env: map[string]string{"TF_DATA_DIR": dataDir}, Args: []string{"-chdir=" + copied.Root, "validate", "-json"},
	})
	var out struct {
		Diagnostics []diagnostic.Diagnostic `json:"diagnostics"`
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return nil, err
	}
	if jsonErr := json.Unmarshal(stdout, &out); jsonErr != nil {
		return nil, errors.Join(err, fmt.Errorf("reading the output of %s validate: %w: %s",
			e.info.Name, jsonErr, command.Terse(command.Unframe(string(stderr)))))
	}
	diags = slices.DeleteFunc(copied.Diagnostics(out.Diagnostics),
		func(diag *hcl.Diagnostic) bool { return mistakes.IsEphemeralOutput(tree.Root.Directory, diag) })
	explainLacks(diags, e.info)
	if len(diags) == 0 && err == nil && len(tree.StandIns) == 0 {
		e.rememberValid(record)
	}
	return diags, nil
}

// validRecord returns the name of the file that is there if a module with this content was found to
// be valid, with these providers.
//
// A module may also read files that are not its own. If they change, the plan finds out.
func (e *Session) validRecord(ctx context.Context, moduleHash string, lock []byte) (string, error) {
	installed, err := e.installer.Packages()
	if err != nil {
		return "", err
	}
	key := []string{moduleHash, e.info.Name, e.info.Version, string(lock)}
	if len(lock) > 0 {
		hashes := e.installer.Hashes(ctx, installed)
		for _, one := range installed {
			key = append(key, one.Path, hashes[one.Path])
		}
	}
	return e.absolute("valid", hashOf([]byte(strings.Join(key, "\x00")))[:40]), nil
}

// maxValid is how many modules are remembered as valid. Beyond that, those of former content are
// forgotten with all others.
const maxValid = 20000

// rememberValid writes the record of a valid module that validRecord looks for. Where that fails,
// the module is validated again the next time.
func (e *Session) rememberValid(record string) {
	dir := filepath.Dir(record)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > maxValid {
		_ = os.RemoveAll(dir) //nolint:errcheck // see above
		return
	}
	_ = safefile.Replace(record, nil, 0o600) //nolint:errcheck // see above
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
