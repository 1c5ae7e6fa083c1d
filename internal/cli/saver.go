// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// stateSaver writes the changes of an apply into one serial, which it begins with the first change.
type stateSaver struct {
	stored    *storedState
	operation string
	writer    statestore.Writer

	// unsaved are records that could not be written, by component; those of root values have no name. The evaluator
	// makes all changes of a component from what was saved of it, so a later one takes the place of an earlier one, and
	// none may be written once a later one was. Addresses that could not be written come before all of them.
	unmoved map[string][]byte
	unsaved map[string]map[string][]byte
	lost    error // of a change that has no records
}

func newStateSaver(stored *storedState, operation string) *stateSaver {
	return &stateSaver{
		stored:    stored,
		operation: operation,
		unsaved:   map[string]map[string][]byte{},
	}
}

// save writes one change. What could not be written is tried again at the end.
func (v *stateSaver) save(ctx context.Context, change stackruntime.StateChange) error {
	records, err := change.Records()
	if err != nil {
		v.lost = errors.Join(v.lost, err)
		return err
	}
	if len(change.Renamed) > 0 {
		v.unmoved = records
		return v.writeUnmoved(ctx)
	}
	component := changedComponent(change)
	err = v.writeUnmoved(ctx)
	if err == nil {
		err = v.write(ctx, records)
	}
	if err != nil {
		v.unsaved[component] = records
		return err
	}
	delete(v.unsaved, component)
	return nil
}

// writeUnmoved writes addresses that could not be written yet.
func (v *stateSaver) writeUnmoved(ctx context.Context) error {
	err := v.write(ctx, v.unmoved)
	if err == nil {
		v.unmoved = nil
	}
	return err
}

func changedComponent(change stackruntime.StateChange) string {
	switch {
	case change.After != nil:
		return change.After.Addr.String()
	case change.Before != nil:
		return change.Before.Addr.String()
	}
	return ""
}

func (v *stateSaver) write(ctx context.Context, records map[string][]byte) error {
	if len(records) == 0 {
		return nil
	}
	if v.writer == nil {
		writer, err := v.stored.lock.Begin(ctx, v.stored.Base(), v.operation)
		if err != nil {
			return err
		}
		v.writer = writer
	}
	return v.writer.Write(ctx, records)
}

// finish writes what is left and ends the serial.
func (v *stateSaver) finish(ctx context.Context) error {
	left := map[string][]byte{}
	maps.Copy(left, v.unmoved)
	for _, records := range v.unsaved {
		maps.Copy(left, records)
	}
	if err := v.write(ctx, left); err != nil {
		return errors.Join(err, v.lost)
	}
	if v.lost != nil || v.writer == nil {
		return v.lost
	}
	return v.writer.Commit(ctx)
}

// base is the version of the state that was, or would have been, written.
func (v *stateSaver) base() statestore.Base {
	if v.writer == nil {
		return v.stored.Base()
	}
	return v.writer.Base()
}

// withoutSaveErrors drops what the evaluator says of a failure that is explained better here.
func withoutSaveErrors(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool { return diag.Summary == "State not saved" })
}

// rescueFile is written when the state can't be saved.
const rescueFile = "errored.cairnstate.json"

// stateDocument is a state as "state pull" writes and "state push" reads it.
type stateDocument struct {
	FormatVersion string            `json:"format_version"`
	Deployment    string            `json:"deployment"`
	Lineage       string            `json:"lineage"`
	Serial        int64             `json:"serial"`
	Records       map[string][]byte `json:"records"`
}

const stateFormatVersion = "1.0"

// rescueState writes the whole state to a file because saving it as the version in base has failed.
func (o *operation) rescueState(cause error, state *stackstate.State, base statestore.Base) hcl.Diagnostics {
	diags := hcl.Diagnostics{problem("State was not saved", "%s", asDiagnostics(cause)[0].Detail)}
	records, err := state.Records()
	if err != nil {
		return diags.Append(problem("State cannot be encoded", "%s. This is a bug in cairn; please report it.", upperFirst(err.Error())))
	}
	document, err := json.MarshalIndent(stateDocument{
		FormatVersion: stateFormatVersion,
		Deployment:    o.deployment,
		Lineage:       base.Lineage,
		Serial:        base.Serial,
		Records:       records,
	}, "", "  ")
	if err != nil {
		return diags.Append(problem("State cannot be encoded", "%s. This is a bug in cairn; please report it.", upperFirst(err.Error())))
	}
	path, err := writeRescue(document)
	if err != nil {
		return diags.Append(problem("State is lost", "The state could not be written to a file either: %s.", reason(err)))
	}
	diags[0].Detail += fmt.Sprintf("\n\nThe newest state, with everything that was done, is in the file %s. "+
		"When the cause is remedied, save it with: cairn state push %[1]s", path)
	return diags
}

// writeRescue writes a new file beside the stack, or where that is not possible among temporary files.
func writeRescue(document []byte) (string, error) {
	var errs []error
	for _, dir := range []string{".", os.TempDir()} {
		path, err := writeNew(filepath.Join(dir, rescueFile), document)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// writeNew writes a file that only its owner can read, and replaces none.
func writeNew(path string, content []byte) (string, error) {
	for attempt := 1; ; attempt++ {
		name := path
		if attempt > 1 {
			name = fmt.Sprintf("%s.%d", path, attempt)
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(content)
		err = errors.Join(err, file.Sync(), file.Close())
		if err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
}
