// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statescmd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func TestResultText(t *testing.T) {
	call := &compile.Call{ID: "a\nb", Module: "m", Function: "f"}
	tests := map[string]struct {
		result  schedule.Result
		changes string
		want    string
	}{
		"texts of several lines as they are": {
			schedule.Result{Status: schedule.Changed, Comment: "One.\nTwo."},
			`{"diff": "-a \n+b\t\n", "n": 1.5, "none": null, "yes": true}`,
			"changed       a␊b (m.f)\n    One.\n    Two.\n    diff:\n      -a \n      +b\t\n    n: 1.5\n    none: null\n    yes: true\n",
		},
		"what is inside": {
			schedule.Result{Status: schedule.Changed},
			`{"vim": {"old": "", "new": "1"}, "list": ["a", {"b": "c"}]}`,
			"changed       a␊b (m.f)\n    vim:\n      old: \"\"\n      new: 1\n    list:\n      -: a\n      -:\n        b: c\n",
		},
		"nothing that could do something to a terminal": {
			schedule.Result{Status: schedule.Changed, Comment: "\x1b[31mred"},
			`{"a\u001b": "\u009b1m\rx"}`,
			"changed       a␊b (m.f)\n    ␛[31mred\n    a␛: �1mx\n",
		},
		"output that was said": {
			schedule.Result{Status: schedule.Failed, Comment: "It ended with exit code 1:\nno."},
			`{"retcode": 1, "stdout": "", "stderr": "no\n"}`,
			"failed        a␊b (m.f)\n    It ended with exit code 1:\n    no.\n    retcode: 1\n",
		},
		"output of success": {
			schedule.Result{Status: schedule.Changed, Comment: "It said yes."},
			`{"stdout": "yes\n", "stderr": ""}`,
			"changed       a␊b (m.f)\n    It said yes.\n    stdout: yes\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.result.Call, test.result.Changes = call, &compile.Map{}
			if err := json.Unmarshal([]byte(test.changes), test.result.Changes); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, resultText(test.result, test.result.Status.String(), true)); diff != "" {
				t.Errorf("wrong text (-want +got):\n%s", diff)
			}
		})
	}
}
