// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/judge"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// documentCase is a module with the steps in which terraform and cairn do the same with it. Files
// of an archive are those of the module, of the stack around it, and of the root module that
// terraform has in its place. Those in a directory with the number of a step take the place of
// others from that step on.
type documentCase struct {
	steps   []string
	archive *txtar.Archive
}

func readDocumentCase(t *testing.T, file string) documentCase {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := documentCase{archive: archive}
	for _, file := range archive.Files {
		if file.Name == "steps" {
			c.steps = strings.Split(strings.TrimSpace(string(file.Data)), "\n")
		}
	}
	return c
}

// write writes the files of a step. What is in the module is for both: terraform has it at its
// root, the stack below it.
func (c documentCase) write(t *testing.T, step int, dirs map[string]string) {
	t.Helper()
	for _, file := range c.archive.Files {
		name := file.Name
		if number, rest, _ := strings.Cut(name, "/"); number != "" {
			if from, err := strconv.Atoi(number); err == nil {
				if from != step {
					continue
				}
				name = rest
			} else if step > 1 {
				continue
			}
		}
		top, rest, _ := strings.Cut(name, "/")
		for at, dir := range dirs {
			if path := rest; top == at || top == "module" {
				if top == "module" && at == "stack" {
					path = name
				}
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, file.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// withoutDifferences returns a document without the parts in which cairn's differs on purpose, or
// in which two runs differ:
//
//   - the times, and identifiers that are made up in each run;
//   - the version of terraform: the native engine has the language of another one than the judge,
//     and a block that terraform_data has only there;
//   - relevant_attributes, which there are not;
//   - data sources in the prior state where everything is destroyed.
func withoutDifferences(t *testing.T, text []byte, mode engine.Mode) any {
	t.Helper()
	var doc map[string]any
	text = uuid.ReplaceAll(text, []byte("UUID"))
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	delete(doc, "relevant_attributes")
	if prior, ok := doc["prior_state"].(map[string]any); ok && mode == engine.Destroy {
		root := prior["values"].(map[string]any)["root_module"].(map[string]any)
		root["resources"] = slices.DeleteFunc(root["resources"].([]any), func(r any) bool { return r.(map[string]any)["mode"] == "data" })
	}
	doc["timestamp"] = "some time"
	return withoutVersions(doc)
}

func withoutVersions(part any) any {
	switch part := part.(type) {
	case map[string]any:
		delete(part, "terraform_version")
		if store, ok := part["store"]; ok && store == nil {
			delete(part, "store")
		}
		for name := range part {
			part[name] = withoutVersions(part[name])
		}
	case []any:
		for i := range part {
			part[i] = withoutVersions(part[i])
		}
	}
	return part
}

// Terraform's document of a component is the one that terraform makes of its module, and so is the
// one that is made of terraform's own plan file.
func TestTerraformPlansAsTerraform(t *testing.T) {
	program := testenv.Terraform(t)
	files, err := filepath.Glob("testdata/terraformplan/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			compareDocuments(t, file, program, engines.Native)
		})
	}
}

// A component that terraform has planned has the same document.
func TestTerraformPlansOfBinary(t *testing.T) {
	program := testenv.Terraform(t)
	for _, name := range []string{"create", "destroy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareDocuments(t, "testdata/terraformplan/"+name+".txtar", program, program)
		})
	}
}

func compareDocuments(t *testing.T, file, program, name string) {
	t.Helper()
	c := readDocumentCase(t, file)
	config := testenv.CLIConfigFile(t, testenv.TimeProviderMirror(t))
	dirs := map[string]string{"root": t.TempDir(), "stack": t.TempDir()}
	environ := func(store string) []string {
		return []string{"TF_CLI_CONFIG_FILE=" + config, "CHECKPOINT_DISABLE=1", "CAIRN_FAKE_STORE=" + store, "CAIRN_FAKE_IDS=" + store}
	}
	stores := map[string]string{"root": t.TempDir(), "stack": t.TempDir()}
	terraform := judge.New(t, program, dirs["root"], environ(stores["root"])...)
	open := func() *operation.Stack {
		return openDir(t, operation.Options{
			Env:    env.Options{Dir: dirs["stack"], Environ: append(os.Environ(), environ(stores["stack"])...)},
			Engine: engines.Request{Named: name, NamedBy: "this test"},
		})
	}
	for i, step := range c.steps {
		c.write(t, i+1, dirs)
		words := strings.Fields(step)
		if words[0] == "put" {
			for _, dir := range stores {
				object := &testprovider.Object{
					Type: words[2], ID: words[1], Region: "r",
					Values: map[string]json.RawMessage{"id": fmt.Appendf(nil, "%q", words[1]), "value": json.RawMessage(`"put"`)},
				}
				if err := (testprovider.Store{Dir: dir}).Put(object); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		mode := map[string]engine.Mode{"plan": engine.Normal, "apply": engine.Normal, "destroy": engine.Destroy}[words[0]]
		plan := filepath.Join(dirs["root"], "terraform.tfplan")
		if err := terraform.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := terraform.Plan(t.Context(), tfexec.Out(plan), tfexec.Destroy(mode == engine.Destroy)); err != nil {
			t.Fatal(err)
		}
		want := withoutDifferences(t, terraform.ShowPlan(plan), mode)
		root := withoutDifferences(t, rootDocument(t, plan, dirs["root"], environ(stores["root"])), mode)
		if diff := cmp.Diff(want, root); diff != "" {
			t.Errorf("step %d, %s, as a root module (-terraform +cairn):\n%s", i+1, step, diff)
		}
		stack := open()
		saved := filepath.Join(dirs["stack"], "stack.plan")
		_, diags := stack.Plan(t.Context(), operation.Request{Scope: operation.Scope{Mode: mode}}, operation.Caller{}, saved)
		mustDiags(t, diags)
		if diff := cmp.Diff(want, withoutDifferences(t, documentOf(t, stack, saved), mode)); diff != "" {
			t.Errorf("step %d, %s (-terraform +cairn):\n%s", i+1, step, diff)
		}
		if words[0] == "apply" {
			if err := terraform.Apply(t.Context(), tfexec.DirOrPlan(plan)); err != nil {
				t.Fatal(err)
			}
			mustDiags(t, open().Apply(t.Context(), operation.Request{}, operation.Caller{Approve: operation.ApproveAll}))
		}
	}
}

// rootDocument returns the document of the plan file of a root module.
func rootDocument(t *testing.T, file, dir string, environ []string) []byte {
	t.Helper()
	plan, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := rootmodule.NewDocument(t.Context(), plan, rootmodule.DocumentOptions{
		Dir: dir, Environ: append(os.Environ(), environ...), SchemaDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// documentOf returns the document of the only component of a saved plan.
func documentOf(t *testing.T, stack *operation.Stack, file string) []byte {
	t.Helper()
	plan, made, err := stack.ReadPlan(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	docs, diags := operation.NewTerraformPlans(t.Context(), stack, plan, made)
	mustDiags(t, diags)
	doc, err := docs.Document(plan.Components[0])
	if err != nil {
		t.Fatal(err)
	}
	if native := plan.Engine.Name == toolchain.Native; native && doc.TerraformVersion != toolchain.NativeTerraform ||
		!native && doc.TerraformVersion != plan.Engine.Version {
		t.Errorf("the version is %s", doc.TerraformVersion)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
