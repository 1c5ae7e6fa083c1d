// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
)

// planValues has terraform evaluate the expressions, none of which fails, in a plan, and returns
// their values. A plan file has properties that a console does not show: the refinements of unknown
// values, and the marks of them and in them.
func planValues(t *testing.T, dir string, expressions []string) []cty.Value {
	t.Helper()
	var object strings.Builder
	for i, expr := range expressions {
		fmt.Fprintf(&object, "    r%05d = %s\n", i, expr)
	}
	// Refinements are kept of outputs only, and paths of marks of resources only.
	source := "output \"values\" {\n  sensitive = true\n  value = {\n" + object.String() + "  }\n}\n" +
		"resource \"terraform_data\" \"marks\" {\n  input = {\n" + object.String() + "  }\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "planned.tf"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := terraform(t, dir, "", "plan", "-out=planned", "-input=false", "-no-color"); err != nil {
		t.Fatal(err)
	}
	plan, err := planfile.ReadFile(filepath.Join(dir, "planned"), planfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, marked := plan.Outputs["values"].After, cty.NilVal
	for _, change := range plan.ResourceChanges {
		if change.Addr.Resource.Name == "marks" {
			marked = change.After.GetAttr("input")
		}
	}
	values := make([]cty.Value, len(expressions))
	for i := range values {
		name := fmt.Sprintf("r%05d", i)
		_, paths := marked.GetAttr(name).UnmarkDeepWithPaths()
		values[i] = all.GetAttr(name).MarkWithPaths(paths)
	}
	return values
}

// isPlannable reports whether a plan can have the result of the entry: it has no place for
// infinity, and resources for ephemeral values.
func (e corpusEntry) isPlannable() bool {
	return !e.fails && !strings.Contains(e.expr, "phemeral") && !strings.Contains(e.value, "Inf")
}

// flat takes marks off the parts of a value that is marked as a whole. Plans list no paths below
// that of the whole.
func flat(v cty.Value) cty.Value {
	flattened, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		bare, own := part.Unmark()
		if len(own) == 0 {
			return part, nil
		}
		bare, _ = bare.UnmarkDeep()
		return bare.WithMarks(own), nil
	})
	if err != nil {
		panic(err) // the function returns none
	}
	return flattened
}

// planText writes a value that is marked or unknown somewhere, with its marks and all that is known
// of it, and others as "".
func planText(v cty.Value) string {
	if v.IsWhollyKnown() && !v.ContainsMarked() {
		return "" // a console shows it all
	}
	v = flat(v)
	return strings.NewReplacer("cty.", "", ".Refine().NewValue()", "", "DynamicPseudoType", "Dynamic").Replace(v.GoString())
}

// addPlanTexts has terraform plan the entries.
func addPlanTexts(t *testing.T, dir string, entries []corpusEntry) {
	t.Helper()
	var expressions []string
	var positions []int
	for i, entry := range entries {
		if entry.isPlannable() {
			expressions = append(expressions, entry.expr)
			positions = append(positions, i)
		}
	}
	for i, value := range planValues(t, dir, expressions) {
		entries[positions[i]].plan = planText(value)
	}
}
