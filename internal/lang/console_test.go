// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite testdata/functions.txt and testdata/expressions.txt from what terraform does")

// The functions and the texts of the corpus are those of this series of versions.
const terraformSeries = "1.11."

// needTerraform skips the test where there is no terraform of the series, and fails it on CI.
func needTerraform(t *testing.T) {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	path := testenv.Terraform(t)
	version := struct {
		Version string `json:"terraform_version"`
	}{}
	output, err := terraform(t, t.TempDir(), "", "version", "-json")
	if err != nil {
		t.Fatalf("%s version: %s", path, err)
	}
	if err := json.Unmarshal(output, &version); err != nil {
		t.Fatalf("%s version: %s", path, err)
	}
	if !strings.HasPrefix(version.Version, terraformSeries) {
		missing("needs terraform %sx on PATH, but %s is %s", terraformSeries, path, version.Version)
	}
}

func terraform(t *testing.T, dir, stdin string, args ...string) ([]byte, error) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "terraform.rc")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "terraform", args...)
	command.Dir = dir
	command.Stdin = strings.NewReader(stdin)
	command.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+config, "CHECKPOINT_DISABLE=1", "NO_COLOR=1", "HOME="+filepath.Join(dir, "home"))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("terraform %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.Bytes(), nil
}

// The console takes lines of at most 64 KiB and, when its input is a pipe, prints only the result
// of the last. So many expressions are made into one object.
const consoleLine = 48 << 10

// A question is a request to the console about an object of expressions, with the form of the
// answer.
type question struct {
	wrapper   string         // of the object
	attribute *regexp.Regexp // the part before the text of an attribute
	indent    string         // of an attribute
	separator string         // after an attribute
}

var (
	askValues = question{wrapper: "%s", attribute: regexp.MustCompile(`^  "r\d{5}" = `), indent: "  "}
	askTypes  = question{wrapper: "type(%s)", attribute: regexp.MustCompile(`^    r\d{5}: `), indent: "    ", separator: ","}
)

// askConsole returns the answers of the console for each expression.
func askConsole(t *testing.T, dir string, q question, expressions []string) []string {
	t.Helper()
	var answers []string
	for len(expressions) > 0 {
		var object strings.Builder
		count := 0
		for count < len(expressions) && (count == 0 || object.Len()+len(expressions[count]) < consoleLine) {
			fmt.Fprintf(&object, "r%05d = %s, ", count, expressions[count])
			count++
		}
		output, err := terraform(t, dir, fmt.Sprintf(q.wrapper, "{ "+object.String()+"}")+"\n", "console")
		if err != nil {
			t.Fatal(err)
		}
		texts := q.splitAttributes(string(output))
		if len(texts) != count {
			t.Fatalf("the console printed %d results for %d expressions:\n%s", len(texts), count, output)
		}
		answers = append(answers, texts...)
		expressions = expressions[count:]
	}
	return answers
}

// splitAttributes cuts the text of an object into those of its attributes, without the indentation
// they have as parts of the object. The first and the last line are the braces.
func (q question) splitAttributes(object string) []string {
	var texts []string
	lines := strings.Split(strings.TrimRight(object, "\n"), "\n")
	for _, line := range lines[1 : len(lines)-1] {
		if start := q.attribute.FindString(line); start != "" {
			texts = append(texts, line[len(start):])
		} else if len(texts) > 0 {
			texts[len(texts)-1] += "\n" + strings.TrimPrefix(line, q.indent)
		}
	}
	for i := range texts {
		texts[i] = strings.TrimSuffix(texts[i], q.separator)
	}
	return texts
}

// consoleOutcomes has terraform evaluate the expressions, in three passes: which of them fail, and
// the values and the types of the others.
func consoleOutcomes(t *testing.T, dir string, expressions []string) []outcome {
	t.Helper()
	outcomes := make([]outcome, len(expressions))
	tests := make([]string, len(expressions))
	for i, expr := range expressions {
		tests[i] = "can(" + expr + ")"
	}
	var sound []string
	var positions []int
	for i, answer := range askConsole(t, dir, askValues, tests) {
		if outcomes[i].fails = answer == "false"; !outcomes[i].fails {
			sound = append(sound, expressions[i])
			positions = append(positions, i)
		}
	}
	values := askConsole(t, dir, askValues, sound)
	types := askConsole(t, dir, askTypes, sound)
	for i, position := range positions {
		outcomes[position].value, outcomes[position].typ = values[i], types[i]
	}
	return outcomes
}

// The outcomes in the corpus are those of terraform.
func TestCorpusAgainstTerraform(t *testing.T) {
	needTerraform(t)
	for _, corpusFile := range []string{functionsFile, expressionsFile} {
		entries := readCorpus(t, corpusFile)
		dir := newCorpusDir(t)
		actual := askTerraform(t, dir, entries)
		for i, entry := range entries {
			if got := actual[i]; !*update && got.String() != entry.outcome.String() {
				t.Errorf("%s:%d: %s\nterraform says:\n%sthe corpus says:\n%s", corpusFile, entry.line, entry.expr, got, entry.outcome)
			}
		}
		if *update {
			writeCorpus(t, corpusFile, actual)
		}
	}
}

// askTerraform returns the entries with the outcomes of terraform.
func askTerraform(t *testing.T, dir string, entries []corpusEntry) []corpusEntry {
	t.Helper()
	expressions := make([]string, len(entries))
	for i, entry := range entries {
		expressions[i] = entry.expr
	}
	actual := slices.Clone(entries)
	for i, got := range consoleOutcomes(t, dir, expressions) {
		actual[i].outcome = got
	}
	addPlanTexts(t, dir, actual)
	for i := range actual {
		actual[i].outcome = withoutDir(actual[i].outcome, dir)
	}
	return actual
}

// Our table has the functions that terraform lists, and those that newer versions have besides.
// Terraform lists the "core::" names as well.
func TestFunctionNamesAgainstTerraform(t *testing.T) {
	needTerraform(t)
	output, err := terraform(t, t.TempDir(), "", "metadata", "functions", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Signatures map[string]any `json:"function_signatures"`
	}
	if err := json.Unmarshal(output, &listed); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Collect(maps.Keys(listed.Signatures)), "convert", corePrefix+"convert")
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(Functions(Options{})))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names of functions (-terraform +ours):\n%s", diff)
	}
}
