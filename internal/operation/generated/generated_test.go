// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package generated_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/operation/generated"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func component(t *testing.T, addr, source string, blocks ...engine.Generated) *stackplan.Component {
	t.Helper()
	parsed, err := stackaddrs.ParseAbsComponentInstance(addr)
	if err != nil {
		t.Fatal(err)
	}
	return &stackplan.Component{Addr: parsed, Source: source, Generated: blocks}
}

func block(dir, name, text string) engine.Generated {
	return engine.Generated{
		ModuleDir: dir, Addr: stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "t", Name: name}}, Text: text + "\n",
	}
}

func TestText(t *testing.T) {
	plan := &stackplan.Plan{Components: []*stackplan.Component{
		component(t, "component.a", "./a", block("/a", "x", "a.x"), block("/a", "y", "a.y")),
		component(t, "component.b", "./b"),
		component(t, `component.c["1"]`, "./c", block("/c", "x", "c.x"), block("/c", "y", "c.y")),
		component(t, `component.c["2"]`, "./c", block("/c", "x", "c.x"), block("/c", "y", "other")),
		component(t, "component.d", "./a", block("/sub/a", "x", "d.x")),
	}}
	const want = `# component.a: module ./a

a.x

a.y

# component.c["1"]: module ./c

c.x

c.y

# component.d: module ./a

d.x
`
	text, diags := generated.Text(plan)
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
	if len(diags) != 1 || diags.HasErrors() || diags[0].Summary != "Different generated configurations" {
		t.Errorf("Text: got %v, want a warning", diags)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.tf")
	if written, diags := generated.Write(path, &stackplan.Plan{}); written || len(diags) > 0 {
		t.Errorf("Write of nothing: %t, %v", written, diags)
	}
	if err := generated.CheckPath(path); err != nil {
		t.Errorf("CheckPath: %v", err)
	}
	plan := &stackplan.Plan{Components: []*stackplan.Component{component(t, "component.a", "./a", block("/a", "x", "text"))}}
	if written, diags := generated.Write(path, plan); !written || len(diags) > 0 {
		t.Errorf("Write: %t, %v", written, diags)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := generated.CheckPath(path); err == nil {
		t.Error("CheckPath of a file: no error")
	}
	if written, diags := generated.Write(path, plan); written || !diags.HasErrors() {
		t.Errorf("Write over a file: %t, %v", written, diags)
	}
}
