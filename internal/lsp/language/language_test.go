// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"golang.org/x/tools/txtar"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// world is the surroundings of the tests' stacks.
const world = `
-- modules/net/main.tf --
variable "cidr" {
  type        = string
  description = "The range of addresses."
}
variable "zones" {
  type    = list(string)
  default = []
}
variable "options" {
  type = object({ dns = bool, tags = optional(map(string)) })
}
output "id" {
  description = "The id of the network."
  value       = "net-${var.cidr}"
}
output "zones" {
  value = var.zones
}
output "thing" {
  value = terraform_data.x.output
}
resource "terraform_data" "x" {}
-- modules/db/main.tf --
variable "net" {}
terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws.other]
    }
  }
}
-- child/main.tfcomponent.hcl --
variable "size" {
  type        = number
  description = "How many."
}
variable "name" {
  type    = string
  default = "x"
}
component "inner" {
  source = "../modules/net"
  inputs = { cidr = var.name, options = { dns = true } }
}
output "url" {
  type        = string
  value       = component.inner.id
  description = "Where it is."
}
-- stack/other.tfcomponent.hcl --
required_providers {
  aws = {
    source  = "hashicorp/aws"
    version = "~> 5.0"
  }
}
provider "aws" "main" {
  config {
    region = var.region
  }
}
variable "region" {
  type        = string
  description = "Where everything is."
}
variable "settings" {
  type = object({ replicas = number, labels = map(string) })
}
locals {
  prefix = "a-${var.region}"
  ids    = component.net.id
}
component "net" {
  source = "../modules/net"
  inputs = {
    cidr    = local.prefix
    options = { dns = true }
  }
}
component "many" {
  source   = "../modules/net"
  for_each = toset(["a", "b"])
  inputs = {
    cidr    = each.key
    options = { dns = false }
  }
}
stack "child" {
  source = "../child"
  inputs = { size = 2 }
}
`

const (
	mainFile  = "stack/main.tfcomponent.hcl"
	otherFile = "stack/other.tfcomponent.hcl"
	childFile = "child/main.tfcomponent.hcl"
)

// session is a stack of the tests.
type session struct {
	*language.Stack
	t   *testing.T
	dir string
}

// openWorld opens the stack of the tests with a text in its main file.
func openWorld(t *testing.T, main string) session {
	t.Helper()
	return open(t, world+"-- "+mainFile+" --\n"+main, "stack")
}

func open(t *testing.T, archive, root string) session {
	t.Helper()
	dir := writeArchive(t, archive)
	return session{language.New(viewOf(t, filepath.Join(dir, root))), t, dir}
}

// writeArchive writes files into a directory. The one with the cursor does not end with a line end,
// which the format of archives adds.
func writeArchive(t testing.TB, archive string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		data := string(f.Data)
		if f.Name == mainFile {
			data = strings.TrimSuffix(data, "\n")
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// viewOf returns a view of the stack in a directory.
func viewOf(t testing.TB, root string) language.View {
	t.Helper()
	config, _ := stackconfig.Load(root)
	if config == nil {
		t.Fatal("there is no stack")
	}
	view := language.View{
		Config: config,
		Functions: map[string]function.Function{
			"upper": stdlib.UpperFunc, "length": stdlib.LengthFunc, "join": stdlib.JoinFunc, "merge": stdlib.MergeFunc,
		},
		Schema: func(provider stackaddrs.Provider) *engine.ProviderSchema {
			if provider.Type != "aws" {
				return nil
			}
			return &engine.ProviderSchema{Config: engine.Block{
				Attributes: map[string]engine.Attribute{"region": {Type: cty.String, Required: true}, "profile": {Type: cty.String}},
				Blocks: map[string]engine.NestedBlock{
					"assume_role": {
						Block:   engine.Block{Attributes: map[string]engine.Attribute{"role_arn": {Type: cty.String}}},
						Nesting: engine.NestingList,
					},
				},
			}}
		},
		ProviderFunctions: func(stackaddrs.Provider) map[string]*engine.Function {
			return map[string]*engine.Function{"arn_parse": {
				Parameters: []engine.FunctionParameter{{Name: "arn", Type: cty.String}}, Return: cty.String, Summary: "Takes an ARN apart.",
			}}
		},
		Directories: func(dir string) []string {
			entries, _ := os.ReadDir(dir)
			var names []string
			for _, entry := range entries {
				if entry.IsDir() {
					names = append(names, entry.Name())
				}
			}
			return names
		},
	}
	for name, path := range config.Paths {
		view.Files = append(view.Files, language.File{Path: path, Name: name, Src: config.Files[name].Bytes})
	}
	deployments, _ := deployconfig.Load(root)
	if deployments != nil {
		for name, file := range deployments.Files {
			view.Files = append(view.Files, language.File{Path: filepath.Join(deployments.Dir, name), Name: name, Src: file.Bytes})
		}
	}
	loader := module.NewLoader(module.Options{Base: root})
	view.Module = func(dir string) *language.Module {
		tree, _ := loader.Load(dir)
		if tree == nil {
			return nil
		}
		found := &language.Module{Module: tree.Module}
		for _, f := range tree.Root.Files {
			found.Files = append(found.Files, language.File{Path: filepath.Join(dir, f.Name), Name: f.Display, Src: f.Source})
		}
		return found
	}
	return view
}

// cut takes the cursor out of a text.
func cut(t *testing.T, text string) (src string, offset int) {
	t.Helper()
	before, after, ok := strings.Cut(text, "|")
	if !ok {
		t.Fatalf("there is no cursor in %q", text)
	}
	return before + after, len(before)
}

func (s session) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func labels(completions []language.Completion) []string {
	var labels []string
	for _, completion := range completions {
		labels = append(labels, completion.Label)
	}
	return labels
}

func TestCompletion(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // labels in this order, among others; "!" before one that must not be there
		only bool   // no others
	}{
		"top level": {
			text: "|",
			want: `component "NAME",stack "NAME",variable "NAME",locals,removed,moved,language,!required_providers`,
		},
		"top level in a word": {text: "comp|", want: `component "NAME"`},
		"between blocks":      {text: "locals {\n}\n\n|\nlocals {\n}", want: `component "NAME"`},
		"component": {
			text: "component \"x\" {\n  |\n}",
			want: "source,version,for_each,inputs,providers,depends_on",
			only: true,
		},
		"component without brace": {
			text: "component \"x\" {\n  |",
			want: "source,version,for_each,inputs,providers,depends_on",
			only: true,
		},
		"component with source": {
			text: "component \"x\" {\n  source = \"./a\"\n  |\n}",
			want: "for_each,inputs,providers,depends_on",
			only: true,
		},
		"component of a registry": {
			text: "component \"x\" {\n  source = \"a/b/c\"\n  |\n}",
			want: "version,for_each,inputs,providers,depends_on",
			only: true,
		},
		"each.value of a map": {
			text: "component \"x\" {\n  for_each = { k = var.settings }\n  inputs = { a = each.value.| }\n}",
			want: "labels,replicas",
			only: true,
		},
		"each.value of a variable": {
			text: "variable \"v\" {\n  type = map(object({ size = number, deep = object({ in = string }) }))\n}\ncomponent \"x\" {\n" +
				"  for_each = var.v\n  inputs = { a = each.value.deep.| }\n}",
			want: "in",
			only: true,
		},
		"each.value of a set": {
			text: "component \"x\" {\n  for_each = toset([\"a\"])\n  inputs = { a = each.value.| }\n}",
			only: true,
		},
		"word in component": {text: "component \"x\" {\n  so|\n}", want: "source"},
		"removed component": {
			text: "removed {\n  from = component.a\n  |\n}",
			want: "source,version,for_each,providers,lifecycle",
			only: true,
		},
		"removed stack": {
			text: "removed {\n  from = stack.a\n  |\n}",
			want: "source,version,for_each,inputs,lifecycle",
			only: true,
		},
		"removed": {text: "removed {\n  lifecycle {\n    |\n  }\n}", want: "destroy", only: true},
		"validation": {
			text: "variable \"v\" {\n  validation {\n    |\n  }\n}",
			want: "condition,error_message",
			only: true,
		},
		"provider": {text: "provider \"aws\" \"x\" {\n  |\n}", want: "for_each,config", only: true},
		"config": {
			text: "provider \"aws\" \"x\" {\n  config {\n    |\n  }\n}",
			want: "region,profile,assume_role",
			only: true,
		},
		"block of a provider": {
			text: "provider \"aws\" \"x\" {\n  config {\n    assume_role {\n      |\n    }\n  }\n}",
			want: "role_arn",
			only: true,
		},
		"value in config": {
			text: "provider \"aws\" \"x\" {\n  config {\n    region = |\n  }\n}",
			want: "var,local,component,stack,terraform,upper,!each,!provider",
		},
		"label of a provider":        {text: `provider "|" "x" {}`, want: "aws", only: true},
		"var":                        {text: "locals {\n  a = var.|\n}", want: "region,settings", only: true},
		"var in a word":              {text: "locals {\n  a = var.re|gion\n}", want: "region"},
		"attribute of a variable":    {text: "locals {\n  a = var.settings.|\n}", want: "labels,replicas", only: true},
		"local":                      {text: "locals {\n  a = local.|\n}", want: "a,prefix,ids", only: true},
		"component in locals":        {text: "locals {\n  a = component.|\n}", want: "net,many", only: true},
		"own component":              {text: "component \"x\" {\n  inputs = { a = component.| }\n}", want: "net,many,!x", only: true},
		"outputs":                    {text: "locals {\n  a = component.net.|\n}", want: "id,thing,zones", only: true},
		"outputs with nothing after": {text: "component \"x\" {\n  inputs = { a = component.net.|", want: "id,thing,zones", only: true},
		"outputs before another block": {
			text: "component \"x\" {\n  inputs = {\n    a = component.net.|\n\ncomponent \"y\" {\n  source = \"./y\"\n}",
			want: "id,thing,zones",
			only: true,
		},
		"outputs in a template": {text: "locals {\n  a = \"x-${component.net.|}\"\n}", want: "id,thing,zones", only: true},
		"outputs in an open template": {
			text: "locals {\n  a = \"x-${component.net.|\n}\nvariable \"b\" {}",
			want: "id,thing,zones",
			only: true,
		},
		"outputs in a call":        {text: "locals {\n  a = upper(component.net.|\n}", want: "id,thing,zones", only: true},
		"instances":                {text: "locals {\n  a = component.many.|\n}", want: `["a"],["b"],[each.key]`, only: true},
		"outputs of an instance":   {text: "locals {\n  a = component.many[\"a\"].|\n}", want: "id,thing,zones", only: true},
		"outputs of all instances": {text: "locals {\n  a = component.many[*].|\n}", want: "id,thing,zones", only: true},
		"outputs of a stack":       {text: "locals {\n  a = stack.child.|\n}", want: "url", only: true},
		"providers of a component": {
			text: "component \"x\" {\n  source = \"../modules/db\"\n  providers = { | }\n}",
			want: "aws.other",
			only: true,
		},
		"provider reference":     {text: "component \"x\" {\n  providers = { aws = provider.| }\n}", want: "aws", only: true},
		"provider configuration": {text: "component \"x\" {\n  providers = { aws = provider.aws.| }\n}", want: "main", only: true},
		"inputs": {
			text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    |\n  }\n}",
			want: "cidr,options,zones",
			only: true,
		},
		"inputs without braces after them": {
			text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    |",
			want: "cidr,options,zones",
			only: true,
		},
		"inputs that are missing": {
			text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    cidr = \"a\"\n    |\n  }\n}",
			want: "options,zones",
			only: true,
		},
		"input in a word": {text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    ci|\n  }\n}", want: "cidr"},
		"value of an input": {
			text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    cidr = |\n  }\n}",
			want: "var,local,component,stack,terraform,abs,!each,!provider",
		},
		"value with each": {text: "component \"x\" {\n  for_each = toset([])\n  inputs = { a = | }\n}", want: "each"},
		"each": {
			text: "component \"x\" {\n  for_each = toset([])\n  inputs = { a = each.| }\n}",
			want: "key,value",
			only: true,
		},
		"attribute of an input": {
			text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = { options = { | } }\n}",
			want: "dns,tags",
			only: true,
		},
		"inputs of a stack": {text: "stack \"x\" {\n  source = \"../child\"\n  inputs = { | }\n}", want: "size,name", only: true},
		"source":            {text: `component "x" { source = "../modules/|" }`, want: "../modules/db,../modules/net", only: true},
		"source with an open quote": {
			text: "component \"x\" {\n  source = \"../modules/|\n  inputs = {}\n}",
			want: "../modules/db,../modules/net",
			only: true,
		},
		"source at first": {text: `component "x" { source = "|" }`, want: "./,../"},
		"type": {
			text: "variable \"x\" {\n  type = |\n}",
			want: "string,number,bool,list,set,map,object,tuple,optional,providerconfig",
			only: true,
		},
		"type in a type":                 {text: "variable \"x\" {\n  type = list(|)\n}", want: "string"},
		"provider in a type":             {text: "variable \"x\" {\n  type = providerconfig(|)\n}", want: "aws", only: true},
		"bool":                           {text: "variable \"x\" {\n  sensitive = |\n}", want: "true,false", only: true},
		"language":                       {text: "language = |", want: "TFStack2023", only: true},
		"depends_on":                     {text: "component \"x\" {\n  depends_on = [component.|]\n}", want: "net,many", only: true},
		"depends_on without anything":    {text: "component \"x\" {\n  depends_on = [|]\n}", want: "component,stack", only: true},
		"from":                           {text: "removed {\n  from = |\n}", want: "component,stack", only: true},
		"from in a stack":                {text: "removed {\n  from = stack.child.|\n}", want: "component,stack", only: true},
		"from of a component in a stack": {text: "removed {\n  from = stack.child.component.|\n}", want: "inner", only: true},
		"to":                             {text: "moved {\n  to = component.|\n}", want: "net,many", only: true},
		"condition": {
			text: "variable \"x\" {\n  validation {\n    condition = |\n  }\n}",
			want: "var,can,!local,!component",
		},
		"function of a provider":      {text: "locals {\n  a = provider::aws::|\n}", want: "provider::aws::arn_parse"},
		"entry of required_providers": {text: "required_providers {\n  aws = { | }\n}", want: "source,version", only: true},
		"text":                        {text: "locals {\n  a = \"var.|\"\n}", only: true},
		"comment":                     {text: "# var.|\n", only: true},
		"terraform":                   {text: "locals {\n  a = terraform.|\n}", want: "applying", only: true},
		"unknown root":                {text: "locals {\n  a = data.|\n}", only: true},
		"undeclared component":        {text: "locals {\n  a = component.nothing.|\n}", only: true},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			got := labels(s.Complete(s.path(mainFile), offset))
			var want []string
			next := 0
			for _, label := range strings.Split(test.want, ",") {
				if unwanted, not := strings.CutPrefix(label, "!"); not {
					if slices.Contains(got, unwanted) {
						t.Errorf("got %q among %q", unwanted, got)
					}
					continue
				}
				if label == "" {
					continue
				}
				want = append(want, label)
				at := slices.Index(got[min(next, len(got)):], label)
				if at < 0 {
					t.Errorf("got %q, without %q at this place", got, label)
					continue
				}
				next += at + 1
			}
			if test.only && len(got) != len(want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
