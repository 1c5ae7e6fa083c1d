// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// committed are plan files of terraform 1.11.4, for tests that need no engine. "create" plans
// resources of several shapes, "update" changes and replaces some of them.
var committed = []string{"create", "update"}

func committedFile(name string) string { return filepath.Join("testdata", name+".tfplan") }

func TestReadCommitted(t *testing.T) {
	for _, name := range committed {
		t.Run(name, func(t *testing.T) {
			plan, err := ReadFile(committedFile(name), Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(document(t, plan), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", name+".json")
			if *update || os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("ReadFile(%s) (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestReadOutputsKeepTypesAndRefinements(t *testing.T) {
	plan, err := ReadFile(committedFile("create"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]cty.Value{
		"prefixed": cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("p-").NewValue(),
		"list":     cty.ListVal([]cty.Value{cty.StringVal("a")}),
		"tuple":    cty.TupleVal([]cty.Value{cty.StringVal("a")}),
		"set":      cty.SetVal([]cty.Value{cty.StringVal("a")}),
		"length":   cty.UnknownVal(cty.Number).Refine().NotNull().NumberRangeLowerBound(cty.Zero, true).NewValue(),
		"null":     cty.NullVal(cty.DynamicPseudoType),
		"secret":   cty.StringVal("hush"),
		"tenth":    cty.MustParseNumberVal("0.1"),
	}
	for name, value := range want {
		got := plan.Outputs[name]
		if got == nil {
			t.Errorf("output %q is missing", name)
			continue
		}
		if !got.After.RawEquals(value) {
			t.Errorf("output %q is %#v, want %#v", name, got.After, value)
		}
		if got.Sensitive != (name == "secret") {
			t.Errorf("output %q: sensitive is %t", name, got.Sensitive)
		}
	}
	if len(plan.Outputs) != len(want) {
		t.Errorf("%d outputs, want %d", len(plan.Outputs), len(want))
	}
}

// TestReadStates: TestReadDriftedStates shows which of the two is the refreshed one.
func TestReadStates(t *testing.T) {
	plan, err := ReadFile(committedFile("update"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		Version   int
		Lineage   string
		Resources []struct{ Name string }
	}
	var prior, previous state
	if err := errors.Join(json.Unmarshal(plan.PriorState, &prior), json.Unmarshal(plan.PreviousState, &previous)); err != nil {
		t.Fatal(err)
	}
	if prior.Version != 4 || prior.Lineage == "" || previous.Version != 4 || previous.Lineage != "" {
		t.Errorf("PriorState %+v must have a lineage, PreviousState %+v must have none", prior, previous)
	}
	if diff := cmp.Diff(prior.Resources, previous.Resources); diff != "" {
		t.Errorf("nothing was refreshed, but the resources differ:\n%s", diff)
	}
}

func TestReadRefuses(t *testing.T) {
	good := membersOf(t, committedFile("create"))
	whole, err := os.ReadFile(committedFile("create"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(name string, content []byte) []byte {
		members := membersOf(t, committedFile("create"))
		members[name] = content
		if content == nil {
			delete(members, name)
		}
		return zipOf(t, members)
	}
	plus := func(extra []byte) []byte { return with("tfplan", append(good["tfplan"], extra...)) }
	change := func(fields ...any) []byte {
		return message(3, message(13, "a.b", 8, `provider["x/y/z"]`, 9, message(fields...)))
	}
	value := func(msgpack string) []byte { return message(1, msgpack) }

	for name, c := range map[string]struct {
		data []byte
		want string // in the error's text
	}{
		"empty":               {nil, "zip"},
		"text":                {[]byte(`{"format_version":"1.0"}`), "zip"},
		"truncated":           {whole[:len(whole)-40], "zip"},
		"no plan":             {with("tfplan", nil), "tfplan is missing"},
		"no state":            {with("tfstate", nil), "tfstate is missing"},
		"no previous state":   {with("tfstate-prev", nil), "tfstate-prev is missing"},
		"other version":       {plus(message(1, 4)), "format version is 4"},
		"no version":          {with("tfplan", message(14, "1.0.0")), "format version is 0"},
		"truncated message":   {with("tfplan", good["tfplan"][:len(good["tfplan"])-1]), "unexpected EOF"},
		"string for number":   {plus(message(17, "x")), "unexpected kind of field"},
		"number for string":   {plus(message(14, 7)), "unexpected kind of field"},
		"mode":                {plus(message(17, 9)), "unknown plan mode 9"},
		"timestamp":           {plus(message(21, "yesterday")), "timestamp"},
		"action":              {plus(change(1, 4)), "unknown action 4"},
		"too few values":      {plus(change(1, 3, 2, value("\xc0"))), "1 values"},
		"no change":           {plus(message(3, message(13, "a.b", 8, `provider["x/y/z"]`))), "is missing"},
		"address":             {plus(message(3, message(13, "a", 9, message(2, value("\xc0"))))), "invalid address"},
		"provider":            {plus(message(3, message(13, "a.b", 8, "x", 9, message(2, value("\xc0"))))), "invalid provider address"},
		"empty value":         {plus(change(2, value(""))), "no content"},
		"value ends early":    {plus(change(2, value("\x92\x01"))), "ends too early"},
		"value goes on":       {plus(change(2, value("\x01\x01"))), "left over"},
		"huge list":           {plus(change(2, value("\xdd\xff\xff\xff\xff\x01"))), "ends too early"},
		"huge map":            {plus(change(2, value("\xdf\xff\xff\xff\xff\x01\x01"))), "ends too early"},
		"huge string":         {plus(change(2, value("\xdb\xff\xff\xff\xffa"))), "ends too early"},
		"huge extension":      {plus(change(2, value("\xc9\xff\xff\xff\xff\x00"))), "ends too early"},
		"deep value":          {plus(change(2, value(strings.Repeat("\x91", 2000)+"\x01"))), "too deeply"},
		"reserved code":       {plus(change(2, value("\xc1"))), "unexpected msgpack code 0xc1"},
		"key is not a string": {plus(change(2, value("\x81\x01\x01"))), "key of a map"},
		"type is not a type":  {plus(change(2, value("\x92\xc4\x03\"x\"\x01"))), "invalid type"},
		"output, wrong type":  {plus(message(4, message(1, "o", 2, message(2, value("\x92\xc4\x06\"bool\"\x01"))))), `output "o"`},
		"path step":           {plus(change(2, value("\xc0"), 3, message(1, message(7, 1)))), "path step"},
		"check kind":          {plus(message(19, message(1, 9, 2, "check.x"))), "unknown kind 9"},
		"deferred nothing":    {plus(message(27, message(1, message(1, 1)))), "deferred change is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := Read(c.data, Options{})
			var formatErr *FormatError
			if !errors.As(err, &formatErr) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Read = %v, %v; want a *FormatError with %q", plan, err, c.want)
			}
			if name == "other version" && formatErr.Version != 4 {
				t.Errorf("Version = %d, want 4", formatErr.Version)
			}
		})
	}
}

func TestReadFileMissing(t *testing.T) {
	_, err := ReadFile(filepath.Join(t.TempDir(), "none"), Options{})
	if !errors.Is(err, os.ErrNotExist) || errors.As(err, new(*FormatError)) {
		t.Errorf("ReadFile of a missing file: %v", err)
	}
}

// FuzzRead looks for panics and for results that can't be shown.
func FuzzRead(f *testing.F) {
	state := []byte(`{"version":4}`)
	for _, name := range committed {
		f.Add(membersOf(f, committedFile(name))["tfplan"])
	}
	f.Add(message(1, 3, 21, "2026-01-02T03:04:05Z"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		plan, err := Read(zipOf(t, map[string][]byte{"tfplan": msg, "tfstate": state, "tfstate-prev": state}), Options{})
		if err != nil {
			if plan != nil || !errors.As(err, new(*FormatError)) {
				t.Fatalf("Read = %v, %v", plan, err)
			}
			return
		}
		document(t, plan) // fails unless everything has a JSON form
		for name, output := range plan.Outputs {
			if output.Before == cty.NilVal || output.After == cty.NilVal {
				t.Errorf("output %q has no value", name)
			}
		}
	})
}
