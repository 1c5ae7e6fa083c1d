// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/release"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// InstallRequest is a release to install.
type InstallRequest struct {
	Program     string
	Constraints []Constraint // all of which the version must satisfy
	Home        string       // see [Home]
	Source      release.Source

	// Progress is called once with the version that is fetched, before it is.
	Progress func(version string)

	Identifier Identifier
}

// NoVersionError says that there is no release of the wanted version.
type NoVersionError struct {
	Program     string
	Constraints []Constraint
	Newest      *version.Version // that there is; nil if there is none at all
}

func (e *NoVersionError) Error() string {
	text := fmt.Sprintf("there is no release of %s with version %s that cairn works with (%s or newer)",
		e.Program, describe(e.Constraints), oldest[e.Program])
	if e.Newest != nil {
		text += fmt.Sprintf("; the newest release is %s", e.Newest)
	}
	return text
}

func describe(constraints []Constraint) string {
	var texts []string
	for _, c := range constraints {
		if c.text != "" {
			texts = append(texts, c.text)
		}
	}
	if len(texts) == 0 {
		return "latest"
	}
	return strings.Join(texts, ", ")
}

// Install installs the newest release that satisfies the constraints, unless it is there already.
//
// It is verified, started once to see that it works, and only then given its name (rule 3).
//
// Errors: a [*TooOldError] for a version that cairn does not work with, a [*NoVersionError], those
// of package release, that the directory cannot be written to, or the cause of the context's end.
// After any of them nothing is installed.
func Install(ctx context.Context, req InstallRequest) (_ *Candidate, fresh bool, err error) {
	wanted, err := req.version(ctx)
	if err != nil {
		return nil, false, err
	}
	if path := binaryPath(req.Home, req.Program, wanted.String()); isFile(path) {
		info, err := req.Identifier.Identify(ctx, path)
		return &Candidate{Path: path, Origin: Installed, Info: info}, false, err
	}
	req.Progress(wanted.String())
	staging, err := makeStaging(req.Home)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	if err := req.Source.Fetch(ctx, wanted, staging); err != nil {
		return nil, false, err
	}
	info, err := req.tryOut(ctx, filepath.Join(staging, executable(req.Program)), wanted)
	if err != nil {
		return nil, false, err
	}
	path := binaryPath(req.Home, req.Program, wanted.String())
	if err := publish(staging, path); err != nil {
		return nil, false, err
	}
	return &Candidate{Path: path, Origin: Installed, Info: info}, true, nil
}

// version chooses the version to install. An exact version is not looked up: whether it exists
// shows when it is fetched.
func (req InstallRequest) version(ctx context.Context) (*version.Version, error) {
	for _, c := range req.Constraints {
		if only := c.exact(); only != nil {
			return only, req.check(only)
		}
	}
	all, err := req.Source.Versions(ctx)
	if err != nil {
		return nil, err
	}
	var wanted, newest *version.Version
	for _, v := range all {
		if v.Prerelease() == "" && (newest == nil || v.GreaterThan(newest)) {
			newest = v
		}
		if req.accepts(v) && (wanted == nil || v.GreaterThan(wanted)) {
			wanted = v
		}
	}
	if wanted == nil {
		return nil, &NoVersionError{req.Program, req.Constraints, newest}
	}
	return wanted, nil
}

// check checks a version that was asked for by its number.
func (req InstallRequest) check(only *version.Version) error {
	if minimum := oldest[req.Program]; only.Core().LessThan(minimum) {
		return &TooOldError{
			Path:    "the release",
			Info:    engine.Info{Name: req.Program, Version: only.String()},
			Minimum: minimum.String(),
		}
	}
	for _, c := range req.Constraints {
		if !c.Accepts(only) {
			return &NoVersionError{Program: req.Program, Constraints: req.Constraints}
		}
	}
	return nil
}

// accepts reports whether a release may be chosen: no pre-release, unless a constraint names one.
func (req InstallRequest) accepts(v *version.Version) bool {
	if v.Core().LessThan(oldest[req.Program]) {
		return false
	}
	named := v.Prerelease() == ""
	for _, c := range req.Constraints {
		if !c.Accepts(v) {
			return false
		}
		named = named || c.namesPrerelease()
	}
	return named
}

// stagingPrefix is that of directories in which something is being installed.
const stagingPrefix = ".installing-"

// stagingAge is how old such a directory is when nobody can be working in it any more.
const stagingAge = 24 * time.Hour

// makeStaging makes a directory to install in, on the file system where the result is to be, and
// removes the directories that killed processes have left.
func makeStaging(home string) (string, error) {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", err
	}
	left, err := filepath.Glob(filepath.Join(home, stagingPrefix+"*"))
	if err != nil {
		return "", err
	}
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > stagingAge {
			_ = os.RemoveAll(dir) //nolint:errcheck // the next installation tries again
		}
	}
	return os.MkdirTemp(home, stagingPrefix)
}

// tryOut runs the fetched binary. One that was not written as a whole does not survive that.
func (req InstallRequest) tryOut(ctx context.Context, path string, wanted *version.Version) (engine.Info, error) {
	info, err := Identifier{Environ: req.Identifier.Environ}.Identify(ctx, path)
	if err != nil {
		return engine.Info{}, fmt.Errorf("trying out the fetched binary: %w", err)
	}
	found, err := version.NewVersion(info.Version)
	if err != nil || info.Name != req.Program || !found.Equal(wanted) {
		return engine.Info{}, fmt.Errorf("%w: it says that it is %s %s, not %s %s",
			release.ErrUnverified, info.Name, info.Version, req.Program, wanted)
	}
	return info, nil
}

// publish gives a complete installation its name. Another process may have been faster; its result
// is as good.
func publish(staging, binary string) error {
	if err := syncFiles(staging); err != nil {
		return err
	}
	if err := os.Chmod(staging, 0o755); err != nil {
		return err
	}
	final := filepath.Dir(binary)
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	if !isFile(binary) { // the removal of the binary may have left the rest
		if err := os.RemoveAll(final); err != nil {
			return err
		}
	}
	if err := os.Rename(staging, final); err != nil && !isFile(binary) {
		return err
	}
	return nil
}

// syncFiles makes sure that the files of a directory are on the disk, lest a crash leave a name
// without content.
func syncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		file, err := os.OpenFile(filepath.Join(dir, entry.Name()), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
