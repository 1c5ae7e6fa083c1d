// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/wantdiag"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// builtinOnly has the schemas of one provider.
type builtinOnly struct{ schema *schema.Provider }

func (b builtinOnly) Schema(of stackaddrs.Provider) *schema.Provider {
	if of.IsBuiltin() {
		return b.schema
	}
	return nil
}

var functions = &hcl.EvalContext{Functions: lang.Functions(lang.Options{PureOnly: true})}

// check loads the module in a directory, and validates it if that has found no errors, as terraform
// does.
func check(ctx context.Context, dir string) hcl.Diagnostics {
	tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, validate.Tree(ctx, tree.Root, validate.Options{
		Schemas:   builtinOnly{builtin.Schema()},
		Functions: func(*module.Node) *hcl.EvalContext { return functions },
		RootPath:  ".", WorkPath: dir,
	})...)
}

// extract writes the files of an archive into a directory of its own.
func extract(t *testing.T, archive string) (dir, comment string) {
	t.Helper()
	dir = t.TempDir()
	parsed, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range parsed.Files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, file.Data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, string(parsed.Comment)
}

// eachArchive runs a test for each tree of modules.
func eachArchive(t *testing.T, test func(t *testing.T, dir, comment string)) {
	t.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are no archives: %v", err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			dir, comment := extract(t, archive)
			test(t, dir, comment)
		})
	}
}

func TestExpectations(t *testing.T) {
	eachArchive(t, func(t *testing.T, dir, _ string) {
		want, err := wantdiag.Expected(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := wantdiag.Found(check(t.Context(), dir), func(name string) []byte {
			src, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			return src
		})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("diagnostics (-want +got):\n%s", diff)
		}
	})
}

// TestPlansSayTheSame plans what was validated, with inputs that are not known. Where both find a
// mistake, they have the same words for it. Plans rely on the addresses in import blocks to be
// right.
func TestPlansSayTheSame(t *testing.T) {
	both := 0
	eachArchive(t, func(t *testing.T, dir, _ string) {
		tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
		if diags.HasErrors() || planning.Unsupported(tree.Root).HasErrors() || len(tree.Root.Imports) > 0 {
			t.Skip("the module is not planned")
		}
		found := map[hcl.Range][]string{}
		for _, diag := range check(t.Context(), dir) {
			if diag.Summary == "Condition without references" {
				continue // it may hold
			}
			found[*diag.Subject] = append(found[*diag.Subject], diag.Summary+": "+diag.Detail)
		}
		c := &nativetest.Component{Dir: dir, Tree: tree.Root, Fake: nativetest.NewProvider()}
		plan := c.Plan(t, func(req *planning.Request) {
			for name, v := range tree.Root.Variables {
				req.Inputs[name] = cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
			}
		})
		for _, diag := range plan.Diags {
			if diag.Subject == nil || diag.Summary == "Circular dependency" || found[*diag.Subject] == nil {
				continue
			}
			both++
			if text := diag.Summary + ": " + diag.Detail; !slices.Contains(found[*diag.Subject], text) {
				t.Errorf("%s: the plan says %q, and validating %q", diag.Subject, text, found[*diag.Subject])
			}
		}
	})
	if both < 10 {
		t.Errorf("plans found %d mistakes that validating finds, want more", both)
	}
}

// difference is a line in the comment of an archive: terraform has, or lacks, a diagnostic that we
// lack, or have, for a reason.
var difference = regexp.MustCompile(`(?m)^terraform (has|lacks) (\S+: \w+):`)

// TestAgainstTerraform compares severities and lines with those that terraform reports for the same
// modules.
func TestAgainstTerraform(t *testing.T) {
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("needs terraform on PATH")
	}
	eachArchive(t, func(t *testing.T, dir, comment string) {
		got := places(check(t.Context(), dir))
		for _, match := range difference.FindAllStringSubmatch(comment, -1) {
			if match[1] == "has" {
				got = append(got, match[2])
				continue
			}
			i := slices.Index(got, match[2])
			if i < 0 {
				t.Errorf("there is no %s that terraform could lack", match[2])
				continue
			}
			got = slices.Delete(got, i, i+1)
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if diff := cmp.Diff(terraform(t, program, dir), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("places of diagnostics (-terraform +got):\n%s", diff)
		}
	})
}

// places returns where diagnostics are and how severe they are. A cycle is nowhere for terraform.
func places(diags hcl.Diagnostics) []string {
	var list []string
	for _, diag := range diags {
		severity := "error"
		if diag.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		place := "-"
		if diag.Subject != nil && diag.Summary != "Circular dependency" {
			place = fmt.Sprintf("%s:%d", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		list = append(list, place+": "+severity)
	}
	return list
}

// terraform returns the mistakes that the program reports for the module in a directory.
func terraform(t *testing.T, program, dir string) []string {
	t.Helper()
	installModules(t, dir)
	empty := filepath.Join(t.TempDir(), "terraformrc")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "validate", "-json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+empty)
	out, err := cmd.Output()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	var report struct {
		Diagnostics []struct {
			Severity, Summary, Detail string
			Range                     *struct {
				Filename string
				Start    struct{ Line int }
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	var list []string
	for _, diag := range report.Diagnostics {
		place := "-"
		if diag.Range != nil {
			place = fmt.Sprintf("%s:%d", filepath.ToSlash(diag.Range.Filename), diag.Range.Start.Line)
		}
		t.Logf("%s: %s: %s", place, diag.Severity, diag.Summary)
		list = append(list, place+": "+diag.Severity)
	}
	slices.Sort(list)
	return slices.Compact(list) // it repeats the mistakes in a module for each call
}

var localCall = regexp.MustCompile(`(?s)module "(\w+)" \{[^}]*?source\s*=\s*"\./(\w+)"`)

// installModules writes the list of modules that init would write. Only the root calls others.
func installModules(t *testing.T, dir string) {
	t.Helper()
	type entry struct{ Key, Source, Dir string }
	list := struct{ Modules []entry }{[]entry{{Dir: "."}}}
	src, err := os.ReadFile(filepath.Join(dir, "main.tf"))
	if err != nil {
		return // a module in JSON syntax calls none
	}
	for _, call := range localCall.FindAllSubmatch(src, -1) {
		list.Modules = append(list.Modules, entry{string(call[1]), "./" + string(call[2]), string(call[2])})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, ".terraform", "modules")
	if err := errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "modules.json"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// The provider_meta block of a module is checked by the schema of the provider.
func TestProviderMeta(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("terraform {\n  provider_meta \"terraform\" {\n    color = 1\n  }\n}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	known := *builtin.Schema()
	known.Meta = &schema.Schema{Block: &schema.Block{Attributes: []*schema.Attribute{{Name: "note", Type: cty.String, Optional: true}}}}
	diags = validate.Tree(t.Context(), tree.Root, validate.Options{
		Schemas:   builtinOnly{&known},
		Functions: func(*module.Node) *hcl.EvalContext { return functions },
	})
	if len(diags) != 1 || diags[0].Summary != "Unsupported argument" || diags[0].Subject.Start.Line != 3 {
		t.Errorf("got %v, want an error about color", diags)
	}
}
