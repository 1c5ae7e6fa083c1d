// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package blame

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// record is that of an object with attributes, some of which are sensitive.
func record(attributes string, sensitive ...string) []byte {
	paths := make([]string, len(sensitive))
	for i, name := range sensitive {
		paths[i] = fmt.Sprintf(`[{"type":"get_attr","value":%q}]`, name)
	}
	return fmt.Appendf(nil, `{"resource":{"mode":"managed","type":"t","name":"x","provider":"provider[\"registry.example/a/t\"]"},`+
		`"instance":{"schema_version":0,"attributes":%s,"sensitive_attributes":[%s]}}`, attributes, strings.Join(paths, ","))
}

// shown writes the attributes as "path before -> value since", with ? for what is hidden.
func shown(t *testing.T, values ...[]byte) []string {
	t.Helper()
	key, err := stackstate.ParseKey("RSRCcomponent.a,t.x,cur")
	if err != nil {
		t.Fatal(err)
	}
	versions := map[int64]statestore.Version{}
	var past statestore.Revisions
	for i, value := range values {
		serial := int64(i + 1)
		versions[serial] = statestore.Version{Serial: serial}
		past.Add(statestore.Revision{Serial: serial, Value: value})
	}
	object, err := objectOf(key, past, versions)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, a := range object.Attributes {
		value, before := fmt.Sprint(a.Value), fmt.Sprint(a.Before)
		if a.IsHidden() {
			value, before = "?", "?"
		}
		lines = append(lines, fmt.Sprintf("%s %s -> %s %d", a.Path, before, value, a.Since.Serial))
	}
	return lines
}

func TestAttributes(t *testing.T) {
	for name, test := range map[string]struct {
		values [][]byte
		want   []string
	}{
		"changed and kept": {
			[][]byte{record(`{"a":1,"b":{"c":"x","d":null}}`), record(`{"a":2,"b":{"c":"x","d":true}}`)},
			[]string{"a 1 -> 2 2", "b.c <nil> -> x 1", "b.d <nil> -> true 2"},
		},
		"there and back": {
			[][]byte{record(`{"a":1}`), record(`{"a":2}`), record(`{"a":1}`)},
			[]string{"a 2 -> 1 3"},
		},
		"removed, and set again to the same": {
			[][]byte{record(`{"a":1,"b":1}`), record(`{"b":null}`), record(`{"a":1}`)},
			[]string{"a 1 -> 1 3", "b 1 -> <nil> 2"},
		},
		"object that was gone": {
			[][]byte{record(`{"a":1}`), nil, record(`{"a":3}`)},
			[]string{"a 1 -> 3 3"},
		},
		"rule B1: sensitive once, hidden for ever": {
			[][]byte{record(`{"a":"s"}`, "a"), record(`{"a":"s"}`), record(`{"a":"t"}`)},
			[]string{"a ? -> ? 3"},
		},
		"rule B1: in an object that was sensitive": {
			[][]byte{record(`{"a":{"b":"s","c":1}}`), record(`{"a":{"b":"s","c":1}}`, "a")},
			[]string{"a ? -> ? 2", "a.b ? -> ? 2", "a.c ? -> ? 2"},
		},
		"names that are no identifiers": {
			[][]byte{record(`{"tags":{"a b":"x","<i>":"y"}}`)},
			[]string{`tags["<i>"] <nil> -> y 1`, `tags["a b"] <nil> -> x 1`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, shown(t, test.values...)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}
