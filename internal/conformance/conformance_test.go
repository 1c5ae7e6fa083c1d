// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/problem"
)

// The reference of the language says where each of its numbered behaviours belongs.
func TestLanguageReferenceHasAllRows(t *testing.T) {
	text, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]bool)
	for _, bold := range regexp.MustCompile(`\*\*([0-9][0-9, –]*)\*\*`).FindAllSubmatch(text, -1) {
		for numbers := range strings.SplitSeq(string(bold[1]), ", ") {
			first, last, isRange := strings.Cut(numbers, "–")
			if !isRange {
				last = first
			}
			for _, row := range rowsMeantBy(language.rows(), first+"-"+last) {
				said[row.id] = true
			}
		}
	}
	for _, row := range language.rows() {
		if !said[row.id] {
			t.Errorf("docs/language.md has no row %s: %s", row.id, row.title)
		}
	}
}

func TestRowsOf(t *testing.T) {
	for test, want := range map[string]string{
		"TestRow055BuiltInData":                     "055",
		"TestRow055BuiltInData/any_subtest":         "055",
		"TestRow041And042Cycles":                    "041 042",
		"TestRowsValidation/078_number_in_range":    "078",
		"TestRowsValidation/078_number/123_further": "078",
		"TestRowsValidation/078":                    "078",
		"TestRowsValidation":                        "",
		"TestRowsValidation/other_078":              "",
		"TestRowsValidation/0780":                   "",
		"TestRowsOf":                                "",
		"TestOther055":                              "",
	} {
		if got := strings.Join(language.rowsOf(test), " "); got != want {
			t.Errorf("language, %q: %s, want %s", test, got, want)
		}
	}
	for test, want := range map[string]string{
		"TestOrderA16":                             "A-16",
		"TestOrderA16/any_subtest":                 "A-16",
		"TestOrderB60B61Gates":                     "B-60 B-61",
		"TestOrderA":                               "",
		"TestOrderA/A-03_repeated":                 "A-03",
		"TestOrderB60B61Gates/B-61":                "B-61",
		"TestOrderB/B-01_B-06_nothing":             "B-01 B-06",
		"TestOrderC/C-01_and_C-07_high_data":       "C-01 C-07",
		"TestOrderC/C-011":                         "",
		"TestOrderC/other_C-01":                    "",
		"TestOrderCTruthTable/C-onfail_all/failed": "C-onfail_all",
		"TestOrderX01/tag":                         "X-01",
		"TestScripts/order_errors_bad_path":        "order/bad-path",
		"TestScripts/order_list":                   "",
		"TestOther/A-03":                           "",
	} {
		if got := strings.Join(ordering.rowsOf(test), " "); got != want {
			t.Errorf("ordering, %q: %s, want %s", test, got, want)
		}
	}
}

func TestRowsOfRPC(t *testing.T) {
	for test, want := range map[string]string{
		"TestRPCSetup/S-03_second_handshake": "S-03",
		"TestRPCSetup/S-03":                  "S-03",
		"TestRPCSetup/S-03/more":             "S-03",
		"TestRPCSetup/S-033":                 "",
		"TestRPCSetup":                       "",
		"TestOther/S-03":                     "",
	} {
		if got := strings.Join(rpc.rowsOf(test), " "); got != want {
			t.Errorf("rpc, %q: %s, want %s", test, got, want)
		}
	}
}

func TestRowsOfModules(t *testing.T) {
	for test, want := range map[string]string{
		"TestDifferential/161-replace-chain":         "161",
		"TestDifferential/001-002-files":             "001 002",
		"TestDifferential/1610-other":                "",
		"TestDifferential":                           "",
		"TestPlannedUnknownAgreesWithTerraform":      "115",
		"TestPlannedUnknownAgreesWithTerraform/some": "",
	} {
		if got := strings.Join(modules.rowsOf(test), " "); got != want {
			t.Errorf("modules, %q: %s, want %s", test, got, want)
		}
	}
	if rows := modules.rows(); len(rows) != 211 || rows[210].id != "211" {
		t.Errorf("%d rows, want 211", len(rows))
	}
}

// The patterns for go test let through the tests of the rows.
func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		list            *list
		row, name, want string
	}{
		{language, "055", "TestRow055BuiltInData", "yes"},
		{language, "055", "TestRow041And055Cycles", "yes"},
		{language, "055", "TestRowsValidation", "yes"},
		{language, "055", "TestRow056Other", "no"},
		{ordering, "B-61", "TestOrderB60B61Gates", "yes"},
		{ordering, "B-61", "TestOrderBSteps", "yes"},
		{ordering, "C-use", "TestOrderCTruthTable", "yes"},
		{ordering, "B-61", "TestOrderB59", "no"},
	} {
		rows, err := selectRows(test.list.rows(), []string{test.row})
		if err != nil {
			t.Fatal(err)
		}
		pattern := test.list.pattern(rows)
		if got := regexp.MustCompile(pattern).MatchString(test.name); got != (test.want == "yes") {
			t.Errorf("row %s: %s lets %s through: %t, want %s", test.row, pattern, test.name, got, test.want)
		}
	}
	rows, err := selectRows(ordering.rows(), []string{"order/bad-path", "order/self"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ordering.pattern(rows), "|^TestScripts$/^(order_errors_bad_path|order_errors_self)$"; !strings.HasSuffix(got, want) {
		t.Errorf("pattern %s, want %s at its end", got, want)
	}
}

func TestLanguageRowsAreNumberedInOrder(t *testing.T) {
	rows := language.rows()
	if len(rows) != 282 {
		t.Fatalf("%d rows, want 282", len(rows))
	}
	for i, r := range rows {
		if r.id != fmt.Sprintf("%03d", i+1) || r.section == "" || r.title == "" {
			t.Errorf("row %d is %+v", i+1, r)
		}
	}
}

// The list of behaviours of ordering has gaps; here they are.
func TestOrderingRowsAreComplete(t *testing.T) {
	var want []string
	for _, part := range []struct {
		letter      string
		first, last int
	}{
		{"O", 1, 8},
		{"A", 1, 21},
		{"A", 30, 61},
		{"B", 1, 25},
		{"B", 30, 31},
		{"B", 40, 61},
		{"B", 70, 75},
		{"B", 80, 86},
		{"C", 1, 17},
		{"C", 20, 43},
	} {
		for n := part.first; n <= part.last; n++ {
			want = append(want, fmt.Sprintf("%s-%02d", part.letter, n))
		}
	}
	for _, kind := range strings.Fields("require require_any watch watch_any listen onchanges onchanges_any onfail onfail_all prereq use") {
		want = append(want, "C-"+kind)
	}
	for n := 1; n <= 16; n++ {
		want = append(want, fmt.Sprintf("D-%02d", n))
	}
	for n := 1; n <= 11; n++ {
		want = append(want, fmt.Sprintf("X-%02d", n))
	}
	for _, code := range []problem.Code{
		problem.Cycle, problem.Conflict, problem.Self, problem.UnknownRef, problem.BadPath, problem.BadTagQuery,
		problem.MultipleOwners, problem.NoOwner, problem.DuplicateID, problem.BadStage, problem.BadNumber, problem.NotASet,
		problem.Syntax, problem.UnknownKey, problem.BadValue, problem.Version,
	} {
		want = append(want, string(code))
	}
	var got []string
	for _, r := range ordering.rows() {
		got = append(got, r.id)
		if r.section == "" || r.title == "" {
			t.Errorf("row %+v", r)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Each row has a test by its name, and each test has a row.
func TestEveryRowHasATest(t *testing.T) {
	const root = "../.."
	for _, l := range lists {
		t.Run(l.name, func(t *testing.T) {
			rows := l.rows()
			exceptions, err := readExceptions(filepath.Join(root, "docs", "differences.md"), l.exceptions, rows)
			if err != nil {
				t.Fatal(err)
			}
			tested, err := l.tested(root)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if _, excepted := exceptions[r.id]; tested[r.id] == excepted {
					t.Errorf("row %s: has a test: %t, has a reason why not: %t", r.id, tested[r.id], excepted)
				}
				delete(tested, r.id)
			}
			for id := range tested {
				t.Errorf("there is a test, but no row %s", id)
			}
		})
	}
}

// tested returns the rows that names of functions, names of scripts, and strings in the sources of
// tests stand for. Strings may be names of subtests.
func (l *list) tested(root string) (map[string]bool, error) {
	tested := map[string]bool{}
	add := func(test string) {
		for _, id := range l.rowsOf(test) {
			tested[id] = true
		}
	}
	names, err := filepath.Glob(filepath.Join(root, "testdata", "script", "*.txtar"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		add(scripts + "/" + strings.TrimSuffix(filepath.Base(name), ".txtar"))
	}
	archives, err := filepath.Glob(filepath.Join(root, "internal", "engine", "differential", "testdata", "*.txtar"))
	if err != nil {
		return nil, err
	}
	for _, name := range archives {
		add("TestDifferential/" + strings.TrimSuffix(filepath.Base(name), ".txtar"))
	}
	for _, elsewhere := range l.elsewhere {
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(elsewhere))); err != nil {
			return nil, err
		}
	}
	prefix := strings.TrimPrefix(l.source, "\nfunc ") + "s/"
	return tested, l.eachSource(root, func(path string, source []byte) error {
		if strings.HasPrefix(filepath.ToSlash(path), root+"/internal/conformance/") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				add(node.Name.Name)
			case *ast.BasicLit:
				if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
					add(prefix + strings.ReplaceAll(text, " ", "_"))
				}
			}
			return true
		})
		return nil
	})
}

func TestSelectRows(t *testing.T) {
	for text, want := range map[string]string{
		"3": "003", "280-282": "280 281 282", "55": "055", "055-56": "055 056",
		"A-05": "A-05", "A-5": "A-05", "A-05-A-08": "A-05 A-06 A-07 A-08", "A-20-A-30": "A-20 A-21 A-30", "X-9-X-11": "X-09 X-10 X-11",
		"C-watch-C-listen": "C-watch C-watch_any C-listen", "order/self": "order/self",

		"order/self-order/bad-path": "order/self order/unknown-ref order/bad-path",

		"D": "D-01 D-02 D-03 D-04 D-05 D-06 D-07 D-08 D-09 D-10 D-11 D-12 D-13 D-14 D-15 D-16",
		"x": "", "0": "", "5-3": "", "283": "", "-": "", "": "", "A-22": "", "A-8-A-5": "", "orde": "",
	} {
		var ids []string
		rows, err := selectRows(append(language.rows(), ordering.rows()...), []string{text})
		for _, r := range rows {
			ids = append(ids, r.id)
		}
		if got := strings.Join(ids, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, error %v, want %s", text, got, err, want)
		}
	}
}

func TestReadExceptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	for document, want := range map[string]map[string]string{
		"| 1 | elsewhere |\n" + language.exceptions + "\n| row | reason |\n| --- | --- |\n| 10, 147–149 | no policies |\n\n" +
			"## Next\n| 2 | x |\n": {
			"010": "no policies", "147": "no policies", "148": "no policies", "149": "no policies",
		},
		"nothing about it\n": {},
	} {
		if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readExceptions(path, language.exceptions, language.rows())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s, error %v", diff, err)
		}
	}
	wrong := language.exceptions + "\n| row | reason |\n| --- | --- |\n| 283 | no such row |\n"
	if err := os.WriteFile(path, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readExceptions(path, language.exceptions, language.rows()); err == nil {
		t.Error("a row that does not exist is excepted")
	}
}

func TestTable(t *testing.T) {
	rows := []row{{"001", "s", "one"}, {"002", "s", "two"}, {"003", "s", "three"}}
	var b strings.Builder
	good := results{"001": {{"p", "TestRow001", "pass", nil}}, "002": {{"p", "TestRow002", "pass", nil}}}
	if !printTable(&b, rows, good, map[string]string{"003": "why"}, false) {
		t.Errorf("passed and excepted rows are not enough:\n%s", &b)
	}
	for name, bad := range map[string]results{
		"failed":    {"001": good["001"], "002": {{"p", "TestRow002/a", "pass", nil}, {"p", "TestRow002/b", "fail", nil}}},
		"skipped":   {"001": good["001"], "002": {{"p", "TestRow002", "skip", nil}}},
		"untested":  {"001": good["001"]},
		"of no row": {"001": good["001"], "002": good["002"], ofNoRow: {{"p", "TestRows", "fail", nil}}},
		"surprise":  {"001": good["001"], "002": good["002"], "003": {{"p", "TestRow003", "pass", nil}}},
	} {
		if printTable(&b, rows, bad, map[string]string{"003": "why"}, false) {
			t.Errorf("%s: the table is taken for good", name)
		}
	}
}

// A function fails with its subtests, and the rows in its name are theirs then. One that fails by
// itself is shown, too.
func TestByRow(t *testing.T) {
	found := ordering.byRow([]outcome{
		{"p", "TestOrderA/A-03_x", "fail", nil},
		{"p", "TestOrderA/A-04", "pass", nil},
		{"p", "TestOrderA", "fail", nil},
		{"p", "TestOrderCRun/C-42", "pass", nil},
		{"p", "TestOrderCRun/other", "fail", nil},
		{"p", "TestOrderCRun", "fail", nil},
		{"q", "TestOrderA", "fail", nil},
		{"q", "TestOrderB24/x/y", "fail", nil},
		{"q", "TestOrderB24/x", "fail", nil},
		{"q", "TestOrderB24", "fail", nil},
	})
	var got []string
	for _, id := range []string{"A-03", "A-04", "C-42", "B-24", ofNoRow} {
		for _, o := range found[id] {
			got = append(got, strings.TrimSpace(id+" "+o.pkg+" "+o.test+" "+o.result))
		}
	}
	want := []string{
		"A-03 p TestOrderA/A-03_x fail", "A-04 p TestOrderA/A-04 pass", "C-42 p TestOrderCRun/C-42 pass",
		"B-24 q TestOrderB24/x/y fail", "B-24 q TestOrderB24/x fail", "B-24 q TestOrderB24 fail",
		"p TestOrderCRun/other fail", "q TestOrderA fail",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestReadOutcomes(t *testing.T) {
	outcomes, unfinished, err := readOutcomes(strings.NewReader(`
{"Action":"output","Package":"p","Test":"TestRow001","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"TestRow001"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"q","Output":"panic\n"}
{"Action":"fail","Package":"q"}
`))
	if err != nil || len(outcomes) != 1 || outcomes[0].output[0] != "why\n" {
		t.Errorf("outcomes = %v, %v", outcomes, err)
	}
	if !slices.Equal(unfinished, []string{"panic\n"}) {
		t.Errorf("unfinished = %q", unfinished)
	}
	if _, _, err := readOutcomes(strings.NewReader("{")); err == nil {
		t.Error("no error for output that was cut off")
	}
}
