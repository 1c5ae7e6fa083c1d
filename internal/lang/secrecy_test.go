// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Rule L3, for every function: an error says nothing of arguments that carry marks, for any mistake
// in them.
func TestErrorsHideMarkedArguments(t *testing.T) {
	const secret = "hunter2"
	for _, mark := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
		text := cty.StringVal("(" + secret + "${").Mark(mark)
		open := []cty.Value{
			cty.StringVal("x"), cty.NumberIntVal(10), cty.ListVal([]cty.Value{cty.StringVal("x")}),
			cty.MapVal(map[string]cty.Value{"x": cty.StringVal("y")}), cty.StringVal("2020-01-01T00:00:00Z"), cty.StringVal("10.0.0.0/8"),
		}
		marked := []cty.Value{
			text, cty.ListVal([]cty.Value{text}), cty.MapVal(map[string]cty.Value{secret: cty.StringVal("y")}).Mark(mark),
			cty.TupleVal([]cty.Value{text, text}), cty.ObjectVal(map[string]cty.Value{"x": text}), cty.SetVal([]cty.Value{text}),
		}
		var calls [][]cty.Value
		for _, m := range marked {
			calls = append(calls, []cty.Value{m})
			for _, n := range append(open, marked...) {
				calls = append(calls, []cty.Value{m, n}, []cty.Value{n, m})
				for _, o := range open {
					calls = append(calls, []cty.Value{m, n, o}, []cty.Value{n, m, o}, []cty.Value{n, o, m})
				}
			}
		}
		failed := 0
		for name, f := range lang.Functions(lang.Options{BaseDir: t.TempDir()}) {
			if strings.HasPrefix(name, "core::") {
				continue // the same ones
			}
			for _, args := range calls {
				_, err := f.Call(args)
				if err == nil {
					continue
				}
				failed++
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s(%#v): error %q shows the secret", name, args, err)
					break
				}
			}
		}
		if failed < 1000 {
			t.Errorf("only %d calls failed: this tests nothing", failed)
		}
	}
}
