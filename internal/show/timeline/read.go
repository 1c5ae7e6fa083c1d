// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package timeline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxReport is the largest size of a report: one with ten thousand units is a tenth of it.
const MaxReport = 256 << 20

// errNotReport is the fault of a file that is no report of a run.
var errNotReport = errors.New(`it is no report of "cairn run" as JSON`)

// CheckVersion returns an error, in words that follow the name of a report, if its format is of a
// version that is not known here.
func CheckVersion(version string) error {
	if strings.HasPrefix(version, "1.") {
		return nil
	}
	return fmt.Errorf("it is a report in version %s, which this version of cairn does not know", version)
}

// Read returns the timeline of a report that "cairn run -report=FILE.json" has written. Reports
// without steps have one for each result, which comes after none.
//
// Errors: the fault of the report, in words that follow its name.
func Read(report []byte) (Timeline, error) {
	var read struct {
		FormatVersion string `json:"format_version"`
		Results       []struct {
			Name    string    `json:"name"`
			State   string    `json:"state"`
			Started time.Time `json:"started"`
			Seconds float64   `json:"seconds"`
			Steps   []Step    `json:"steps"`
		} `json:"results"`
	}
	if err := json.Unmarshal(report, &read); err != nil || read.Results == nil {
		return Timeline{}, errNotReport
	}
	if err := CheckVersion(read.FormatVersion); err != nil {
		return Timeline{}, err
	}
	var t Timeline
	for _, result := range read.Results {
		row := Row{Name: result.Name, State: result.State, Steps: result.Steps}
		if len(row.Steps) == 0 && !result.Started.IsZero() {
			row.Steps = []Step{{Phase: "run", Started: result.Started, Seconds: result.Seconds}}
		}
		slices.SortStableFunc(row.Steps, func(a, b Step) int { return cmp.Compare(a.Started.UnixNano(), b.Started.UnixNano()) })
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
