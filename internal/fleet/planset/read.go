// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Progress says how far a set was applied.
type Progress string

// The values of Progress. "" is that of a unit on which no work has begun.
const (
	Begun Progress = "begun" // and not come to its end, as far as is known
	Done  Progress = "done"
)

// maxIndex is the limit for the size of an index, in bytes.
const maxIndex = 64 << 20

// Read reads a set and checks its files (rule P3). All that is wrong is reported.
func Read(ctx context.Context, dir string, keys *encryption.Keyring) (*Set, map[string]Progress, error) {
	if _, err := keys.ForFiles(ctx); err != nil { // for the progress
		return nil, nil, err
	}
	set := &Set{Dir: dir, keys: keys}
	text, err := safefile.Read(os.DirFS(dir), indexName, maxIndex)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, failure.Error("No set of plans",
			"There is no set of plans in %s: no file %s, which is written when all plans are made.", dir, indexName)
	case err != nil:
		return nil, nil, failure.Error("Unreadable set of plans",
			"The file %s in %s cannot be read: %s. Name the directory that a set was saved in.", indexName, dir, safefile.Reason(err))
	}
	if text, err = keys.OpenFile(ctx, encryption.PlanSet, "the set of plans in "+dir, text); err != nil {
		return nil, nil, err
	}
	// The index is written after all plan files: without it there is no set, and with it the files
	// must be there. The progress is written by applies, so that a new set has none, and a unit or a
	// word in it that is not known means that it was not written for this set.
	if err := json.Unmarshal(text, &set.Index); err != nil || set.FormatVersion == 0 { // which every version writes
		return nil, nil, failure.Error("Damaged set of plans", "The file %s in %s is not as it was written. Nothing was done. Plan again.",
			indexName, dir)
	}
	if set.FormatVersion != FormatVersion {
		return nil, nil, failure.Error("Set of plans from another version", "The set in %s has format version %d, "+
			"and this version of cairn reads %d. Nothing was done. Use the version that made it (%s), or plan again.",
			dir, set.FormatVersion, FormatVersion, set.CairnVersion)
	}
	var diags hcl.Diagnostics
	for _, unit := range set.Units {
		if diag := set.checkFile(unit); diag != nil {
			diags = diags.Append(diag)
		}
	}
	if diags.HasErrors() {
		return nil, nil, diags
	}
	progress := map[string]Progress{}
	text, err = safefile.Read(os.DirFS(dir), progressName, maxIndex)
	if err == nil {
		if text, err = keys.OpenFile(ctx, encryption.PlanSet, "the progress of the set in "+dir, text); err != nil {
			return nil, nil, err
		}
		err = json.Unmarshal(text, &progress)
	}
	for name, reached := range progress {
		if set.Unit(name) == nil || reached != Begun && reached != Done {
			err = fmt.Errorf("the progress of %q is %q", name, reached)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, failure.Error("Damaged set of plans",
			"The file %s in %s, which records the progress, is not as it was written. Nothing was done. Plan again.", progressName, dir)
	}
	return set, progress, nil
}

// checkFile finds out whether the plan of a unit is there and as it was written.
func (s *Set) checkFile(unit Unit) *hcl.Diagnostic {
	if !filepath.IsLocal(unit.Plan) || !strings.HasPrefix(unit.Plan, plansName+"/") {
		return failure.New("Damaged set of plans", "The index names a plan of %s outside of the set. Nothing was done. Plan again.", unit.Name)
	}
	sum, err := hashFile(filepath.Join(s.Dir, unit.Plan))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failure.New("Missing plan file", "The plan of %s is not in the set any more: there is no file %s. Nothing was done. Plan again.",
			unit.Name, unit.Plan)
	case err != nil:
		return failure.New("Unreadable plan file", "The plan of %s cannot be read: %s. Nothing was done.", unit.Name, failure.Reason(err))
	case sum != unit.SHA256:
		return failure.New("Altered plan file", "The plan of %s, %s, is not as it was saved. Nothing was done. Plan again.", unit.Name, unit.Plan)
	}
	return nil
}

// Unit returns a unit by its name, nil if it is not in the set.
func (s *Set) Unit(name string) *Unit {
	for i := range s.Units {
		if s.Units[i].Name == name {
			return &s.Units[i]
		}
	}
	return nil
}

// ProgressFile is the file that says how far the set in a directory was applied.
func ProgressFile(dir string) string { return filepath.Join(dir, progressName) }

// SetProgress keeps how far the set was applied.
func (s *Set) SetProgress(progress map[string]Progress) error { return s.write(progressName, progress) }
