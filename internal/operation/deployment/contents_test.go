// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func objectAddresses(t *testing.T, state engine.State) string {
	t.Helper()
	objects, err := tfstate.ParseObjects(state)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, object := range objects {
		b.WriteString(object.Addr.String() + "\n")
	}
	return b.String()
}

func TestWithoutResource(t *testing.T) {
	const state = `{"version":4,"serial":3,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},"resources":[
		{"mode":"managed","type":"a","name":"x","provider":"p","instances":[
			{"index_key":0,"attributes":{}},{"index_key":1,"attributes":{}},{"index_key":1,"deposed":"0123abcd","attributes":{}}]},
		{"module":"module.m","mode":"managed","type":"a","name":"x","provider":"p","instances":[{"index_key":1,"attributes":{}}]}]}`
	got, err := withoutResource([]byte(state), "a.x[1]")
	if err != nil {
		t.Fatal(err)
	}
	if kept, want := objectAddresses(t, got), "a.x[0]\nmodule.m.a.x[1]\n"; kept != want {
		t.Errorf("kept:\n%swant:\n%s", kept, want)
	}
	if !strings.Contains(string(got), `"lineage":"l"`) || !strings.Contains(string(got), `"outputs"`) {
		t.Errorf("the rest has changed: %s", got)
	}
}
