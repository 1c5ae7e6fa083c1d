// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"strconv"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// The values of any file are known and have no marks, those of dotenv files are strings that can be
// written and read again, and an error has no text that stands between quotes (rule V2).
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = 1\nb = [\"x\", { c = null }]\n", `{"a": 1e5, "b": ["${x}", {"c": null}]}`, "# c\nexport A=1\nB='x y' # z\nC=\"a\\nb\"\n",
		"a = upper(\"x\")\n", "{\"a\": }", "A=\"", "a = <<EOT\nx\nEOT\n", "\ufeffA=1", "{} {}", "a = \"${b}\"\n",
	} {
		for _, written := range []format{formatHCL, formatJSON, formatEnv, formatYAML} {
			f.Add(string(written), seed)
		}
	}
	f.Fuzz(func(t *testing.T, written, content string) {
		values, err := parse([]byte(content), format(written))
		if err != nil {
			const planted = "pl4nted-s3cret"
			if _, err := parse([]byte(strings.ReplaceAll(content, `x`, planted)), format(written)); err != nil &&
				strings.Contains(err.Error(), planted) &&
				!strings.Contains(err.Error(), "the value of") && !strings.Contains(err.Error(), "a second value of") { // which name a variable
				t.Errorf("the error quotes the file: %s", err)
			}
			return
		}
		for name, value := range values {
			if !value.IsWhollyKnown() || value.ContainsMarked() {
				t.Errorf("%s: %#v, want a known value without marks", name, value)
			}
			if format(written) != formatEnv {
				continue
			}
			again, err := parse([]byte(name+"="+quoted(value.AsString())+"\n"), formatEnv)
			if err != nil || len(again) != 1 || !again[name].RawEquals(value) {
				t.Errorf("%s: %#v, written and read again %#v, %v", name, value, again, err)
			}
		}
	})
}

// quoted writes a text so that it can be read from a dotenv file.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func TestParseNames(t *testing.T) {
	values, err := parse([]byte("A1_b.c=1\n"), formatEnv)
	if err != nil || !values["A1_b.c"].RawEquals(cty.StringVal("1")) {
		t.Errorf("parse() = %#v, %v", values, err)
	}
	for i, name := range []string{"1A", "A-B", "", "Ä"} {
		if _, err := parse([]byte(name+"="+strconv.Itoa(i)), formatEnv); err == nil {
			t.Errorf("%q is taken for the name of a variable", name)
		}
	}
}
