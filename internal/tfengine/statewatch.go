// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/tfengine/runner"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// stateWatch keeps the newest state that could be read while a process writes it: a process that is
// killed may leave an empty file.
type stateWatch struct {
	dir        *runDir
	file       string // that the process writes
	checkpoint func(engine.State)

	good     engine.State // newest state that could be read, cleaned
	seen     fileVersion  // of the file when it was read
	readAt   time.Time
	cost     time.Duration // of the last look
	finished []runner.Hook // objects that were finished after good was read
}

type fileVersion struct {
	size    int64
	modTime time.Time
}

// watchState starts from the state before the process.
func watchState(dir *runDir, file string, prior engine.State, checkpoint func(engine.State)) (*stateWatch, error) {
	w := &stateWatch{dir: dir, file: file, checkpoint: checkpoint, good: prior}
	if err := writeFile(dir.file(goodFile), prior); err != nil {
		return nil, fmt.Errorf("keeping a copy of the state: %w", err)
	}
	return w, nil
}

// event looks at the state if something may have changed there.
func (w *stateWatch) event(ev runner.Event) {
	if ev.Type == runner.EventApplyComplete && ev.Hook != nil && !isGeneratedAddress(ev.Hook.Resource.Addr) {
		w.finished = append(w.finished, *ev.Hook)
	}
	// A large state is not read anew for each of many small resources.
	if time.Since(w.readAt) > 20*w.cost {
		w.look()
	}
}

// look reads the state if it was written since the last time. A state that can't be read is one that
// is just being written.
func (w *stateWatch) look() {
	start := time.Now()
	stat, err := os.Stat(w.file)
	if err != nil {
		return
	}
	version := fileVersion{stat.Size(), stat.ModTime()}
	if version == w.seen {
		return
	}
	state, err := readState(w.file)
	if err != nil {
		return
	}
	w.seen = version
	w.accept(state)
	w.readAt = time.Now()
	w.cost = time.Since(start)
}

func readState(file string) (engine.State, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if _, err := parseState(data); err != nil {
		return nil, err
	}
	return cleanState(data)
}

func (w *stateWatch) accept(state engine.State) {
	if string(state) == string(w.good) {
		return
	}
	w.good, w.finished = state, nil
	_ = writeFile(w.dir.file(goodFile), state) //nolint:errcheck // who recovers has the process's own file, too
	if w.checkpoint != nil {
		w.checkpoint(state)
	}
}

// final returns the newest state after the process has ended, and what may be missing from it.
func (w *stateWatch) final(outcome *runner.Result) (engine.State, *hcl.Diagnostic) {
	w.look()

	if state, err := readState(emergencyState(w.file)); err == nil {
		w.accept(state)
		return w.good, nil
	}
	if state := printedState(outcome.Text); state != nil {
		w.accept(state)
		return w.good, nil
	}
	_, err := readState(w.file)
	never := errors.Is(err, errNoState) && len(w.good) == 0 && len(w.finished) == 0 // nothing was done
	intact := err == nil || never
	missing := w.missing()
	// A process that was killed did not write what it finished last; tofu writes a state from time to time only.
	if intact && (outcome.Outcome != runner.OutcomeDied || len(missing) == 0) {
		return w.good, nil
	}
	detail := "The state is that from before the engine was killed."
	if !intact {
		detail = "The state was not written to its end. It is taken from the newest copy that is complete."
	}
	if len(missing) > 0 {
		detail += " These objects were changed after that: " + join(missing) + ". Compare them with what really exists before you plan again."
	}
	return w.good, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "State of component was damaged", Detail: detail}
}

// emergencyState returns the file to which the engine writes a state that it can't write to the given one.
func emergencyState(file string) string { return filepath.Join(filepath.Dir(file), "errored.tfstate") }

// printedState finds a state among lines of output: the engine prints it if it can't write it.
func printedState(text string) engine.State {
	for start := strings.Index(text, "{"); start >= 0; {
		var document json.RawMessage
		if json.NewDecoder(strings.NewReader(text[start:])).Decode(&document) == nil {
			if _, err := parseState(document); err == nil {
				state, err := cleanState(document)
				if err == nil {
					return state
				}
			}
		}
		next := strings.Index(text[start+1:], "{")
		if next < 0 {
			break
		}
		start += 1 + next
	}
	return nil
}

// missing returns the finished objects which the state does not show as they were left.
func (w *stateWatch) missing() []string {
	objects, err := stackstate.Objects(w.good)
	if err != nil {
		objects = nil // all are missing then
	}
	var missing []string
	for i := range w.finished {
		if isRecorded(&w.finished[i], objects) {
			continue
		}
		text := w.finished[i].Resource.Addr
		if id := w.finished[i].IDValue; id != "" {
			text += fmt.Sprintf(" (%s %s)", w.finished[i].IDKey, id)
		}
		missing = append(missing, text)
	}
	return missing
}

// isRecorded tells whether a state shows what was done to an object. Of an update it cannot be told.
func isRecorded(done *runner.Hook, objects []stackstate.Object) bool {
	present := slices.ContainsFunc(objects, func(object stackstate.Object) bool {
		if object.Addr.String() != done.Resource.Addr || object.Deposed != "" {
			return false
		}
		var attributes map[string]any
		return json.Unmarshal(object.Attributes, &attributes) == nil && fmt.Sprint(attributes[done.IDKey]) == done.IDValue
	})
	switch done.Action {
	case "create":
		return present
	case "delete":
		return !present
	default:
		return false
	}
}
