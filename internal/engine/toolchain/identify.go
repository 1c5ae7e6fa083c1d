// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/sealed"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// The names of the two programs.
const (
	Terraform = "terraform"
	Tofu      = "tofu"

	// Native is no program: the engine that evaluates modules in this process. It behaves like
	// terraform NativeTerraform, or like NativeOldest for modules that exclude that one. Modules may
	// ask for any version from the one to the other.
	Native          = "native"
	NativeTerraform = "1.16.0"
	NativeOldest    = "1.11.0"

	// NativeTofu is the version of OpenTofu that it behaves like for modules that are for that.
	// Modules may ask for it, and for those before it back to NativeOldestTofu, which was the first
	// one with files of its own.
	NativeTofu       = "1.12.0"
	NativeOldestTofu = "1.8.0"

	// TofuRegistry is where tofu finds providers and modules whose source doesn't name a host.
	TofuRegistry = "registry.opentofu.org"
)

// oldest are the oldest versions with the features that every plan needs: ephemeral variables, and
// the terraform.applying symbol.
var oldest = map[string]*version.Version{
	Terraform: version.Must(version.NewVersion("1.10.0")),
	Tofu:      version.Must(version.NewVersion("1.11.0")),
}

// TooOldError says that the binary is older than the oldest version that cairn works with.
type TooOldError struct {
	Path    string
	Info    engine.Info
	Minimum string
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("%s is %s %s; cairn needs version %s or newer", e.Path, e.Info.Name, e.Info.Version, e.Minimum)
}

// CheckVersion checks that an engine is new enough.
//
// Errors: [*TooOldError], or that the version is none.
func CheckVersion(path string, info engine.Info) error {
	found, err := version.NewVersion(info.Version)
	if err != nil {
		return fmt.Errorf("version of %s: %w", path, err)
	}
	if minimum := oldest[info.Name]; found.Core().LessThan(minimum) {
		return &TooOldError{Path: path, Info: info, Minimum: minimum.String()}
	}
	return nil
}

// maxRecords is how many binaries are remembered. With more of them, a run takes a little longer.
const maxRecords = 16

// binaryRecord is the remembered identity of a binary, so that later runs don't have to ask it.
type binaryRecord struct {
	Path    string      `json:"path"`
	Size    int64       `json:"size"`
	ModTime time.Time   `json:"mod_time"`
	Info    engine.Info `json:"info"`
}

// Identifier finds the names and versions of binaries.
type Identifier struct {
	Environ []string // for processes; see [runner.Environ]

	// Known are the answers of binaries in this process. May be nil.
	Known *Known

	// RecordFile remembers the results of earlier runs. May be empty; where it cannot be written,
	// nothing is remembered.
	RecordFile string
}

// Identify returns which program the binary is, and its version. It is started unless that is known
// from an earlier run and the file has not changed since.
func (i Identifier) Identify(ctx context.Context, path string) (engine.Info, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return engine.Info{}, fmt.Errorf("looking at the engine's binary: %w", err)
	}
	records := i.records()
	for _, known := range records {
		if known.Path == path && known.Size == stat.Size() && known.ModTime.Equal(stat.ModTime()) {
			return known.Info, nil
		}
	}
	file := binaryFile{path, stat.Size(), stat.ModTime().UnixNano()}
	info, err := i.Known.ask(ctx, file, func() (engine.Info, error) { return askVersion(ctx, path, i.Environ) })
	if err != nil {
		return engine.Info{}, err
	}
	records = slices.DeleteFunc(records, func(r binaryRecord) bool { return r.Path == path })
	records = append([]binaryRecord{{path, stat.Size(), stat.ModTime(), info}}, records...)
	i.remember(records[:min(len(records), maxRecords)])
	return info, nil
}

// Remembered returns the engines that a record file has, the one that was found out last first. The
// binaries may have changed since.
func Remembered(recordFile string) []engine.Info {
	var engines []engine.Info
	for _, record := range (Identifier{RecordFile: recordFile}).records() {
		engines = append(engines, record.Info)
	}
	return engines
}

const recordsKind = "cairn engines 1"

func (i Identifier) records() []binaryRecord {
	data, err := os.ReadFile(i.RecordFile)
	content, whole := sealed.Open(recordsKind, data)
	var records []binaryRecord
	if err != nil || !whole || json.Unmarshal(content, &records) != nil {
		return nil // they are made anew
	}
	return records
}

// remember replaces the file as a whole, so that no other process reads half of it.
func (i Identifier) remember(records []binaryRecord) {
	data, err := json.Marshal(records)
	if err != nil || i.RecordFile == "" {
		return
	}
	_ = safefile.Replace(i.RecordFile, sealed.Seal(recordsKind, data), 0o600) //nolint:errcheck // the next run asks again, that is all
}

var versionLine = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) v(\S+)`)

// versionSilence is how long the version command may print nothing: it takes long only where the
// disk or the machine is very slow.
const versionSilence = time.Minute

// askVersion runs the version command. Its JSON form doesn't say which of the two programs it is.
func askVersion(ctx context.Context, path string, environ []string) (engine.Info, error) {
	limit, err := runner.SilenceLimit(environ, versionSilence)
	if err != nil {
		return engine.Info{}, err
	}
	ctx, silence, stop := runner.EndAfterSilence(ctx, path+" version", limit)
	defer stop()
	printed := runner.Capture{Head: 1 << 16, Tail: 1 << 16, OnWrite: func(bool) { silence.Heard() }}
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Env = runner.Environ(environ, nil)
	cmd.Dir = filepath.Dir(path) // where no configuration is expected
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err = runner.RunShort(ctx, cmd)
	output := printed.Bytes()
	match := versionLine.FindSubmatch(output)
	hung, isHung := errors.AsType[*runner.HungError](context.Cause(ctx))
	switch {
	case isHung:
		return engine.Info{}, hung
	case match != nil && string(match[1]) == "OpenTofu":
		return engine.Info{Name: Tofu, Version: string(match[2])}, nil
	case match != nil:
		return engine.Info{Name: Terraform, Version: string(match[2])}, nil
	case ctx.Err() != nil:
		return engine.Info{}, fmt.Errorf("asking %s for its version: %w", path, context.Cause(ctx))
	case err != nil:
		return engine.Info{}, fmt.Errorf("asking %s for its version: %w: %s", path, err, strings.TrimSpace(string(output)))
	default:
		return engine.Info{}, fmt.Errorf("%s is neither terraform nor tofu: its version command doesn't say so", path)
	}
}
