// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// The results of functions of small arguments do not take all memory.
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
		`tonumber("1e1000000")`:       tooManyDigits,
		`tostring(1e10000 * 1e10000)`: tooManyDigits,
		`abs("1e10000000")`:           tooManyDigits,
		`sum(["1e10000000", 1])`:      tooManyDigits,
		`max(1, "1e10000000")`:        tooManyDigits,
		`jsondecode("[1e10000000]")`:  tooManyDigits,
		`yamldecode("1e10000000")`:    tooManyDigits,
		`range("1e10000000")`:         tooManyDigits,

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

// Only regular files are opened: others may never end, wait forever, or be somebody else's.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	scope := &hcl.EvalContext{Functions: Functions(Options{BaseDir: dir})}
	for _, path := range []string{"pipe", "/dev/zero", "/dev/stdin", "/dev/fd/0", "/dev/tty", "."} {
		for _, call := range []string{
			"file(%)", "filebase64(%)", "filemd5(%)", "filesha1(%)", "filesha256(%)", "filesha512(%)",
			"filebase64sha256(%)", "filebase64sha512(%)", "templatefile(%, {})", "fileexists(%)",
		} {
			source := strings.ReplaceAll(call, "%", `"`+path+`"`)
			if value, diags := parseExpression(t, source).Value(scope); !diags.HasErrors() && !value.RawEquals(cty.False) {
				t.Errorf("%s has a value", source)
			}
		}
	}
	for source, want := range map[string]string{
		`file("large")`:             `"large" has more than 64 MiB`,
		`filebase64("large")`:       `"large" has more than 64 MiB`,
		`templatefile("large", {})`: `"large" has more than 64 MiB`,
		`file("/dev/zero")`:         `cannot read "/dev/zero": it is not an ordinary file`,
		`filesha256("large")`:       "",
	} {
		if _, diags := parseExpression(t, source).Value(scope); diags.HasErrors() != (want != "") ||
			want != "" && !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%s: got %v, want %q", source, diags, want)
		}
	}
}

// Files outside of the directories to stay in are not looked at, by whatever name, and their
// content is unknown.
func TestFilesWithin(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(top, "inside")
	for name, content := range map[string]string{"inside/a.txt": "a", "inside/a.tftpl": "${x}", "outside/b.txt": "b"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "outside", "b.txt"), filepath.Join(inside, "link.txt")); err != nil {
		t.Fatal(err)
	}
	scope := &hcl.EvalContext{Functions: Functions(Options{BaseDir: inside, Within: []string{inside}})}
	text := cty.UnknownVal(cty.String).RefineNotNull()
	for source, want := range map[string]cty.Value{
		`file("a.txt")`:                        cty.StringVal("a"),
		`templatefile("a.tftpl", { x = 1 })`:   cty.NumberIntVal(1),
		`fileset(".", "*.txt")`:                cty.SetVal([]cty.Value{cty.StringVal("a.txt"), cty.StringVal("link.txt")}),
		`fileexists("missing")`:                cty.False,
		`file("../outside/b.txt")`:             text,
		`file("../outside/missing")`:           text,
		`file("link.txt")`:                     text,
		`filesha256("/etc/passwd")`:            text,
		`file("/dev/zero")`:                    text,
		`templatefile("../outside/b.txt", {})`: cty.DynamicVal,
		`fileexists("../outside/b.txt")`:       cty.UnknownVal(cty.Bool).RefineNotNull(),
		`fileset("..", "*/*")`:                 cty.UnknownVal(cty.Set(cty.String)).RefineNotNull(),
		`fileset(".", "../outside/*")`:         cty.UnknownVal(cty.Set(cty.String)).RefineNotNull(),
	} {
		if got := evaluateValue(t, scope, source); !got.RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", source, got, want)
		}
	}
}

// Links that lead back make a tree without end, and a search through the whole machine takes as
// long.
func TestSearchIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := (&search{left: 10}).files(dir, ".", "**")
	if want := cty.SetVal([]cty.Value{cty.StringVal("a.txt")}); err != nil || !names.RawEquals(want) {
		t.Errorf("got %#v and %v", names, err)
	}
	for _, name := range []string{"here", "again"} {
		if err := os.Symlink(".", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	search := &search{left: 1000}
	if _, err := search.files(dir, ".", "**"); !errors.Is(err, errTooManyFiles) {
		t.Errorf("got %v", err)
	}
}
