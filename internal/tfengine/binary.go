// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/internal/tfengine/runner"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ErrNoBinary says that there is neither tofu nor terraform.
var ErrNoBinary = errors.New(`neither "tofu" nor "terraform" was found in PATH; install OpenTofu ` +
	`(https://opentofu.org/docs/intro/install) or Terraform (https://developer.hashicorp.com/terraform/install), ` +
	`or name the path of a binary in cairn.hcl or CAIRN_ENGINE`)

// FindBinary returns the path of the engine's binary: the one in the setting, which may be a path or a
// name, or without a setting tofu or terraform from PATH.
//
// Errors: [ErrNoBinary], or that the setting leads nowhere.
func FindBinary(setting string) (string, error) {
	names := []string{tofuName, terraformName}
	if setting != "" {
		names = []string{setting}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return "", fmt.Errorf("finding the engine's binary: %w", err)
		}
		return path, nil
	}
	if setting != "" {
		return "", fmt.Errorf("the engine's binary %q was not found, or is not executable; correct the setting, or remove it to use tofu or terraform from PATH", setting)
	}
	return "", ErrNoBinary
}

// The names of the two programs.
const (
	terraformName = "terraform"
	tofuName      = "tofu"
)

// oldest are the oldest versions that have what we need: ephemeral variables, and the
// terraform.applying symbol.
var oldest = map[string]*version.Version{
	terraformName: version.Must(version.NewVersion("1.10.0")),
	tofuName:      version.Must(version.NewVersion("1.11.0")),
}

// TooOldError says that the binary is older than what cairn works with.
type TooOldError struct {
	Path    string
	Info    engine.Info
	Minimum string
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("%s is %s %s; cairn needs version %s or newer", e.Path, e.Info.Name, e.Info.Version, e.Minimum)
}

// binaryRecord is what is remembered about a binary, so that later runs don't have to ask it.
type binaryRecord struct {
	Path    string      `json:"path"`
	Size    int64       `json:"size"`
	ModTime time.Time   `json:"mod_time"`
	Info    engine.Info `json:"info"`
}

// detect asks the binary for its version, unless that is known from an earlier run.
func detect(ctx context.Context, path string, environ []string, recordFile string) (engine.Info, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return engine.Info{}, fmt.Errorf("looking at the engine's binary: %w", err)
	}
	var known binaryRecord
	if data, err := os.ReadFile(recordFile); err == nil && json.Unmarshal(data, &known) == nil {
		if known.Path == path && known.Size == stat.Size() && known.ModTime.Equal(stat.ModTime()) {
			return known.Info, nil
		}
	}
	info, err := askVersion(ctx, path, environ)
	if err != nil {
		return engine.Info{}, err
	}
	if err := checkVersion(path, info); err != nil {
		return engine.Info{}, err
	}
	data, err := json.Marshal(binaryRecord{path, stat.Size(), stat.ModTime(), info})
	if err != nil {
		return engine.Info{}, fmt.Errorf("recording the engine's version: %w", err)
	}
	return info, writeFile(recordFile, data)
}

var versionLine = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) v(\S+)`)

// askVersion runs the version command. Its JSON form doesn't tell which of the two programs it is.
func askVersion(ctx context.Context, path string, environ []string) (engine.Info, error) {
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Env = runner.Environ(environ, nil)
	cmd.Dir = filepath.Dir(path) // where no configuration is expected
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	match := versionLine.FindSubmatch(output)
	switch {
	case match != nil && string(match[1]) == "OpenTofu":
		return engine.Info{Name: tofuName, Version: string(match[2])}, nil
	case match != nil:
		return engine.Info{Name: terraformName, Version: string(match[2])}, nil
	case err != nil:
		return engine.Info{}, fmt.Errorf("asking %s for its version: %w: %s", path, err, strings.TrimSpace(string(output)))
	default:
		return engine.Info{}, fmt.Errorf("%s is neither terraform nor tofu: its version command doesn't say so", path)
	}
}

func checkVersion(path string, info engine.Info) error {
	found, err := version.NewVersion(info.Version)
	if err != nil {
		return fmt.Errorf("version of %s: %w", path, err)
	}
	if minimum := oldest[info.Name]; found.Core().LessThan(minimum) {
		return &TooOldError{Path: path, Info: info, Minimum: minimum.String()}
	}
	return nil
}
