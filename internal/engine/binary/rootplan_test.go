// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Attributes that only the schema of a provider calls sensitive are known to be so in the plan of a
// root module, wherever its providers are installed. A plan whose providers have no schema is none
// to show.
func TestReadRootPlan(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(fakeRequired+`
resource "fake_everything" "x" { secret = "hunter2" }
`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TF_DATA_DIR", "data")
	for _, args := range [][]string{{"init", "-input=false"}, {"plan", "-input=false", "-out=plan"}} {
		cmd := testenv.Command(t, testenv.Engine(t), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", args, err, out)
		}
	}
	file, err := os.ReadFile(filepath.Join(dir, "plan"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(t.Context(), Options{Binary: testenv.Engine(t), WorkDir: t.TempDir(), SchemaDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	root := initdir.Dir{Path: dir, Environ: []string{"TF_DATA_DIR=data"}}
	for _, how := range []string{"by asking", "by what was kept"} {
		plan, err := e.ReadRootPlan(t.Context(), root, file)
		if err != nil {
			t.Fatalf("%s: %s", how, err)
		}
		secret := plan.ResourceChanges[0].After.GetAttr("secret")
		if !marks.Has(secret, marks.Sensitive) || !secret.IsMarked() {
			t.Errorf("%s: secret is %#v, want a sensitive value", how, secret)
		}
		if bare, _ := secret.Unmark(); !bare.RawEquals(cty.StringVal("hunter2")) {
			t.Errorf("%s: secret is %#v", how, bare)
		}
		e.opts.Binary = filepath.Join(dir, "gone") // cannot be started
	}

	if _, err := e.ReadRootPlan(t.Context(), root, []byte("encrypted")); !errors.As(err, new(*planfile.FormatError)) {
		t.Errorf("file that is no plan: %v, want a FormatError", err)
	}
	if _, err := e.ReadRootPlan(t.Context(), initdir.Dir{Path: dir}, file); err == nil {
		t.Error("a plan was read without the schemas of its providers")
	}
}
