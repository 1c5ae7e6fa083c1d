// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// operations are expressions that call no function by name, but are evaluated by functions of HCL.
var operations = []string{
	"a + b", "a - b", "a * b", "a / b", "a % b", "-a", "!a", "a && b", "a || b", "a == b", "a != b", "a < b", "a >= b", "a ? b : c",
	"a[b]", "a.x", "a.0", "a[*]", "a[*].x", "a.*.x", `"${a}"`, `"x-${a}-${b}"`, `"%{ for x in a }${x}%{ endfor }"`,
	`"%{ if a }x%{ endif }"`, "[for k, v in a : v]", "{ for k, v in a : k => v }", "{ for k, v in a : v => k... }",
	"[for v in a : v if b]", "{ (a) = b }", "[a, b]", "try(a.x, b)", "can(a[b])", "format(a, b...)",
	"setproduct(a...)", "merge(a...)", "concat(a...)", "coalesce(a...)", "zipmap(keys(a), values(a))",
}

// choices are the bytes of a fuzzer, each of which decides something. After the last one,
// everything is decided by 0.
type choices struct{ bytes []byte }

func (c *choices) below(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	chosen := int(c.bytes[0])
	c.bytes = c.bytes[1:]
	return chosen % n
}

// huge is a number of which no conversion to a machine number is exact.
var huge = new(big.Float).SetMantExp(big.NewFloat(1.5), 200)

var fuzzNumbers = []cty.Value{
	cty.Zero, cty.NumberIntVal(1), cty.NumberIntVal(-1), cty.NumberIntVal(2), cty.NumberIntVal(7),
	cty.NumberFloatVal(0.5), cty.NumberFloatVal(-2.5), cty.NumberIntVal(36), cty.NumberIntVal(1 << 31), cty.NumberIntVal(1 << 62),
	cty.MustParseNumberVal("9223372036854775808"), cty.MustParseNumberVal("-9223372036854775809"),
	cty.MustParseNumberVal("1e400"), cty.MustParseNumberVal("-1e-400"),
	cty.PositiveInfinity, cty.NegativeInfinity, cty.NumberVal(huge), cty.NumberIntVal(64), cty.NumberIntVal(1 << 20),
}

var fuzzStrings = []string{
	"", "a", "b", "x", "1", "-1", "true", "\n", "a\nb\n", "é", "👩‍👩‍👧", "\u0301", "%s", "%d", "%1000000000d", "%[9]q",
	"%.1000000000f", "%v%%%", "%*d", "10.0.0.0/8", "fd00::/8", "10.0.0.1/32", "0.0.0.0/0", "::/0", "/(a)*/", "/(/",
	"$1${x}", "[", "(?P<x>a)|(b)",
	"2024-02-29T00:00:00Z", "9999-12-31T23:59:59+14:00", "1h", "-999999h", "YYYY-MM-DD'T'hh", "'", "{}",
	`{"x":[null,1e999]}`, `[1,"a",{}]`, "a: &a [*a]", "a: [1, ~]\n<<: {b: 1}", "? [a]\n: b", "!!binary x", ".inf",
	"a,b\n1,2\n", "a,a\n1,2\n", "\"", "YQ==", "/w==", "UTF-8", "UTF-16", "ISO-8859-1",
	"${x}", "${x.y}", "%{ for i in x }${i}%{ endfor }", "${1 +}", "~", "~/a", "~b", ".", "..", "/", "/dev/null", "*",
	"**", "{a,b", "dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "\x00", "oid", "0x7f", "1e10000", "zz",
}

// value makes a value of any type: nulls, unknowns, marks and empty collections in all places.
func (c *choices) value(depth int) cty.Value {
	value := c.plain(depth)
	switch c.below(16) {
	case 1:
		value = cty.NullVal(value.Type())
	case 2:
		value = cty.UnknownVal(value.Type())
	case 3:
		value = value.Mark(marks.Sensitive)
	case 4:
		value = value.Mark(marks.Ephemeral)
	case 5:
		value = cty.UnknownVal(value.Type()).Mark(marks.Sensitive)
	case 6:
		if value.Type() != cty.DynamicPseudoType {
			value = cty.UnknownVal(value.Type()).RefineNotNull()
		}
	case 7:
		value = cty.NullVal(value.Type()).Mark(marks.Ephemeral)
	}
	return value
}

func (c *choices) plain(depth int) cty.Value {
	kinds := 10
	if depth == 0 {
		kinds = 5
	}
	switch c.below(kinds) {
	case 0:
		return cty.StringVal(fuzzStrings[c.below(len(fuzzStrings))])
	case 1:
		return fuzzNumbers[c.below(len(fuzzNumbers))]
	case 2:
		return cty.BoolVal(c.below(2) == 1)
	case 3:
		return cty.NullVal(cty.DynamicPseudoType)
	case 4:
		return cty.DynamicVal
	case 5: // a list, or a set of its elements
		element := c.value(depth - 1)
		count, isSet := c.below(4), c.below(2) == 1
		bare, _ := element.Unmark()
		if count == 0 {
			if isSet {
				return cty.SetValEmpty(bare.Type())
			}
			return cty.ListValEmpty(bare.Type())
		}
		elements := []cty.Value{element}
		for len(elements) < count {
			next := c.value(depth - 1)
			if bare, _ := next.Unmark(); !bare.Type().Equals(element.Type()) {
				next = element
			}
			elements = append(elements, next)
		}
		if isSet {
			return cty.SetVal(elements)
		}
		return cty.ListVal(elements)
	case 6:
		elements := make([]cty.Value, c.below(4))
		for i := range elements {
			elements[i] = c.value(depth - 1)
		}
		return cty.TupleVal(elements)
	case 7:
		attributes := map[string]cty.Value{}
		for range c.below(4) {
			attributes[fuzzStrings[c.below(len(fuzzStrings))]] = c.value(depth - 1)
		}
		return cty.ObjectVal(attributes)
	case 8:
		element := c.value(depth - 1)
		elements := map[string]cty.Value{}
		for range c.below(3) {
			elements[fuzzStrings[c.below(len(fuzzStrings))]] = element
		}
		if len(elements) == 0 {
			bare, _ := element.Unmark()
			return cty.MapValEmpty(bare.Type())
		}
		return cty.MapVal(elements)
	default:
		return cty.UnknownVal(cty.String).Refine().StringPrefix("a").NewValue()
	}
}

// fuzzedExpressions are calls of all functions, with one to four arguments that are references, and
// operations.
func fuzzedExpressions(functions []string) []string {
	expressions := slices.Clone(operations)
	for _, name := range functions {
		if name == "bcrypt" { // slow by intention
			continue
		}
		for count := range 4 {
			expressions = append(expressions, fmt.Sprintf("%s(%s)", name, strings.Join([]string{"a", "b", "c", "d"}[:count], ", ")))
		}
	}
	return expressions
}

// A function that is called with any arguments, by stacks, deployments or modules, has a value or
// an error in words.
func FuzzFunctions(f *testing.F) {
	dir := newCorpusDir(f)
	within, err := filepath.EvalSymlinks(dir)
	if err != nil {
		f.Fatal(err)
	}
	table := Functions(Options{BaseDir: dir, Within: []string{within}}) // "/" and "**" may meet in fileset
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(table)), func(name string) bool { return strings.HasPrefix(name, corePrefix) })
	expressions := fuzzedExpressions(names)
	for i := range expressions {
		random := rand.New(rand.NewPCG(uint64(i), 0)) //nolint:gosec // repeatable
		for range 5 {
			seed := make([]byte, 40)
			for j := range seed {
				seed[j] = byte(random.Uint32())
			}
			f.Add(uint16(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, bytes []byte) {
		source := expressions[int(which)%len(expressions)]
		c := &choices{bytes}
		scope := &hcl.EvalContext{Functions: table, Variables: map[string]cty.Value{}}
		for _, name := range []string{"a", "b", "c", "d"} {
			scope.Variables[name] = c.value(2)
		}
		checkEvaluation(t, scope, source)
	})
}

// checkEvaluation reports a panic, and a value that is none.
func checkEvaluation(t *testing.T, scope *hcl.EvalContext, source string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s with %#v panics: %v", source, scope.Variables, r)
		}
	}()
	value, diags := parseExpression(t, source).Value(scope)
	for _, diag := range diags {
		if text := diag.Summary + " " + diag.Detail; strings.Contains(text, "panic") || strings.Contains(text, "bug in cairn") {
			t.Errorf("%s with %#v fails with: %s", source, scope.Variables, text)
		}
	}
	if !diags.HasErrors() && value == cty.NilVal {
		t.Errorf("%s with %#v has no value", source, scope.Variables)
	}
	_ = value.GoString() // an inconsistent value panics here
}
