// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// LastDrift is the result of the last comparison of a stack with its real objects. Nothing else
// remembers it, since a search for drift writes to no state: it is kept in the working directory of
// the stack, so that it is that of this machine.
type LastDrift struct {
	At      time.Time `json:"at"`
	Found   bool      `json:"found"`
	Objects []Drifted `json:"objects"`
}

// driftRecord is the result in its file.
type driftRecord struct {
	FormatVersion string `json:"format_version"`
	LastDrift
}

const (
	driftVersion = "1.0"
	largestDrift = 4 << 20
)

func driftFile(e *env.Env, deployment string) string {
	return filepath.Join(e.WorkDir, "drift", deployment+".json")
}

// keepDrift remembers the result for a deployment. Where there is no working directory, nothing was
// ever done here, and nothing is kept.
func keepDrift(e *env.Env, deployment string, result LastDrift) error {
	if _, err := os.Stat(e.WorkDir); err != nil {
		return nil //nolint:nilerr // see above
	}
	name := driftFile(e, deployment)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if result.Objects == nil {
		result.Objects = []Drifted{} // as a list for other programs
	}
	content, err := json.Marshal(driftRecord{driftVersion, result})
	if err != nil {
		return err
	}
	return safefile.Replace(name, content, 0o600)
}

// ReadLastDrift returns the remembered result for a deployment of the stack in these surroundings,
// nil if there is none.
//
// Errors: the file cannot be read, or is not understood.
func ReadLastDrift(e *env.Env, deployment string) (*LastDrift, error) {
	name := driftFile(e, deployment)
	content, err := safefile.Read(safefile.OS{}, name, largestDrift)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // see above
	}
	if err != nil {
		return nil, err
	}
	var read driftRecord
	if err := json.Unmarshal(content, &read); err != nil || read.FormatVersion != driftVersion {
		return nil, fmt.Errorf("the result of the last search for drift in %s is not understood", name)
	}
	return &read.LastDrift, nil
}
