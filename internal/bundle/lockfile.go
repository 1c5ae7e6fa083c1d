// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// LockFileName is the name of the lock file, next to the stack.
const LockFileName = "cairn.sources.lock.hcl"

type remoteBlock struct {
	Address string  `hcl:"address,label"`
	Commit  *string `hcl:"commit"`
	Hash    string  `hcl:"hash"`
}

type registryBlock struct {
	Address string  `hcl:"address,label"`
	Version string  `hcl:"version,label"`
	Commit  *string `hcl:"commit"`
	Hash    string  `hcl:"hash"`
}

// readLockFile returns the packages in a lock file. It need not exist.
func readLockFile(path string) (map[packageID]lockedPackage, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the lock file cannot be read: %w", err)
	}
	file, diags := safehcl.ParseConfig(src, LockFileName, hcl.InitialPos)
	var content struct {
		Remote     []remoteBlock   `hcl:"remote,block"`
		Modules    []registryBlock `hcl:"module,block"`
		Components []registryBlock `hcl:"component,block"`
	}
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &content)
	}
	if diags.HasErrors() {
		return nil, fault.Error(fmt.Errorf("the lock file is damaged (%w); correct it, or delete it, so that a new one is written", diags),
			fault.LockFileUnusable)
	}
	locked := map[packageID]lockedPackage{}
	add := func(id packageID, commit *string, hash string) {
		entry := lockedPackage{packageID: id, Hash: hash}
		if commit != nil {
			entry.Commit = *commit
		}
		locked[id] = entry
	}
	for _, block := range content.Remote {
		add(packageID{Kind: remoteKind, Address: block.Address}, block.Commit, block.Hash)
	}
	for _, block := range content.Modules {
		add(packageID{moduleKind, block.Address, block.Version}, block.Commit, block.Hash)
	}
	for _, block := range content.Components {
		add(packageID{componentKind, block.Address, block.Version}, block.Commit, block.Hash)
	}
	return locked, nil
}

// writeLockFile replaces a lock file. Without packages there is none.
func writeLockFile(path string, packages []lockedPackage) error {
	if len(packages) == 0 {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	slices.SortFunc(packages, func(a, b lockedPackage) int { return comparePackages(a.packageID, b.packageID) })
	file := hclwrite.NewEmptyFile()
	for _, locked := range packages {
		labels := []string{locked.Address}
		if locked.Version != "" {
			labels = append(labels, locked.Version)
		}
		file.Body().AppendNewline()
		body := file.Body().AppendNewBlock(string(locked.Kind), labels).Body()
		if locked.Commit != "" {
			body.SetAttributeValue("commit", cty.StringVal(locked.Commit))
		}
		body.SetAttributeValue("hash", cty.StringVal(locked.Hash))
	}
	content := append([]byte(lockFileHeader), hclwrite.Format(file.Bytes())...)
	if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
		return nil
	}
	return safefile.Replace(path, content, 0o644)
}
