// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseEvent(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const head = `{"@level":"info","@message":"m","@timestamp":"2026-01-02T03:04:05Z",`
	for line, want := range map[string]Event{
		head + `"type":"version","terraform":"1.11.4","ui":"1.2"}`: {
			Type: EventVersion, Level: "info", Message: "m", Timestamp: at, Terraform: "1.11.4",
		},
		head + `"type":"change_summary","changes":{"add":1,"change":2,"import":3,"remove":4,"operation":"apply"}}`: {
			Type: EventChangeSummary, Level: "info", Message: "m", Timestamp: at,
			Summary: &ChangeSummary{Add: 1, Change: 2, Import: 3, Remove: 4, Operation: "apply"},
		},
		head + `"type":"apply_complete","hook":{"resource":{"addr":"a.b[0]","resource_type":"a","resource_name":"b","resource_key":0},"action":"create","id_key":"id","id_value":"x","elapsed_seconds":1.5}}`: {
			Type: EventApplyComplete, Level: "info", Message: "m", Timestamp: at,
			Hook: &Hook{
				Resource: Resource{Addr: "a.b[0]", Type: "a", Name: "b", Key: []byte("0")},
				Action:   "create", IDKey: "id", IDValue: "x", ElapsedSeconds: 1.5,
			},
		},
		head + `"type":"planned_change","change":{"resource":{"addr":"a.b"},"previous_resource":{"addr":"a.c"},"action":"update","importing":{"id":"i"}}}`: {
			Type: EventPlannedChange, Level: "info", Message: "m", Timestamp: at,
			Change: &PlannedChange{
				Resource: Resource{Addr: "a.b"}, PreviousResource: &Resource{Addr: "a.c"}, Action: "update", Importing: &Importing{ID: "i"},
			},
		},
		head + `"type":"from_the_future","hook":null,"other":[1]}`: {
			Type: "from_the_future", Level: "info", Message: "m", Timestamp: at,
		},
		`{"@level":"info","@message":"Initializing the backend...","@module":"tofu.ui","@timestamp":"2026-01-02T03:04:05Z"}`: {
			Type: EventLog, Level: "info", Message: "Initializing the backend...", Timestamp: at,
		},
		"plain text":                     {Message: "plain text"},
		`{"version": 4,`:                 {Message: `{"version": 4,`},
		`{"version":4}`:                  {Message: `{"version":4}`},
		`{"type":"outputs","outputs":1}`: {Message: `{"type":"outputs","outputs":1}`},
		`[1]`:                            {Message: `[1]`},
	} {
		want.Raw = []byte(line)
		if diff := cmp.Diff(want, parseEvent([]byte(line))); diff != "" {
			t.Errorf("parseEvent(%s) (-want +got):\n%s", line, diff)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"type":"diagnostic","diagnostic":{"severity":"error","range":{"start":{"line":1}},"snippet":{"values":[{}]}}}`))
	f.Add([]byte(`{"type":"outputs","outputs":{"a":{"value":[1],"type":["list","string"]}}}`))
	f.Add([]byte("panic: text"))
	f.Fuzz(func(t *testing.T, line []byte) {
		ev := parseEvent(line)
		if string(ev.Raw) != string(line) {
			t.Errorf("Raw is %q, want %q", ev.Raw, line)
		}
		if ev.Type == "" && ev.Message != string(line) {
			t.Errorf("Message is %q, want the line %q", ev.Message, line)
		}
	})
}
