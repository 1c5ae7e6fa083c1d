// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

var (
	seedFlag     = flag.Uint64("seed", 1, "compare the random expressions of this seed")
	durationFlag = flag.Duration("for", 0, "compare random expressions of further seeds for so long")
)

// A kind is the intended kind of a random expression. It may turn out to be something else, null,
// or an error.
type kind int

const (
	aString kind = iota
	aNumber
	aBool
	aList
	aMap
)

// forms are ways to make an expression of a kind: S, N, B, L and M stand for expressions of a kind.
// The first few are leaves. Known differences (see differences) are left out: && and ||, format of
// null or of values of unknown type, negative positions. Equality of objects is, too: cty compares
// their attributes in any order, and finds either an unknown one or a different one first.
var forms = [][]string{
	aString: {
		`"a"`, `"B c"`, `""`, `"é,1"`, `local.str`, `local.prefix`, `local.hidden`, `"7"`, `local.null`, `local.any`,
		`sensitive(local.str)`, `"x-${S}"`, `"${S}${S}"`, `"%{ if B }${S}%{ else }z%{ endif }"`,
		`"%{ for x in L }${x},%{ endfor }"`, `upper(S)`, `title(S)`, `trimspace(S)`, `join(S, L)`, `(B ? S : S)`,
		`lookup(M, S, S)`, `substr(S, 0, 2)`, `L[N]`, `M["a"]`, `try(S, S)`, `try(M.a, S)`, `jsonencode(L)`, `jsonencode(M)`,
		`coalesce(S, S)`, `replace(S, S, "-")`, `element(L, 1)`, `sensitive(S)`, `nonsensitive(S)`, `tostring(N)`, `tostring(B)`,
		`strrev(S)`, `base64encode(S)`, `sha1(S)`, `trimprefix(S, "a")`, `regex("[a-z]+", S)`, `yamlencode(L)`, `one(L)`,
		`format("%s/%s", "q", "${S}!")`, `urlencode(S)`, `chomp(S)`, `indent(2, S)`, `title(lower(S))`, `M.b`, `L.0`,
	},
	aNumber: {
		`0`, `1`, `2.5`, `3`, `local.num`, `local.hidden_num`, `"4"`, `length(L)`, `length(M)`, `length(S)`, `length(toset(L))`,
		`N + N`, `N - N`, `N * N`, `N % 3`, `-N`, `max(N, N)`, `min(N, 2)`, `ceil(N / 2)`, `abs(N)`, `floor(N)`, `signum(N)`,
		`parseint(S, 16)`, `sum([N, N])`, `index(L, S)`, `(B ? N : N)`, `try(tonumber(S), N)`, `tonumber(S)`, `length(keys(M))`,
		`[N, N][0]`,
	},
	aBool: {
		`true`, `false`, `local.bool`, `sensitive(true)`, `S == S`, `S != S`, `N < N`, `N >= N`, `L == L`, `S == null`,
		`L == null`, `M != null`, `contains(L, S)`, `!B`, `can(S)`, `can(M.a)`, `can(L[N])`, `anytrue([B, B])`,
		`startswith(S, S)`, `endswith(S, "a")`, `(B ? B : B)`, `issensitive(S)`, `issensitive(M)`, `try(tobool(S), B)`,
		`can(regex(S, "ab"))`, `N == N`,
	},
	aList: {
		`[]`, `["a", "b"]`, `local.list`, `local.strlist`, `local.hidden_list`, `local.part_hidden`, `toset(["a", "b"])`,
		`local.set`, `tolist([])`, `[S]`, `[S, S]`, `[N, B]`, `tolist([S, S])`, `toset([S, S])`, `split(",", S)`,
		`[for x in L : "${x}!"]`, `[for x in L : x if x != S]`, `[for k, v in M : "${k}=${v}"]`, `concat(L, L)`, `distinct(L)`,
		`compact(L)`, `keys(M)`, `values(M)`, `slice(L, 0, 1)`, `reverse(L)`, `sort(L)`, `flatten([L, L])`, `flatten([S, [L]])`,
		`L[*]`, `S[*]`, `(B ? L : L)`, `setunion(L, L)`, `setintersection(L, L)`, `setsubtract(L, L)`, `chunklist(L, 2)`,
		`coalescelist(L, L)`, `try(L, L)`, `tolist(L)`, `toset(L)`, `range(N)`, `regexall("[a-z]", S)`, `setproduct(L, L)`,
		`sensitive(L)`, `nonsensitive(L)`, `[for x in [M, M] : x.a]`, `[M, M][*].a`, `jsondecode(jsonencode(L))`,
		`formatlist("%s-%s", "p", ["${S}!"])`,
	},
	aMap: {
		`{}`, `{ a = "x", b = 2 }`, `local.map`, `local.object`, `local.hidden_map`, `tomap({ a = "x" })`, `local.any`,
		`{ a = S }`, `{ a = S, b = N }`, `{ a = B, (S) = S }`, `tomap({ a = S, b = S })`, `merge(M, M)`,
		`zipmap(["a", "b"], [S, N])`, `zipmap(L, L)`, `{ for x in L : x => N }`, `{ for k, v in M : k => v }`,
		`{ for k, v in M : upper(k) => S }`, `{ for x in L : x => S... }`, `(B ? M : M)`, `try(M, M)`, `tomap(M)`, `sensitive(M)`,
		`nonsensitive(M)`, `jsondecode(jsonencode(M))`, `{ a = L, b = M }`, `transpose({ a = L })`, `yamldecode(yamlencode(M))`,
	},
}

// leaves is how many of the forms of each kind have nothing within.
var leaves = [...]int{aString: 11, aNumber: 7, aBool: 4, aList: 9, aMap: 7}

// randomExpression makes an expression of so many levels at most.
func randomExpression(random *rand.Rand, of kind, depth int) string {
	form := forms[of][random.IntN(leaves[of])]
	if depth > 0 {
		form = forms[of][random.IntN(len(forms[of]))]
	}
	var text strings.Builder
	for i, c := range []byte(form) {
		part := strings.IndexByte("SNBLM", c)
		if part < 0 || i > 0 && isWordByte(form[i-1]) || i+1 < len(form) && isWordByte(form[i+1]) {
			text.WriteByte(c)
			continue
		}
		text.WriteString(randomExpression(random, kind(part), depth-1))
	}
	if form != text.String() && of == aNumber {
		return "(" + text.String() + ")" // it is an operand in another
	}
	return text.String()
}

func isWordByte(c byte) bool {
	return c == '"' || c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// extends reports whether got is want, or more of it is known: a part that is unknown in want may
// be anything of its type, and marks may be more. This is how the differences that
// comparison.knowsMore allows show inside of expressions.
func extends(got, want cty.Value) bool {
	got, gotMarks := got.Unmark()
	want, wantMarks := want.Unmark()
	for mark := range wantMarks {
		if !gotMarks.Has(mark) {
			return false
		}
	}
	if !want.IsKnown() {
		return want.Type() == cty.DynamicPseudoType || len(got.Type().TestConformance(want.Type())) == 0
	}
	if !got.IsKnown() || got.IsNull() || want.IsNull() || !want.CanIterateElements() {
		return got.RawEquals(want)
	}
	sameKind := got.Type().IsObjectType() == want.Type().IsObjectType() && got.Type().IsTupleType() == want.Type().IsTupleType() &&
		(got.Type().Equals(want.Type()) || got.Type().IsObjectType() || got.Type().IsTupleType())
	if !sameKind || want.Type().IsSetType() || got.LengthInt() != want.LengthInt() {
		return got.RawEquals(want) || sameKind && !want.IsWhollyKnown()
	}
	elements := got.ElementIterator()
	for wantKey, wantElement := range want.Elements() {
		elements.Next()
		if key, element := elements.Element(); !key.RawEquals(wantKey) || !extends(element, wantElement) {
			return false
		}
	}
	return true
}

// Random expressions, with values that are unknown or sensitive as a whole or in part, have the
// values that terraform gives them. A failure names the seed, and -seed repeats it.
func TestRandomExpressionsAgainstTerraform(t *testing.T) {
	needTerraform(t)
	end := time.Now().Add(*durationFlag)
	for seed := *seedFlag; seed == *seedFlag || time.Now().Before(end) && !t.Failed(); seed++ {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // repeatable
		expressions := make([]string, 1500)
		for i := range expressions {
			expressions[i] = randomExpression(random, kind(random.IntN(len(forms))), 1+random.IntN(4))
		}
		failing, exact := 0, 0
		for _, c := range compareWithTerraform(t, expressions) {
			switch {
			case c.isSame() && c.want == cty.NilVal:
				failing++
			case c.isSame():
				exact++
			case c.got == cty.NilVal || c.want == cty.NilVal || !extends(c.got, c.want):
				t.Errorf("seed %d: %s", seed, c)
			}
		}
		t.Logf("seed %d: of %d expressions, %d have equal values, %d fail", seed, len(expressions), exact, failing)
		if exact < len(expressions)/4 {
			t.Errorf("seed %d: only %d expressions have values: this tests little", seed, exact)
		}
	}
}
