// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A function does not make of a small argument what takes all memory.
func TestResultsAreBounded(t *testing.T) {
	const tooMuchText, tooManyParts, tooManyDigits = "more than 128 MiB of text", "more than 4194304 elements", "too many digits"
	scope := &hcl.EvalContext{Functions: Functions(Options{}), Variables: map[string]cty.Value{
		"mega": cty.StringVal(strings.Repeat("a", 1<<18)),
	}}
	for source, want := range map[string]string{
		`format("%1000000000s", "a")`:                                     tooMuchText,
		`format("%99999999999999999999s", "a")`:                           tooMuchText,
		`format("%-0200000000[1]d", 1)`:                                   tooMuchText,
		`format("%.200000000f", 1)`:                                       tooMuchText,
		`format("%100000000s%100000000s", "a", "b")`:                      tooMuchText,
		`formatlist("%1000000s", range(1000))`:                            tooMuchText,
		`formatlist("%100s", range(1000))`:                                "",
		`format("%100s %5.2f %%", "a", 1)`:                                "",
		`indent(1000000000, "a\nb")`:                                      tooMuchText,
		`indent(pow(2, 100), "a")`:                                        "must be a whole number",
		`replace(mega, "a", mega)`:                                        tooMuchText,
		`replace(mega, "/a/", mega)`:                                      tooMuchText,
		`replace(mega, "/(a*)/", join("", [for x in range(1000): "$1"]))`: tooMuchText,
		`length(replace(mega, "/b/", mega))`:                              "",
		`replace(mega, "", mega)`:                                         tooMuchText,
		`join(mega, range(1000))`:                                         tooMuchText,
		`join("", [for x in range(1000): mega])`:                          tooMuchText,
		`length(join(mega, range(10)))`:                                   "",
		`length(split("", mega))`:                                         "",
		`setproduct(range(1000), range(999), range(1000))`:                tooManyParts,
		`setproduct(range(1000), range(999), range(1000), range(999), range(1000), range(999), range(1000))`: tooManyParts,
		`tonumber("1e1000000")`:      tooManyDigits,
		`tostring(1e300 * 1e19900)`:  tooManyDigits,
		`format("%d", "1e10000000")`: tooManyDigits,
		`ceil("1e10000000")`:         tooManyDigits,
		`tonumber("1e300")`:          "",
	} {
		_, diags := parseExpression(t, source).Value(scope)
		switch {
		case want == "" && diags.HasErrors():
			t.Errorf("%s fails with: %s", source, diags)
		case want != "" && !diags.HasErrors():
			t.Errorf("%s has a value, want the error %q", source, want)
		case want != "" && !strings.Contains(diags[0].Detail, want):
			t.Errorf("%s: got message %q, want one with %q", source, diags[0].Detail, want)
		}
	}
}
