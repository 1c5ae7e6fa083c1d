// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Case is a module with the steps of its test, and their results.
type Case struct {
	Steps []Step

	// Want is terraform's answer, and WantNative the answer that the native engine has to give in its
	// place for a reason, or "".
	Want, WantNative string
	Differs, ByHand  string // reasons, or ""

	archive *txtar.Archive
}

// Step is one step of a case. In an archive it is a verb and words:
//
//   - validate, plan or apply, which plans before; with any of destroy, refresh-only, skip-refresh,
//     defer-all, replace=ADDRESS, unknown-provider, where an argument of the provider is not known,
//     and ordered, where the order in which objects are applied counts;
//   - set ID NAME=VALUE..., or gone ID: the change of an object outside, with values as JSON;
//   - unlink PATH: the removal of a file outside.
type Step struct {
	Verb        string
	Mode        engine.Mode
	SkipRefresh bool
	DeferAll    bool
	Unknown     bool // the configuration of the provider
	Ordered     bool
	Replace     []string
	Object      string            // ID of an object, or path of a file
	Values      map[string]string // JSON

	line string
}

const (
	stepsFile       = "steps"
	inputsFile      = "inputs"
	applyInputsFile = "inputs.apply"
	priorFile       = "prior"
	priorStateFile  = "prior.tfstate"
	wantFile        = "want"
	wantNativeFile  = "want-native"
)

// ParseCase reads an archive.
func ParseCase(text []byte) (*Case, error) {
	c := &Case{archive: txtar.Parse(text)}
	for line := range strings.Lines(string(c.archive.Comment)) {
		if reason, ok := strings.CutPrefix(line, "differs: "); ok {
			c.Differs = strings.TrimSpace(reason)
		} else if reason, ok := strings.CutPrefix(line, "by hand: "); ok {
			c.ByHand = strings.TrimSpace(reason)
		}
	}
	for _, file := range c.archive.Files {
		switch file.Name {
		case wantFile:
			c.Want = string(file.Data)
		case wantNativeFile:
			c.WantNative = string(file.Data)
		case stepsFile:
			for line := range strings.Lines(string(file.Data)) {
				step, err := parseStep(strings.TrimSpace(line))
				if err != nil {
					return nil, err
				}
				c.Steps = append(c.Steps, step)
			}
		}
	}
	if len(c.Steps) == 0 {
		return nil, fmt.Errorf("there is no file %s, or nothing in it", stepsFile)
	}
	if c.WantNative != "" && c.Differs == "" {
		return nil, fmt.Errorf("there is no reason for the file %s", wantNativeFile)
	}
	return c, nil
}

func parseStep(line string) (Step, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Step{}, fmt.Errorf("there is an empty line in %s", stepsFile)
	}
	step := Step{Verb: words[0], Values: map[string]string{}, line: line}
	switch step.Verb {
	case "validate", "plan", "apply":
	case "set", "gone", "unlink":
		if len(words) < 2 {
			return Step{}, fmt.Errorf("%q names no object", line)
		}
		step.Object = words[1]
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			step.Values[name] = value
		}
		return step, nil
	default:
		return Step{}, fmt.Errorf("%q is not a step", line)
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "destroy":
			step.Mode = engine.Destroy
		case "refresh-only":
			step.Mode = engine.RefreshOnly
		case "skip-refresh":
			step.SkipRefresh = true
		case "defer-all":
			step.DeferAll = true
		case "unknown-provider":
			step.Unknown = true
		case "ordered":
			step.Ordered = true
		case "replace":
			step.Replace = append(step.Replace, value)
		default:
			return Step{}, fmt.Errorf("%q: unknown word %s", line, word)
		}
	}
	return step, nil
}

// Format returns the archive with the answers that the case has now.
func (c *Case) Format() []byte {
	changed := txtar.Archive{Comment: c.archive.Comment}
	for _, file := range c.archive.Files {
		if file.Name != wantFile && file.Name != wantNativeFile {
			changed.Files = append(changed.Files, file)
		}
	}
	changed.Files = append(changed.Files, txtar.File{Name: wantFile, Data: []byte(c.Want)})
	if c.WantNative != "" {
		changed.Files = append(changed.Files, txtar.File{Name: wantNativeFile, Data: []byte(c.WantNative)})
	}
	return txtar.Format(&changed)
}

// files returns the files in a step, from 1: those of the module by their paths, and the others by
// their names.
func (c *Case) files(step int) (files, others map[string][]byte) {
	files, others = map[string][]byte{}, map[string][]byte{}
	latest := map[string]int{}
	for _, file := range c.archive.Files {
		name, from := file.Name, 0
		if first, rest, ok := strings.Cut(name, "/"); ok {
			if n, err := strconv.Atoi(first); err == nil {
				name, from = rest, n
			}
		}
		if from > step || from < latest[name] {
			continue
		}
		latest[name] = from
		switch name {
		case stepsFile, wantFile, wantNativeFile:
		case inputsFile, applyInputsFile, priorFile, priorStateFile:
			others[name] = file.Data
		default:
			delete(files, name)
			if len(file.Data) > 0 {
				files[path.Clean(name)] = file.Data
			}
		}
	}
	return files, others
}
