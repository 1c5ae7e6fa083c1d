// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// reaction is the name of the program that a module's programs react with: MODULE.mod_watch.
const reaction = "mod_watch"

// program returns the path of a program in the folder of the user.
func (h *Host) program(module, name string) (string, bool) {
	if h.Folder == "" {
		return "", false
	}
	path, err := filepath.Abs(filepath.Join(h.Folder, module+"."+name)) // both are words, so that it stays in the folder
	if err != nil {
		return "", false
	}
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// notProgram reports why a file in the folder of the user is not a program, "" if there is none of
// that name.
func (h *Host) notProgram(name string) string {
	if h.Folder == "" {
		return ""
	}
	switch info, err := os.Stat(filepath.Join(h.Folder, name)); {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return "cannot be looked at: " + reason(err)
	case !info.Mode().IsRegular():
		return "is not a file"
	}
	return "cannot be executed: change that with chmod +x"
}

// allNames returns the names of all functions: those that cairn has, and those of the user.
func (h *Host) allNames() []string {
	names := slices.Collect(maps.Keys(functions()))
	entries, err := os.ReadDir(h.Folder)
	if err != nil {
		return names
	}
	for _, entry := range entries {
		if module, name, ok := strings.Cut(entry.Name(), "."); ok {
			if _, ok := h.program(module, name); ok {
				names = append(names, entry.Name())
			}
		}
	}
	return names
}

// question is the input of a program.
type question struct {
	Function string       `json:"function"`
	ID       string       `json:"id"`
	SLS      string       `json:"sls"`
	Name     string       `json:"name"`
	Args     *compile.Map `json:"args"`
	Test     bool         `json:"test"`
}

// answer is the output of a program.
type answer struct {
	Result  json.RawMessage `json:"result"` // true, false, or in test mode null: something would change
	Changes *compile.Map    `json:"changes"`
	Comment string          `json:"comment"`
}

func (c *call) runProgram(ctx context.Context, program string) schedule.Outcome {
	name := c.Module + "." + c.Function
	if c.Reaction {
		program = strings.TrimSuffix(program, c.Function) + reaction
	}
	args := &compile.Map{}
	for _, entry := range c.Args.Entries {
		if _, condition := conditions[entry.Key]; !condition {
			args.Set(entry.Key, entry.Value)
		}
	}
	input, err := json.Marshal(question{Function: name, ID: c.ID, SLS: c.SLS, Name: c.Name, Args: args, Test: c.Test})
	if err != nil {
		return failed("The arguments cannot be passed to %s: %s.", name, err)
	}
	output, err := c.host.runner().Run(ctx, Command{Args: []string{program}, Stdin: append(input, '\n')})
	if err != nil {
		return schedule.Outcome{Failed: true, Comment: c.ended("The program "+program, err)}
	}
	if output.Code != 0 {
		return failed("The program %s ended with exit code %d%s", program, output.Code, said(output))
	}
	outcome, err := readAnswer([]byte(output.Stdout), c.Test)
	if output.Cut {
		err = fmt.Errorf("it is longer than %d bytes", maxOutput)
	}
	if err != nil {
		return failed("The output of the program %s cannot be used: %s.", program, err)
	}
	return outcome
}

func readAnswer(text []byte, test bool) (schedule.Outcome, error) {
	var a answer
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&a); err != nil {
		return schedule.Outcome{}, fmt.Errorf("it is not one JSON object with \"result\", \"changes\" and \"comment\": %s", wrongAnswer(err))
	}
	if decoder.More() {
		return schedule.Outcome{}, fmt.Errorf("something follows the JSON object")
	}
	outcome := schedule.Outcome{Changes: a.Changes, Changed: a.Changes.Len() > 0, Comment: a.Comment}
	switch result := string(a.Result); {
	case result == "true":
	case result == "false":
		outcome.Failed = true
	case result == "null" && test:
		outcome.Changed = true
	default:
		return schedule.Outcome{}, fmt.Errorf("\"result\" must be true or false, or null in test mode")
	}
	return outcome, nil
}

// wrongAnswer describes the fault of an answer, without the names of Go's types.
func wrongAnswer(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, io.EOF):
		return "nothing was written"
	case ok && wrong.Field == "":
		return "it is of type " + wrong.Value
	case ok:
		return fmt.Sprintf("%q is of type %s", wrong.Field, wrong.Value)
	}
	return err.Error()
}
