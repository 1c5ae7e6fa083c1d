// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/settings"
)

// secret is a value in these tests that no error and no warning may have.
const secret = "hunter2-secret"

// openIn opens the sets that a settings file says, in a directory.
func openIn(t *testing.T, dir, text string, environ ...string) Sets {
	t.Helper()
	write(t, filepath.Join(dir, settings.File), text, 0o600)
	read, diags := settings.Read(dir, map[string]*hcl.File{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	sets, err := Open(read.Varsets, environ, dir)
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// wantError checks an error of a set, which has a text and a place, and no value.
func wantError(t *testing.T, err error, place, want string) {
	t.Helper()
	diags, ok := err.(hcl.Diagnostics)
	if !ok || len(diags) != 1 {
		t.Fatalf("error %v, want one diagnostic: %s", err, want)
	}
	got := diags[0].Summary + "; " + diags[0].Detail
	if !strings.Contains(got, want) {
		t.Errorf("error:\n%s\nwant it to have:\n%s", got, want)
	}
	if strings.Contains(got, secret) || strings.Contains(got, "hunter") {
		t.Errorf("a value is in the error: %s", got)
	}
	at := ""
	if diags[0].Subject != nil {
		at = diags[0].Subject.String()
	}
	if at != place {
		t.Errorf("the error is at %q, want %q: %s", at, place, got)
	}
}

// plain are the values of variables, and which are sensitive.
func plain(values map[string]Value) (plain map[string]string, sensitive []string) {
	plain = map[string]string{}
	for name, value := range values {
		plain[name] = value.Value.GoString()
		if value.Sensitive {
			sensitive = append(sensitive, name)
		}
	}
	return plain, sensitive
}

func TestFiles(t *testing.T) {
	text := func(s string) string { return cty.StringVal(s).GoString() }
	for name, test := range map[string]struct {
		content, settings string
		category          string
		want              map[string]string
		sensitive         []string
	}{
		"x.tfvars": {
			content: "region = \"eu\"\nzones = [\"a\", \"b\"]\nsize = 3\non = true\nnone = null\n", settings: `sensitive = ["region"]`,
			want: map[string]string{
				"region": text("eu"), "zones": cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}).GoString(),
				"size": cty.NumberIntVal(3).GoString(), "on": cty.True.GoString(), "none": cty.NullVal(cty.DynamicPseudoType).GoString(),
			},
			sensitive: []string{"region"},
		},
		"x.json": {
			content: `{"region": "${not.a.template}", "tags": {"a": [1, null]}}`,
			want: map[string]string{
				"region": text("${not.a.template}"),
				"tags": cty.ObjectVal(map[string]cty.Value{
					"a": cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.NullVal(cty.DynamicPseudoType)}),
				}).GoString(),
			},
			settings: "sensitive = false",
		},
		"x.env": {
			content: "# comment\n\nA=1\nexport B = two words # comment\nC='as $it \\n is' # c\nD=\"q \\\"x\\\" \\\\ \\$5\\nnext\n" +
				"line\"\r\nE=\nF=#\nG=a#b\n", category: "env",
			want: map[string]string{
				"A": text("1"),
				"B": text("two words"),
				"C": text(`as $it \n is`),
				"D": text("q \"x\" \\ $5\nnext\nline"),
				"E": text(""),
				"F": text(""),
				"G": text("a#b"),
			},
			settings: "sensitive = false",
		},
		"x.hcl": {
			content: "A = 1\nB = true\n", category: "env", settings: "sensitive = false",
			want: map[string]string{"A": text("1"), "B": text("true")},
		},
		"values": {content: "A=1", settings: "format = \"env\"", want: map[string]string{"A": text("1")}, sensitive: []string{"A"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, name), test.content, 0o600)
			sets := openIn(t, dir, "varset \"a set\" {\nfile = \""+name+"\"\n"+test.settings+"\n}")
			category := "terraform"
			if test.category != "" {
				category = test.category
			}
			got, err := sets.Read(t.Context(), "", "a set", category)
			if err != nil {
				t.Fatal(err)
			}
			values, sensitive := plain(got)
			if diff := cmp.Diff(test.want, values); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.sensitive, sensitive); diff != "" {
				t.Errorf("sensitive (-want +got):\n%s", diff)
			}
			if warnings := Warnings(sets); len(warnings) > 0 {
				t.Errorf("warnings: %v", warnings)
			}
		})
	}
}

func TestUnusableFiles(t *testing.T) {
	for name, test := range map[string]struct{ file, content, settings, category, want string }{
		"no ending":     {"values", "A=" + secret, "", "env", "Unknown format of values; The name of the file values does not say"},
		"hcl":           {"x.hcl", "a = 1\n" + secret + "\n", "", "", "x.hcl: line 2: it is not written as a list of NAME = VALUE"},
		"hcl block":     {"x.hcl", "a \"" + secret + "\" {}\n", "", "", "line 1: it is not written as a list"},
		"hcl reference": {"x.hcl", "a = 1\nb = " + secret + "\n", "", "", `line 2: the value of "b" is not a constant`},
		"hcl loop":      {"x.hcl", "b = [for x in [\"" + secret + "\"] : x]\n", "", "", `line 1: the value of "b" is not a constant`},
		"hcl deep":      {"x.hcl", "a = " + strings.Repeat("[", 500), "", "", "line 1"},
		"json":          {"x.json", "{\"a\": 1,\n \"b\": " + secret + "}", "", "", "line 2: it is not JSON"},
		"json list":     {"x.json", `["` + secret + `"]`, "", "", "it is not a JSON object"},
		"json null":     {"x.json", "null", "", "", "it is not one JSON object"},
		"json twice":    {"x.json", `{} {"a": "` + secret + `"}`, "", "", "it is not one JSON object"},
		"json garbage":  {"x.json", `{} ` + secret, "", "", "it is not one JSON object"},
		"json bracket":  {"x.json", `{}]`, "", "", "it is not one JSON object"},
		"json deep": {
			"x.json",
			`{"a": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}",
			"",
			"",
			`the value of "a": it is nested more than 200 deep`,
		},
		"json digits": {
			"x.json",
			`{"a": ` + strings.Repeat("9", 5000) + "}",
			"",
			"",
			`the value of "a": the number has more than 1000 digits`,
		},
		"json number":        {"x.json", `{"a": 1e999999999}`, "", "", `the value of "a": the number is too large`},
		"dotenv":             {"x.env", "A=1\n\n" + secret, "", "env", "line 3: it is not NAME=VALUE"},
		"dotenv name":        {"x.env", "A B=" + secret, "", "env", "line 1: it is not NAME=VALUE"},
		"dotenv quote":       {"x.env", "A=\"1\n2\"\nB=\"" + secret, "", "env", `line 3: the value of "B" has no closing quote`},
		"dotenv after quote": {"x.env", "A=\"" + secret + "\"x", "", "env", `line 1: the value of "A" goes on after its closing quote`},
		"dotenv twice":       {"x.env", "A=" + secret + "\nA=" + secret, "", "env", `line 2: there is a second value of "A"`},
		"yaml":               {"x.yaml", "a: " + secret, "", "", "YAML is read only if it is encrypted with sops"},
		"not text":           {"x.env", "A=\xff" + secret, "", "env", "it is not text in UTF-8"},
		"large":              {"x.env", "A=" + strings.Repeat("x", maxSize), "", "env", "Variable set too large"},
		"list as variable": {
			"x.json",
			`{"A": ["` + secret + `"]}`,
			"",
			"env",
			`Non-string variable in set; The variable "A" of the set "s" is tuple. Variables of category env are strings.`,
		},
		"sensitive name": {
			"x.json",
			`{"password": "` + secret + `"}`,
			"sensitive = [\"pasword\"]",
			"env",
			`Unknown sensitive variable; The set "s" has no variable "pasword", which sensitive names. Did you mean "password"?`,
		},
		"encrypted by name": {"x.env.age", "A=" + secret, "", "env", "The file x.env.age is not encrypted with age, as its name says."},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, test.file), test.content, 0o600)
			category := test.category
			if category == "" {
				category = "terraform"
			}
			_, err := openIn(t, dir, "varset \"s\" {\nfile = \""+test.file+"\"\n"+test.settings+"\n}").Read(t.Context(), "", "s", category)
			wantError(t, err, "cairn.hcl:1,1-11", test.want)
		})
	}
	sets := openIn(t, t.TempDir(), "varset \"s\" {\nfile = \"nowhere.env\"\n}")
	_, err := sets.Read(t.Context(), "s", "", "env")
	wantError(t, err, "cairn.hcl:1,1-11", `Unreadable variable set; The values of the set "s" are to be in the file nowhere.env: no such file`)
}

func TestUnknownSets(t *testing.T) {
	sets := openIn(t, t.TempDir(), "varset \"network\" {\n  category = \"env\"\n  environment = true\n}")
	_, err := sets.Read(t.Context(), "", "networks", "env")
	wantError(t, err, "", `Unknown variable set; Nothing says where the values of the variable set "networks" are. Did you mean "network"? `+
		`Add a block to cairn.hcl, such as varset "networks" { file = "values.env" }`)
	_, err = sets.Read(t.Context(), "varset-12", "", "terraform")
	wantError(t, err, "", `such as varset "varset-12" { file = "values.tfvars" }`)
	_, err = sets.Read(t.Context(), "", "network", "terraform")
	wantError(t, err, "cairn.hcl:1,1-17",
		`The variables of category "terraform" of the set "network" are needed, and this block is for those of category "env".`)
}

func TestReadableFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.env"), "A="+secret, 0o640)
	const block = "varset \"s\" {\nfile = \"x.env\"\n"
	for text, want := range map[string]int{block + "}": 1, block + "shared = true\n}": 0, block + "sensitive = false\n}": 0} {
		sets := openIn(t, dir, text)
		for _, category := range []string{"env", "env", "terraform"} {
			if _, err := sets.Read(t.Context(), "", "s", category); err != nil {
				t.Fatal(err)
			}
		}
		warnings := Warnings(sets)
		if len(warnings) != want ||
			want == 1 && (warnings[0].Summary != "Secrets readable by others" || warnings[0].Severity != hcl.DiagWarning) {
			t.Errorf("%s: %d warnings, want %d: %v", text, len(warnings), want, warnings)
		}
		if strings.Contains(warnings.Error(), secret) {
			t.Error("the value is in the warning")
		}
	}
}

func TestEnvironment(t *testing.T) {
	environ := []string{"TF_VAR_region=us", "TF_VAR_region=eu", "TF_VAR_=x", "NET_zone=a", "PLAIN=1"}
	for name, test := range map[string]struct {
		settings, category string
		want               map[string]string
	}{
		"variables of terraform": {"true", "terraform", map[string]string{"region": "eu"}},
		"environment":            {"true", "env", map[string]string{"TF_VAR_region": "eu", "TF_VAR_": "x", "NET_zone": "a", "PLAIN": "1"}},
		"prefix":                 {`"NET_"`, "terraform", map[string]string{"zone": "a"}},
		"prefix, environment":    {`"NET_"`, "env", map[string]string{"zone": "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := openIn(t, t.TempDir(), "varset \"s\" { environment = "+test.settings+" }", environ...).Read(t.Context(), "", "s",
				test.category)
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			for name, value := range got {
				texts[name] = value.Value.AsString()
			}
			if diff := cmp.Diff(test.want, texts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	needsShell(t)
	for name, test := range map[string]struct {
		script, settings string
		want             map[string]string
		wantError        string
	}{
		"good": {
			script: `printf '{"name": "%s", "category": "%s", "arg": "%s", "more": ` +
				`"%s"}' "$CAIRN_VARSET_NAME" "$CAIRN_VARSET_CATEGORY" "$1" "$MORE"`,
			want: map[string]string{"name": "s", "category": "env", "arg": "an arg", "more": "of the environment"},
		},
		"not JSON": {script: "echo " + secret, wantError: `output is wrong: line 1: it is not JSON`},
		"fails": {
			script: `echo '{"a": "` + secret + `"}'; echo "cannot use ` + secret + ` here" >&2; exit 3`,
			wantError: "Variable set command failed; The command ./values.sh, which is to print the values of the set s, failed: exit code 3. " +
				"It says:\ncannot use (sensitive value) here",
		},
		"endless": {script: "yes " + secret + " | head -c 3000000", wantError: "Variable set too large"},
		"slow":    {script: "sleep 1000", settings: "timeout = \"1s\"", wantError: "ended after its timeout of 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "values.sh"), "#!/bin/sh\n"+test.script+"\n", 0o700)
			sets := openIn(t, dir, "varset \"s\" {\ncommand = [\"./values.sh\", \"an arg\"]\n"+test.settings+"\n}",
				"PATH="+os.Getenv("PATH"), "MORE=of the environment")
			got, err := sets.Read(t.Context(), "", "s", "env")
			if test.wantError != "" {
				wantError(t, err, "cairn.hcl:1,1-11", test.wantError)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			for name, value := range got {
				texts[name] = value.Value.AsString()
			}
			if diff := cmp.Diff(test.want, texts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A command runs once for all callers, and not before the first (rule V1).
func TestReadOnce(t *testing.T) {
	needsShell(t)
	dir := t.TempDir()
	count := filepath.Join(dir, "count")
	write(t, filepath.Join(dir, "values.sh"), "#!/bin/sh\necho run >> count\necho '{\"a\": 1}'\n", 0o700)
	sets := openIn(t, dir, `varset "s" { command = ["./values.sh"] }`, "PATH="+os.Getenv("PATH"))
	if _, err := os.Stat(count); err == nil {
		t.Error("the command runs before the set is asked for")
	}
	for range 3 {
		if got, err := sets.Read(t.Context(), "", "s", "terraform"); err != nil ||
			len(got) != 1 || !got["a"].Sensitive || !got["a"].Value.RawEquals(cty.NumberIntVal(1)) {
			t.Errorf("Read() = %v, %v", got, err)
		}
	}
	if ran, err := os.ReadFile(count); err != nil || string(ran) != "run\n" {
		t.Errorf("runs: %q, %v, want one", ran, err)
	}
}

func TestInterrupt(t *testing.T) {
	needsShell(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "values.sh"), "#!/bin/sh\necho > started\nsleep 1000\n", 0o700)
	ctx, cancel := context.WithCancel(t.Context())
	sets := openIn(t, dir, `varset "s" { command = ["./values.sh"] }`, "PATH="+os.Getenv("PATH"))
	go func() { // ends with the test at the latest
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // between two looks
		}
	}()
	_, err := sets.Read(ctx, "", "s", "env")
	cancel()
	wantError(t, err, "cairn.hcl:1,1-11", "Operation interrupted; The command ./values.sh")
}
