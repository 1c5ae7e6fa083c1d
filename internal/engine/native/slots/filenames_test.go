// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package slots

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestNamesFiles(t *testing.T) {
	object := func(name string, value cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{name: value}) }
	text := func(name, text string) cty.Value { return object(name, cty.StringVal(text)) }
	exists := func(name string) bool { return name == "there" }
	for name, test := range map[string]struct {
		value cty.Value
		want  bool
	}{
		"no text":                      {object("length", cty.NumberIntVal(2)), false},
		"instance type":                {text("instance_type", "t3.micro"), false},
		"domain":                       {text("name", "www.example.com"), false},
		"region":                       {text("region", "eu-west-1"), false},
		"profile":                      {text("profile", "default"), false},
		"port of a source":             {text("source_port", "80"), false},
		"url":                          {text("chart", "oci://example.com/chart"), false},
		"absolute":                     {text("filename", "/srv/out.txt"), false},
		"path of a service":            {text("path", "/"), false},
		"step":                         {text("value", "./out"), true},
		"step upwards":                 {text("value", "../out"), true},
		"step in a longer text":        {text("value", `{"source":"./src"}`), true},
		"called package":               {text("value", ".terraform/modules/a/x"), true},
		"directory itself":             {text("value", "."), true},
		"extension":                    {text("value", "code.zip"), true},
		"something there":              {text("value", "there"), true},
		"something below it":           {text("value", "there/x"), true},
		"argument of a file":           {text("filename", "out"), true},
		"argument of a directory":      {text("working_dir", "sub"), true},
		"source":                       {text("source", "object"), true},
		"chart":                        {text("chart", "app"), true},
		"program, whatever it is":      {object("program", cty.ListVal([]cty.Value{cty.StringVal("/bin/true")})), true},
		"content of a template":        {text("template", "a\nb"), false},
		"unknown":                      {object("filename", cty.UnknownVal(cty.String)), false},
		"sensitive":                    {object("value", cty.StringVal("./x").Mark("secret")), true},
		"deep":                         {object("block", cty.ListVal([]cty.Value{text("binary_path", "x")})), true},
		"no value":                     {cty.NilVal, false},
		"ellipsis":                     {text("description", "and so on..."), false},
		"sentence that ends with file": {text("description", "see the file"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := namesFiles(test.value, exists); got != test.want {
				t.Errorf("namesFiles is %t", got)
			}
		})
	}
}

func TestMentionsFiles(t *testing.T) {
	for source, want := range map[string]bool{
		"module \"a\" {\n  source = \"./a\"\n}\n":           false,
		"resource \"a\" \"b\" {\n  length = 2\n}\n":         false,
		"output \"x\" { value = file(\"${path.module}/x\")": true,
		"  filename = var.x\n":                              true,
		"  value = \"./x\"\n":                               true,
		"  \"output_path\": \"x\",\n":                       true,
		"  provisioner \"local-exec\" {\n":                  true,
		"locals { x = abspath(\"x\") }":                     true,
		"locals { x = provider::local::direxists(var.x) }":  true,
	} {
		if got := MentionsFiles([]byte(source)); got != want {
			t.Errorf("MentionsFiles(%q) is %t", source, got)
		}
	}
}
