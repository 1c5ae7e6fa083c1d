// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/show/timeline"
)

// The end of a node that is not done, as reports have it.
const (
	passedState     = "passed"
	runName         = "cairn run"
	notAReport      = "it is not a report of \"cairn run\""
	damagedReport   = "it is damaged"
	reportOfNothing = "the name of a result is missing"
)

var unfinishedStates = map[string]bool{"ok": false, passedState: false, "failed": true, "skipped": true, "not_started": true}

// Attributes of cases in JUnit reports of runs: the class of all, and the type of the failure of
// those that have only drifted.
const (
	CaseClass   = "cairn.run"
	DriftedCase = "drifted"
)

// Unfinished returns the names of nodes that have failed, were skipped or were not started in a
// run, by a report that a [Summary] has written as JSON or for JUnit. It is never nil.
//
// Errors: the faults of the report, in words that follow its name.
func Unfinished(report []byte) ([]string, error) {
	if content := bytes.TrimSpace(report); len(content) > 0 && content[0] == '<' {
		return unfinishedCases(content)
	}
	return unfinishedResults(report)
}

func unfinishedResults(content []byte) ([]string, error) {
	var read struct {
		FormatVersion string    `json:"format_version"`
		Command       *[]string `json:"command"`
		OK            *bool     `json:"ok"`
		Results       *[]struct {
			Name  string `json:"name"`
			State string `json:"state"`
		} `json:"results"`
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	err := decoder.Decode(&read)
	if _, isType := errors.AsType[*json.UnmarshalTypeError](err); isType {
		return nil, errors.New(notAReport)
	}
	if err != nil {
		return nil, notRead(content, '{', err)
	}
	if err := timeline.CheckVersion(read.FormatVersion); err != nil && read.FormatVersion != "" {
		return nil, err
	}
	switch {
	case read.FormatVersion == "" || read.Command == nil || read.OK == nil || read.Results == nil:
		return nil, errors.New(notAReport)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New(damagedReport + ": there is something after its end")
	}
	names := []string{}
	for _, result := range *read.Results {
		unfinished, known := unfinishedStates[result.State]
		switch {
		case result.Name == "":
			return nil, errors.New(damagedReport + ": " + reportOfNothing)
		case !known:
			return nil, fmt.Errorf("%s: it has the unknown state %q for %q", damagedReport, result.State, result.Name)
		case unfinished:
			names = append(names, result.Name)
		}
	}
	return unfinishedOf(names, *read.OK)
}

// unfinishedOf checks that the overall result of a report agrees with its single results.
func unfinishedOf(names []string, ok bool) ([]string, error) {
	if ok != (len(names) == 0) {
		return nil, errors.New(damagedReport + ": its results contradict its overall result")
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// notRead returns the reason why a file cannot be read in the format that its beginning promises.
func notRead(content []byte, begin byte, err error) error {
	if content = bytes.TrimSpace(content); len(content) == 0 {
		return errors.New("it is empty")
	} else if content[0] != begin {
		return errors.New(notAReport)
	}
	return fmt.Errorf("%s: %w", damagedReport, err)
}

func unfinishedCases(content []byte) ([]string, error) {
	var read struct {
		XMLName xml.Name
		Name    string `xml:"name,attr"`
		Tests   int    `xml:"tests,attr"`
		Cases   []struct {
			Name    string `xml:"name,attr"`
			Class   string `xml:"classname,attr"`
			Failure *kind  `xml:"failure"`
			Skipped *kind  `xml:"skipped"`
		} `xml:"testcase"`
	}
	decoder := xml.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(&read); err != nil {
		return nil, notRead(content, '<', err)
	}
	if read.XMLName.Local != "testsuite" || read.Name != runName && !strings.HasPrefix(read.Name, runName+" ") {
		return nil, errors.New(notAReport)
	}
	if len(read.Cases) != read.Tests {
		return nil, fmt.Errorf("%s: it has %d results, and says that there are %d", damagedReport, len(read.Cases), read.Tests)
	}
	names := []string{}
	for _, one := range read.Cases {
		switch {
		case one.Class != CaseClass:
			return nil, errors.New(notAReport)
		case one.Name == "":
			return nil, errors.New(damagedReport + ": " + reportOfNothing)
		case one.Failure != nil && one.Failure.Type != DriftedCase, one.Skipped != nil && one.Skipped.Type != passedState:
			names = append(names, one.Name)
		}
	}
	return unfinishedOf(names, len(names) == 0)
}

// kind is the type of a case's failure or of its skipping.
type kind struct {
	Type string `xml:"type,attr"`
}
