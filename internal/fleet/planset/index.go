// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planset

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// FormatVersion is that of the index. Others are not read.
const FormatVersion = 1

// The names in the directory of a set.
const (
	indexName    = "index.json"
	progressName = "progress.json"
	lockName     = "lock"
	ignoreName   = ".gitignore"
	plansName    = "plans"
)

// Index lists the contents of a set.
type Index struct {
	FormatVersion int       `json:"format_version"`
	CairnVersion  string    `json:"cairn_version"`
	Created       time.Time `json:"created"`
	MadeBy        string    `json:"made_by,omitempty"` // user and machine, as in "eva@build-3"; sets of 0.9 have none
	Workspace     string    `json:"workspace_sha256"`  // of the file that lists the units
	Key           string    `json:"key"`               // of the hashes of values
	Commit        string    `json:"commit,omitempty"`  // that was checked out, if it was as git has it
	Tree          string    `json:"tree,omitempty"`    // of that commit
	Units         []Unit    `json:"units"`             // in the order in which they were planned
}

// Unit is one of a set.
type Unit struct {
	Name       string            `json:"name"`
	Kind       string            `json:"kind"`
	Path       string            `json:"path"` // from the root of the repository
	Deployment string            `json:"deployment,omitempty"`
	Workspace  string            `json:"workspace,omitempty"`
	After      []string          `json:"after"` // units that it has values from, or waits for
	Changes    bool              `json:"changes"`
	Counts     *stackplan.Counts `json:"counts,omitempty"`
	Plan       string            `json:"plan"` // file, from the directory of the set
	SHA256     string            `json:"sha256"`
	Inputs     map[string]Value  `json:"inputs,omitempty"` // values from other units, and published ones, by references
	Module     *Module           `json:"module,omitempty"` // of a root module
}

// Module identifies the sources of a plan of a root module, which its file does not have in a form
// that others read.
type Module struct {
	Engine  string `json:"engine"`
	Config  string `json:"config_sha256"`
	Lineage string `json:"lineage,omitempty"` // of the state; "" if there was none
	Serial  uint64 `json:"serial"`
	State   string `json:"state,omitempty"` // absolute path of the file that has the state, or will; "" if it is in none
}

// Value is a value that a plan was made with.
type Value struct {
	From      []string        `json:"from"` // references
	Known     bool            `json:"known"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"` // of one that is known and not sensitive
	Hash      string          `json:"hash,omitempty"`  // of one that is known
}

// NewValue returns the record of a value.
func (x *Index) NewValue(value cty.Value, from []string) (Value, error) {
	kept := Value{From: from, Known: value.IsWhollyKnown(), Sensitive: marks.Contains(value, marks.Sensitive)}
	plain, _ := value.UnmarkDeep()
	var err error
	if kept.Type, err = ctyjson.MarshalType(plain.Type()); err != nil {
		return kept, err
	}
	if !kept.Known {
		return kept, nil
	}
	text, err := ctyjson.Marshal(plain, plain.Type())
	if err != nil {
		return kept, err
	}
	kept.Hash = x.hash(text)
	if !kept.Sensitive {
		kept.Value = text
	}
	return kept, nil
}

// hash is a keyed hash: that of a value that few others are as likely as would tell it.
func (x *Index) hash(text []byte) string {
	mac := hmac.New(sha256.New, []byte(x.Key))
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// Fits reports whether a value is the one that was planned with, as far as that was known. Its plan
// says more about a value that was not.
func (x *Index) Fits(planned Value, value cty.Value) bool {
	if !planned.Known {
		return true
	}
	plain, _ := value.UnmarkDeep()
	text, err := ctyjson.Marshal(plain, plain.Type())
	return err == nil && hmac.Equal([]byte(x.hash(text)), []byte(planned.Hash))
}

// Set is a directory with plans.
type Set struct {
	Index
	Dir string

	keys *encryption.Keyring // by which the index, the progress and plans of root modules are encrypted, if that is demanded
}

// Create makes the directory of a set, in which plan files can be written. An existing directory
// must be empty, or an earlier set, which is replaced.
func Create(ctx context.Context, dir, key string, keys *encryption.Keyring) (*Set, error) {
	if _, err := keys.ForFiles(ctx); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, failure.Error("Set of plans not saved", "The directory %s cannot be used: %s.", dir, failure.Reason(err))
	case len(entries) > 0 && !isSet(entries):
		return nil, failure.Error("Set of plans not saved", "The directory %s has other files in it. Name a new one, or one that is empty.", dir)
	}
	unlock, err := Lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, name := range []string{indexName, progressName, plansName} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, failure.Error("Set of plans not saved", "The earlier set in %s cannot be removed: %s.", dir, failure.Reason(err))
		}
	}
	for _, name := range []string{dir, filepath.Join(dir, plansName)} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return nil, failure.Error("Set of plans not saved", "The directory %s cannot be made: %s.", name, failure.Reason(err))
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
		return nil, failure.Error("Set of plans not saved", "The directory %s cannot be closed to others: %s.", dir, failure.Reason(err))
	}
	if err := keepFromGit(dir); err != nil {
		return nil, err
	}
	if err := makeLock(dir); err != nil {
		return nil, failure.Error("Set of plans not saved", "The file %s cannot be made in %s: %s.", lockName, dir, failure.Reason(err))
	}
	return &Set{Dir: dir, Index: Index{FormatVersion: FormatVersion, Key: key, Units: []Unit{}}, keys: keys}, nil
}

// Protect takes a set from git and from other users (rule P2), as it was when it was made: tools
// that carry files from job to job often leave out those whose names begin with a dot, and forget
// who may read the others. Files of another user stay as they are.
func Protect(dir string) error {
	if err := keepFromGit(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return keepFromOthers(path)
	})
}

func keepFromOthers(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	err = os.Chmod(path, info.Mode().Perm()&0o700)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return failure.Error("Set of plans not protected",
			"Other users may read %s, and that cannot be changed, though plans hold secrets: %s. Nothing was done.", path, failure.Reason(err))
	}
	return nil
}

// keepFromGit makes git ignore all of a set, unless it has rules of somebody else. No other file of
// a set has a name that begins with a dot.
func keepFromGit(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, ignoreName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = file.WriteString("# Written by cairn: plans hold secrets in clear.\n*\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return failure.Error("Set of plans not hidden",
			"The file %s cannot be made in %s, by which git ignores plans, as they hold secrets: %s. Nothing was done.", ignoreName, dir,
			failure.Reason(err))
	}
	return nil
}

// isSet reports whether a directory holds nothing but the files of a set.
func isSet(entries []fs.DirEntry) bool {
	for _, entry := range entries {
		switch entry.Name() {
		case indexName, progressName, lockName, ignoreName, plansName:
		default:
			return false
		}
	}
	return true
}

// PlanFile is where the plan of a unit belongs, of which the number is given: names of units may be
// no names of files.
func (s *Set) PlanFile(unit int) string { return filepath.Join(s.Dir, planName(unit)) }

func planName(unit int) string { return fmt.Sprintf("%s/%d.plan", plansName, unit) }

// Add adds a unit whose plan was written.
func (s *Set) Add(number int, unit Unit) error {
	unit.Plan = planName(number)
	path := filepath.Join(s.Dir, unit.Plan)
	if err := os.Chmod(path, 0o600); err != nil { // an engine may have written it
		return failure.Error("Set of plans not saved", "The plan of %s is not there: %s.", unit.Name, failure.Reason(err))
	}
	var err error
	if unit.SHA256, err = hashFile(path); err != nil {
		return failure.Error("Set of plans not saved", "The plan of %s cannot be read: %s.", unit.Name, failure.Reason(err))
	}
	s.Units = append(s.Units, unit)
	return nil
}

// Finish writes the index, and removes plans of units that are not in it.
func (s *Set) Finish() error {
	kept := map[string]bool{}
	for _, unit := range s.Units {
		kept[filepath.Base(unit.Plan)] = true
	}
	entries, err := os.ReadDir(filepath.Join(s.Dir, plansName))
	if err != nil {
		return failure.Error("Set of plans not saved", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	for _, entry := range entries {
		if !kept[entry.Name()] {
			if err := os.RemoveAll(filepath.Join(s.Dir, plansName, entry.Name())); err != nil {
				return failure.Error("Set of plans not saved", "%s.", failure.Capitalize(failure.Reason(err)))
			}
		}
	}
	return s.write(indexName, s.Index)
}

// Discard removes a set that is not finished.
func (s *Set) Discard() {
	_ = os.RemoveAll(filepath.Join(s.Dir, plansName)) //nolint:errcheck // without an index it is no set
}

// Demands reports whether what is in the set has to be encrypted.
func (s *Set) Demands() bool { return s.keys.Demands() }

// Seal writes the plan of a unit, which an engine has written elsewhere that does not encrypt.
func (s *Set) Seal(ctx context.Context, number int, written string) error {
	content, err := os.ReadFile(written)
	if err == nil {
		content, err = s.keys.SealFile(ctx, encryption.PlanFile, content)
	}
	if err == nil {
		err = safefile.Replace(s.PlanFile(number), content, 0o600)
	}
	if err != nil {
		return failure.Error("Set of plans not saved", "The plan in %s cannot be encrypted: %s.", written, failure.Reason(err))
	}
	return nil
}

// Unseal writes the plan of a unit, which no engine can read that does not decrypt, to another
// file.
func (s *Set) Unseal(ctx context.Context, unit *Unit, to string) error {
	content, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(unit.Plan)))
	if err == nil {
		content, err = s.keys.OpenFile(ctx, encryption.PlanFile, "the plan of "+unit.Name, content)
	}
	if err != nil {
		return err
	}
	return safefile.Replace(to, content, 0o600)
}

// write replaces a file as a whole. Its key is there since the set was made or read.
func (s *Set) write(name string, content any) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err == nil {
		text, err = s.keys.SealFile(context.Background(), encryption.PlanSet, append(text, '\n'))
	}
	if err == nil {
		path := filepath.Join(s.Dir, name)
		if err = os.WriteFile(path+".new", text, 0o600); err == nil {
			err = os.Rename(path+".new", path)
		}
	}
	if err != nil {
		return failure.Error("Set of plans not saved", "The file %s of the set cannot be written: %s.", name, failure.Reason(err))
	}
	return nil
}

func hashFile(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}
