// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/internal/providers/release"
)

// place writes a location with the text that is there.
func (s session) place(location language.Location) string {
	s.t.Helper()
	rel, err := filepath.Rel(s.dir, location.Path)
	if err != nil {
		s.t.Fatal(err)
	}
	src, err := os.ReadFile(location.Path)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s:%d %s", filepath.ToSlash(rel), location.Range.Start.Line, src[location.Range.Start.Byte:location.Range.End.Byte])
}

func (s session) places(locations []language.Location) []string {
	var places []string
	for _, location := range locations {
		places = append(places, s.place(location))
	}
	return places
}

func TestHoverInDeployments(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"token": {
			"identity_token \"t\" {\n  audience = [\"a\"]\n}\ndeployment \"d\" {\n  inputs = { token = identity_token.t.jw|t }\n}",
			"The token.",
		},
		"not of tokens": {
			"identity_token \"t\" {\n  audience = [\"a\"]\n}\ndeployment \"d\" {\n  inputs = { token = identity_token.t.jw|s }\n}",
			"",
		},
		"stable": {
			"store \"varset\" \"s\" {\n  name = \"s\"\n}\ndeployment \"d\" {\n  inputs = { a = store.varset.s.sta|ble.a }\n}",
			"kept with the state",
		},
		"context": {
			"deployment_auto_approve \"a\" {\n  check {\n    condition = context.plan.changes.rem|ove == 0\n    reason    = \"r\"\n  }\n}",
			"remove: number",
		},
		"no context": {
			"deployment_auto_approve \"a\" {\n  check {\n    condition = context.plan.no|thing == 0\n    reason    = \"r\"\n  }\n}",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := open(t, "-- stack/main.tfcomponent.hcl --\n-- stack/main.tfdeploy.hcl --\n"+src+"\n", "stack")
			hover := s.Hover(s.path("stack/main.tfdeploy.hcl"), offset)
			if got := hover != nil; got != (test.want != "") || got && !strings.Contains(hover.Text, test.want) {
				t.Errorf("got %+v, want %q", hover, test.want)
			}
		})
	}
}

func TestHover(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"type of a block":         {"compo|nent \"x\" {\n}", "Runs a Terraform module"},
		"argument":                {"component \"x\" {\n  for_|each = {}\n}", "`for_each`: map, object or set of strings"},
		"required argument":       {"component \"x\" {\n  sou|rce = \"./a\"\n}", "required"},
		"nested block":            {"removed {\n  life|cycle {\n  }\n}", "How it is removed."},
		"language":                {"lang|uage = TFStack2023", "edition"},
		"variable":                {"locals {\n  a = var.reg|ion\n}", "variable \"region\": string"},
		"variable: description":   {"locals {\n  a = var.reg|ion\n}", "Where everything is."},
		"variable: place":         {"locals {\n  a = var.reg|ion\n}", "Declared in other.tfcomponent.hcl, line 12."},
		"variable: required":      {"locals {\n  a = var.reg|ion\n}", "Required."},
		"local":                   {"locals {\n  a = local.pre|fix\n}", "local.prefix: string"},
		"component":               {"locals {\n  a = component.n|et.id\n}", "source = \"../modules/net\""},
		"component: outputs":      {"locals {\n  a = component.n|et.id\n}", "Outputs: `id`, `thing`, `zones`."},
		"component with for_each": {"locals {\n  a = component.man|y\n}", "An instance for each of `toset([\"a\", \"b\"])`."},
		"output of a module":      {"locals {\n  a = component.net.i|d\n}", "output \"id\": string"},
		"output: description":     {"locals {\n  a = component.net.i|d\n}", "The id of the network."},
		"output of unknown type":  {"locals {\n  a = component.net.thi|ng\n}", "output \"thing\": any"},
		"output of an instance":   {"locals {\n  a = component.many[\"a\"].zo|nes\n}", "output \"zones\": list(string)"},
		"output of a stack":       {"locals {\n  a = stack.child.ur|l\n}", "Where it is."},
		"unknown output":          {"locals {\n  a = component.net.no|\n}", "The module has no output \"no\"."},
		"undeclared":              {"locals {\n  a = var.no|thing\n}", "Variable nothing is not declared in this stack."},
		"input": {
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    ci|dr = 1\n  }\n}", "The range of addresses.",
		},
		"input: type": {
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    opt|ions = 1\n  }\n}",
			"object({ dns = bool, tags = optional(map(string)) })",
		},
		"input of a stack": {"stack \"x\" {\n  source = \"../child\"\n  inputs = {\n    si|ze = 1\n  }\n}", "How many."},
		"slot": {
			"component \"x\" {\n  source = \"../modules/db\"\n  providers = {\n    aws.othe|r = provider.aws.main\n  }\n}",
			"takes a configuration of provider registry.terraform.io/hashicorp/aws",
		},
		"provider configuration":  {"component \"x\" {\n  providers = { aws = provider.aws.ma|in }\n}", "provider \"aws\" \"main\""},
		"source of a requirement": {"required_providers {\n  aws = {\n    sou|rce = \"hashicorp/aws\"\n  }\n}", "The address of the provider"},
		"version of a requirement": {
			"required_providers {\n  aws = {\n    source  = \"hashicorp/aws\"\n    ver|sion = \"~> 5\"\n  }\n}",
			"Which versions are acceptable",
		},
		"local name": {"component \"x\" {\n  providers = { aws = provider.a|ws.main }\n}", "hashicorp/aws"},
		"argument of a provider": {
			"provider \"aws\" \"x\" {\n  config {\n    reg|ion = 1\n  }\n}",
			"`region`: string, required, an argument of the provider",
		},
		"function":               {"locals {\n  a = upp|er(\"x\")\n}", "upper(string: string) → string"},
		"function: result":       {"locals {\n  a = upp|er(\"x\")\n}", "In upper case."},
		"function by long name":  {"locals {\n  a = core::upp|er(\"x\")\n}", "core::upper(string"},
		"function of a provider": {"locals {\n  a = provider::aws::arn_p|arse(\"x\")\n}", "Takes an ARN apart."},
		"each":                   {"component \"x\" {\n  inputs = { a = each.ke|y }\n}", "The key of this instance."},
		"attribute of each.value": {
			"component \"x\" {\n  for_each = { k = var.settings }\n  inputs = { a = each.value.repl|icas }\n}",
			"replicas: number",
		},
		"root":           {"locals {\n  a = va|r.region\n}", "The input variables of this stack."},
		"type":           {"variable \"x\" {\n  type = lis|t(string)\n}", "Elements of one type, in order."},
		"type in a type": {"variable \"x\" {\n  type = list(str|ing)\n}", "A text."},
		"attribute":      {"locals {\n  a = var.settings.repl|icas\n}", "replicas: number"},
		"source":         {"component \"x\" {\n  source = \"../mod|ules/net\"\n}", "Leads to "},
		"moved":          {"moved {\n  from = component.old\n  to = component.n|et\n}", "component \"net\""},
		"comment":        {"# var.reg|ion\n", ""},
		"text":           {"locals {\n  a = \"var.reg|ion\"\n}", ""},
		"open reference": {"locals {\n  a = component.n|et.\n", "component \"net\""},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			hover := s.Hover(s.path(mainFile), offset)
			switch {
			case hover == nil && test.want != "":
				t.Errorf("got nothing, want %q", test.want)
			case hover != nil && test.want == "":
				t.Errorf("got %q, want nothing", hover.Text)
			case hover != nil && !strings.Contains(hover.Text, test.want):
				t.Errorf("got %q, want %q in it", hover.Text, test.want)
			case hover != nil && (hover.Range.Start.Byte > offset || hover.Range.End.Byte < offset):
				t.Errorf("the range is %v", hover.Range)
			}
		})
	}
}

func TestCompletionOfRequirements(t *testing.T) {
	const at = "required_providers {\n  aws = {\n    source  = \"hashicorp/aws\"\n    version = \"|\"\n  }\n}"
	for name, test := range map[string]struct {
		text  string
		known []requirements.Known
		want  []string
	}{
		"sources": {
			text: "required_providers {\n  random = {\n    source = \"|\"\n  }\n}",
			known: []requirements.Known{
				known(t, "acme/other", "", "1.0.0"), known(t, "hashicorp/random", "3.6.0", "3.6.0"),
				known(t, "example.com/acme/random", "", "2.1.0"),
			},
			want: []string{
				"example.com/acme/random: there is 2.1.0", "hashicorp/random: 3.6.0 is locked", "acme/other: there is 1.0.0",
				"hashicorp/aws: modules require it",
				"terraform.io/builtin/terraform: built into the engine",
			},
		},
		"source, in a word that is not complete": {
			text:  "required_providers {\n  aws = {\n    source = \"hashicorp/a|",
			known: []requirements.Known{known(t, "hashicorp/aws", "", "5.1.0")},
			want:  []string{"hashicorp/aws: there is 5.1.0", "terraform.io/builtin/terraform: built into the engine"},
		},
		"version": {
			text: at, known: []requirements.Known{known(t, "hashicorp/aws", "5.1.2", "6.0.0-beta1", "5.10.0", "5.1.2", "5.1.0", "4.0.0")},
			want: []string{
				"~> 5.1: allows 5.1.2", "5.1.2: locked", "~> 5.10: allows 5.10.0", "~> 4.0: allows 4.0.0", ">= 5.0: modules require it",
				"6.0.0-beta1: ", "5.10.0: ", "5.1.0: ", "4.0.0: ",
			},
		},
		"version, of what is only required": {text: at, want: []string{">= 5.0: modules require it"}},
		"version, of another provider": {
			text: strings.Replace(at, "hashicorp/aws", "acme/aws", 1), known: []requirements.Known{known(t, "hashicorp/aws", "", "5.1.0")},
		},
		"version, without a source": {
			text:  "required_providers {\n  aws = {\n    version = \"|\"\n  }\n}",
			known: []requirements.Known{known(t, "hashicorp/aws", "", "5.1.0")},
		},
		"another argument": {
			text:  "required_providers {\n  aws = {\n    alias = \"|\"\n  }\n}",
			known: []requirements.Known{known(t, "hashicorp/aws", "", "5.1.0")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, "component \"db\" {\n  source = \"../modules/aws\"\n}\n"+test.text)
			dir := writeArchive(t, "-- modules/aws/main.tf --\nterraform {\n  required_providers {\n    aws = {\n"+
				"      source  = \"hashicorp/aws\"\n      version = \">= 5.0\"\n    }\n  }\n}\n-- "+
				mainFile+" --\n"+src)
			view := viewOf(t, filepath.Join(dir, "stack"))
			view.Providers = func() []requirements.Known { return test.known }
			var got []string
			for _, one := range language.New(view).Complete(filepath.Join(dir, mainFile), offset) {
				got = append(got, one.Label+": "+one.Detail)
				if quoted := src[one.Replace.Start.Byte-1] == '"' && one.Replace.End.Byte >= offset; !quoted {
					t.Errorf("%s replaces %v", one.Label, one.Replace)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	}
}

// known returns a provider that is at hand, with the version that is locked, if one is, and all
// that there are.
func known(t *testing.T, address, locked string, all ...string) requirements.Known {
	t.Helper()
	provider, err := release.ParseProvider(address)
	if err != nil {
		t.Fatal(err)
	}
	found := requirements.Known{Provider: provider}
	for _, text := range all {
		version, err := release.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		if found.Versions = append(found.Versions, version); text == locked {
			found.Locked = version
		}
	}
	return found
}

func TestDefinition(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"variable":              {"locals {\n  a = var.reg|ion\n}", "stack/other.tfcomponent.hcl:12 region"},
		"local":                 {"locals {\n  a = local.prefix|\n}", "stack/other.tfcomponent.hcl:20 prefix"},
		"component":             {"locals {\n  a = component.|net.id\n}", "stack/other.tfcomponent.hcl:23 net"},
		"output of a module":    {"locals {\n  a = component.net.i|d\n}", "modules/net/main.tf:12 id"},
		"output of an instance": {"locals {\n  a = component.many[\"a\"].i|d\n}", "modules/net/main.tf:12 id"},
		"stack":                 {"locals {\n  a = stack.chi|ld.url\n}", "stack/other.tfcomponent.hcl:38 child"},
		"output of a stack":     {"locals {\n  a = stack.child.ur|l\n}", "child/main.tfcomponent.hcl:13 url"},
		"input": {
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    ci|dr = 1\n  }\n}",
			"modules/net/main.tf:1 cidr",
		},
		"input of a stack":        {"stack \"x\" {\n  source = \"../child\"\n  inputs = { si|ze = 1 }\n}", "child/main.tfcomponent.hcl:1 size"},
		"source":                  {"component \"x\" {\n  source = \"../mod|ules/net\"\n}", "modules/net/main.tf:1 "},
		"source of a stack":       {"stack \"x\" {\n  source = \"../chi|ld\"\n}", "child/main.tfcomponent.hcl:1 "},
		"provider configuration":  {"component \"x\" {\n  providers = { aws = provider.aws.ma|in }\n}", "stack/other.tfcomponent.hcl:7 main"},
		"local name of provider":  {"component \"x\" {\n  providers = { aws = provider.a|ws.main }\n}", "stack/other.tfcomponent.hcl:2 aws"},
		"label of provider":       {`provider "a|ws" "x" {}`, "stack/other.tfcomponent.hcl:2 aws"},
		"in a function":           {"locals {\n  a = provider::a|ws::arn_parse(\"\")\n}", "stack/other.tfcomponent.hcl:2 aws"},
		"in a type":               {"variable \"x\" {\n  type = providerconfig(aw|s)\n}", "stack/other.tfcomponent.hcl:2 aws"},
		"declaration":             {"component \"|x\" {}", "stack/main.tfcomponent.hcl:1 x"},
		"depends_on":              {"component \"x\" {\n  depends_on = [component.ne|t]\n}", "stack/other.tfcomponent.hcl:23 net"},
		"removed":                 {"removed {\n  from = component.go|ne\n}", ""},
		"removed from a stack":    {"removed {\n  from = stack.child.component.in|ner\n}", "child/main.tfcomponent.hcl:9 inner"},
		"moved":                   {"moved {\n  from = component.gone\n  to = component.ne|t\n}", "stack/other.tfcomponent.hcl:23 net"},
		"undeclared":              {"locals {\n  a = var.not|hing\n}", ""},
		"open reference":          {"component \"x\" {\n  inputs = { a = component.ne|t.", "stack/other.tfcomponent.hcl:23 net"},
		"declared in a for":       {"locals {\n  a = [for var in [] : var.reg|ion]\n}", ""},
		"reference in a template": {"locals {\n  a = \"x${var.reg|ion}\"\n}", "stack/other.tfcomponent.hcl:12 region"},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			if got := strings.Join(s.places(s.Definition(s.path(mainFile), offset)), ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"variable": {"locals {\n  a = var.reg|ion\n}", []string{
			"stack/main.tfcomponent.hcl:2 region", "stack/other.tfcomponent.hcl:9 region", "stack/other.tfcomponent.hcl:12 region",
			"stack/other.tfcomponent.hcl:20 region",
		}},
		"component": {"removed {\n  from = component.n|et[\"a\"]\n}", []string{
			"stack/main.tfcomponent.hcl:2 net", "stack/other.tfcomponent.hcl:21 net", "stack/other.tfcomponent.hcl:23 net",
		}},
		"variable of a stack": {"stack \"x\" {\n  source = \"../child\"\n  inputs = { si|ze = 1 }\n}", []string{
			"child/main.tfcomponent.hcl:1 size", "stack/main.tfcomponent.hcl:3 size", "stack/other.tfcomponent.hcl:40 size",
		}},
		"output of a module": {"locals {\n  a = component.many[\"a\"].i|d\n}", []string{
			"child/main.tfcomponent.hcl:15 id", "stack/main.tfcomponent.hcl:2 id", "stack/other.tfcomponent.hcl:21 id",
		}},
		"nothing": {"locals {\n  a = 1|\n}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			if diff := cmp.Diff(test.want, s.places(s.References(s.path(mainFile), offset, true))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// apply makes edits in the files of a session, and opens it again.
func (s session) apply(edits []language.Edit) session {
	s.t.Helper()
	for _, edit := range slices.Backward(edits) {
		src, err := os.ReadFile(edit.Path)
		if err != nil {
			s.t.Fatal(err)
		}
		text := string(src[:edit.Range.Start.Byte]) + edit.Text + string(src[edit.Range.End.Byte:])
		if err := os.WriteFile(edit.Path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	return session{language.New(viewOf(s.t, s.path("stack"))), s.t, s.dir}
}

func (s session) read(name string) string {
	s.t.Helper()
	src, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(src)
}

func TestRename(t *testing.T) {
	for name, test := range map[string]struct {
		text, to string
		want     []string // in the files afterwards, each behind the beginning of the name of its file
		err      string
	}{
		"variable": {text: "locals {\n  a = var.reg|ion\n}", to: "place", want: []string{
			"main: var.place\n", "other: variable \"place\" {", "other: region = var.place\n", "other: \"a-${var.place}\"",
		}},
		"local":  {text: "locals {\n  |x = 1\n  y = local.x\n}", to: "z", want: []string{"main: z = 1\n  y = local.z\n"}},
		"output": {text: "output \"o|ut\" {}", to: "z", want: []string{"main: output \"z\" {}"}},
		"component": {
			text: "locals {\n  a = component.n|et.id\n}\nmoved {\n  from = component.old\n  to   = component.net\n}",
			to:   "vpc",
			want: []string{
				"main: component.vpc.id", "main: to   = component.net\n", "other: component \"vpc\" {", "other: ids    = component.vpc.id",
				"other: \n}\n\nmoved {\n  from = component.net\n  to   = component.vpc\n}\n",
			},
		},
		"component with a removed instance": {
			text: "removed {\n  from = component.man|y[\"c\"]\n}",
			to:   "few",
			want: []string{"main: from = component.few[\"c\"]"},
		},
		"component that is renamed back": {
			text: "component \"|b\" {\n}\nmoved {\n  from = component.a\n  to   = component.b\n}", to: "a",
			want: []string{"main: component \"a\" {\n}\nmoved {\n  from = component.b\n  to   = component.a\n}"},
		},
		"component that closes a cycle": {
			text: "component \"|c\" {\n}\nmoved {\n  from = component.a\n  to = component.b\n}\nmoved {\n  from = component.b\n" +
				"  to = component.c\n}",
			to: "a",
			want: []string{
				"main: component \"a\" {\n}\n\nmoved {\n  from = component.c\n  to   = component.a\n}\n\nmoved {\n  from = component.b\n" +
					"  to = component.c\n}",
			},
		},
		"stack": {
			text: "locals {\n  a = stack.chi|ld.url\n}",
			to:   "kid",
			want: []string{"main: stack.kid.url", "other: stack \"kid\" {", "other: to   = stack.kid\n"},
		},
		"output of a stack": {
			text: "locals {\n  a = stack.child.ur|l\n}",
			to:   "place",
			want: []string{"main: stack.child.place", "child: output \"place\" {"},
		},
		"variable of a stack": {
			text: "stack \"x\" {\n  source = \"../child\"\n  inputs = { si|ze = 1 }\n}",
			to:   "count_of",
			want: []string{"main: { count_of = 1 }", "other: { count_of = 2 }", "child: variable \"count_of\" {"},
		},
		"provider configuration": {
			text: "component \"x\" {\n  providers = { aws = provider.aws.ma|in }\n}",
			to:   "first",
			want: []string{"main: aws = provider.aws.first }", "other: provider \"aws\" \"first\" {"},
		},
		"local name of a provider": {
			text: "component \"x\" {\n  providers = { aws = provider.a|ws.main }\n}\nlocals {\n" +
				"  a = provider::aws::arn_parse(\"\")\n}",
			to: "cloud",
			want: []string{
				"main: { aws = provider.cloud.main }", "main: provider::cloud::arn_parse",
				"other: provider \"cloud\" \"main\" {", "other:   cloud = {",
			},
		},
		"same name":    {text: "locals {\n  a = var.reg|ion\n}", to: "region", want: []string{"main: var.region"}},
		"invalid name": {text: "locals {\n  a = var.reg|ion\n}", to: "a b", err: "cannot be a name"},
		"empty name":   {text: "locals {\n  a = var.reg|ion\n}", to: "", err: "cannot be a name"},
		"name that exists": {
			text: "locals {\n  a = var.reg|ion\n}",
			to:   "settings",
			err:  `There is already a variable "settings", in line 16 of other.tfcomponent.hcl.`,
		},
		"variable of module": {
			text: "component \"x\" {\n  source = \"../modules/net\"\n  inputs = { ci|dr = 1 }\n}",
			to:   "y",
			err:  "belongs to the module",
		},
		"undeclared": {text: "locals {\n  a = var.not|hing\n}", to: "y", err: "is not declared"},
		"no name":    {text: "locals {\n  a = 1|\n}", to: "y", err: "There is no name here"},
		"in an open file": {
			text: "locals {\n  a = var.reg|ion\n  b = component.\n",
			to:   "place",
			want: []string{"main: var.place\n", "other: variable \"place\" {"},
		},
		"name of another one": {text: "locals {\n  region = 1\n  a = var.reg|ion\n}", to: "a", want: []string{"main: region = 1\n  a = var.a\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			_, at, prepareErr := s.PrepareRename(s.path(mainFile), offset)
			renaming, err := s.Rename(s.path(mainFile), offset, test.to)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || prepareErr != nil {
				t.Fatal(err, prepareErr)
			}
			if at.Start.Byte > offset || at.End.Byte < offset {
				t.Errorf("the range is %v", at)
			}
			after := s.apply(renaming.Edits)
			for _, want := range test.want {
				file, text, _ := strings.Cut(want, ": ")
				name := map[string]string{"main": mainFile, "other": otherFile, "child": childFile}[file]
				if got := after.read(name); !strings.Contains(got, text) {
					t.Errorf("%s does not have %q: %s", name, text, got)
				}
			}
		})
	}
}

func TestSignature(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		active     int
	}{
		"first":          {"locals {\n  a = replace(|\n}", "replace(string, search, replacement)", 0},
		"second":         {"locals {\n  a = replace(\"x\", |)\n}", "replace(string, search, replacement)", 1},
		"nested":         {"locals {\n  a = replace(upper(\"x\"), |)\n}", "replace(string, search, replacement)", 1},
		"inner":          {"locals {\n  a = replace(upper(|\n}", "upper(string: string) → string", 0},
		"variadic":       {"locals {\n  a = merge({}, {}, {}, |)\n}", "merge(map…)", 0},
		"list in a call": {"locals {\n  a = replace([1, 2], |)\n}", "replace(string, search, replacement)", 1},
		"provider":       {"locals {\n  a = provider::aws::arn_parse(|)\n}", "provider::aws::arn_parse(arn: string) → string", 0},
		"unknown":        {"locals {\n  a = nothing(|)\n}", "", 0},
		"outside":        {"locals {\n  a = upper(\"x\")|\n}", "", 0},
		"in a string":    {"locals {\n  a = upper(\"x|\")\n}", "", 0},
		"map in a call":  {"locals {\n  a = lookup({ a = 1, b = 2 }, |\n}", "lookup(map, key, default)", 1},
		"several lines":  {"locals {\n  a = replace(\n    \"x\",\n    |\n  )\n}", "replace(string, search, replacement)", 1},
		"before another item": {
			"component \"x\" {\n  inputs = {\n    a = replace(\"x\", |\n    b = 1\n  }\n}",
			"replace(string, search, replacement)", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			got, active := "", 0
			if help := s.SignatureAt(s.path(mainFile), offset); help != nil {
				got, _ = help.Label()
				active = help.Active
			}
			if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") || active != test.active {
				t.Errorf("got %q, %d, want %q, %d", got, active, test.want, test.active)
			}
		})
	}
}

func TestHints(t *testing.T) {
	const text = `
locals {
  a = component.net.id
  b = component.net.thing
  c = stack.child.url
  d = [component.many["a"].zones, var.settings]
  e = each.key
  f = upper(component.net.thing)
  g = component.net
}
output "typed" {
  type  = string
  value = 1
}
output "untyped" {
  value = component.net.zones
}
`
	s := openWorld(t, text)
	var got []string
	for _, hint := range s.Hints(s.path(mainFile), 0, len(text)) {
		start := strings.LastIndexAny(text[:hint.At.Byte], " .\"") + 1
		got = append(got, text[start:hint.At.Byte]+hint.Text)
	}
	want := []string{
		"a: string", "id: string", "c: string", "url: string", "d: tuple", "zones: list(string)", "e: string", "f: string",
		"g: object({ id = string, thing = any, zones = list(string) })", "untyped: list(string)", "zones: list(string)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLenses(t *testing.T) {
	s := openWorld(t, `
locals {
  one = local.two
  two = component.net.id
}
component "a" {
  source     = "../modules/net"
  inputs     = { cidr = local.one }
  depends_on = [component.many]
}
component "b" {
  inputs = { x = component.a.id, y = stack.child.url }
}
provider "aws" "late" {
  config {
    region = component.b.id
  }
}
component "c" {
  providers = { aws = provider.aws.late }
}
`)
	var got []string
	for _, path := range []string{mainFile, otherFile} {
		for _, lens := range s.Lenses(s.path(path)) {
			text := lens.Name + " requires"
			for _, dependency := range lens.Requires {
				text += " " + dependency.Name
			}
			text += ", required by"
			for _, dependency := range lens.Dependents {
				text += " " + dependency.Name
			}
			got = append(got, text)
		}
	}
	want := []string{
		"a requires net many, required by b", "b requires a child, required by c", "c requires b, required by",
		"net requires, required by a", "many requires, required by a", "child requires, required by b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSymbols(t *testing.T) {
	s := openWorld(t, "component \"network\" {}\n")
	for query, want := range map[string]string{
		"component.net": "component.net component.network",
		"nwk":           "component.network",
		"chld":          "stack.child",
		"REGION":        "var.region",
		"zzz":           "",
	} {
		var got []string
		for _, symbol := range s.Symbols(query) {
			got = append(got, symbol.Title)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Symbols(%q): got %q, want %q", query, got, want)
		}
	}
}

func TestActions(t *testing.T) {
	for name, test := range map[string]struct{ text, title, want string }{
		"missing inputs": {
			"component \"|x\" {\n  source = \"../modules/net\"\n}\n", "Add missing required inputs: cidr, options",
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    cidr = \"\"\n    options = {}\n  }\n}\n",
		},
		"missing input among others": {
			"component \"|x\" {\n  source = \"../modules/net\"\n  inputs = {\n    options = {}\n  }\n}\n", "Add missing required input cidr",
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = {\n    options = {}\n    cidr = \"\"\n  }\n}\n",
		},
		"missing input of a variable's name": {
			"variable \"cidr\" {}\ncomponent \"|x\" {\n  source = \"../modules/net\"\n  inputs = { options = {} }\n}\n",
			"Add missing required input cidr",
			"variable \"cidr\" {}\ncomponent \"x\" {\n  source = \"../modules/net\"\n  inputs = { options = {}\n    cidr = var.cidr\n  }\n}\n",
		},
		"missing input of a stack": {
			"stack \"|x\" {\n  source = \"../child\"\n  inputs = {}\n}\n", "Add missing required input size",
			"stack \"x\" {\n  source = \"../child\"\n  inputs = {\n    size = 0\n  }\n}\n",
		},
		"mistyped variable":  {"locals {\n  a = var.regoin|\n}\n", "Change to \"region\"", "locals {\n  a = var.region\n}\n"},
		"mistyped component": {"locals {\n  a = component.nett|.id\n}\n", "Change to \"net\"", "locals {\n  a = component.net.id\n}\n"},
		"mistyped output": {
			"locals {\n  a = component.net.zone|\n}\n", "Change to \"zones\"", "locals {\n  a = component.net.zones\n}\n",
		},
		"mistyped input": {
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = { cdir| = 1 }\n}\n", "Change to \"cidr\"",
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = { cidr = 1 }\n}\n",
		},
		"mistyped argument": {
			"component \"x\" {\n  sorce| = \"./a\"\n}\n", "Change to \"source\"", "component \"x\" {\n  source = \"./a\"\n}\n",
		},
		"mistyped block":        {"compnent| \"x\" {\n}\n", "Change to \"component\"", "component \"x\" {\n}\n"},
		"mistyped nested block": {"removed {\n  lifecyle| {\n  }\n}\n", "Change to \"lifecycle\"", "removed {\n  lifecycle {\n  }\n}\n"},
		"mistyped configuration": {
			"component \"x\" {\n  providers = { aws = provider.aws.mian| }\n}\n", "Change to \"main\"",
			"component \"x\" {\n  providers = { aws = provider.aws.main }\n}\n",
		},
		"undeclared variable": {
			"variable \"a\" {}\nlocals {\n  b = var.|quite_new\n}\n", "Declare variable \"quite_new\" in other.tfcomponent.hcl",
			otherFile + ": }\n\nvariable \"quite_new\" {\n  type = string\n}\n",
		},
		"undeclared, as an input": {
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = { zones = var.|quite_new }\n}\n",
			"Declare variable \"quite_new\" in other.tfcomponent.hcl",
			otherFile + ": \n\nvariable \"quite_new\" {\n  type = list(string)\n}\n",
		},
		"undeclared input": {
			"component \"x\" {\n  source = \"../modules/net\"\n  inputs = { |quite_new = [\"a\"] }\n}\n",
			"Declare variable \"quite_new\" in the module",
			"modules/net/main.tf: \n\nvariable \"quite_new\" {\n  type = list(string)\n}\n",
		},
		"undeclared input, stack": {
			"stack \"x\" {\n  source = \"../child\"\n  inputs = { |quite_new = true }\n}\n",
			"Declare variable \"quite_new\" in main.tfcomponent.hcl",
			childFile + ": \n\nvariable \"quite_new\" {\n  type = bool\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, offset := cut(t, test.text)
			s := openWorld(t, src)
			at := hcl.Range{Start: hcl.Pos{Byte: offset}, End: hcl.Pos{Byte: offset}}
			var titles []string
			for _, action := range s.Actions(s.path(mainFile), at) {
				titles = append(titles, action.Title)
				if action.Title != test.title {
					continue
				}
				after := s.apply(action.Edits)
				if name, text, ok := strings.Cut(test.want, ": "); ok && name != "" && !strings.Contains(name, "\n") {
					if got := after.read(name); !strings.HasSuffix(got, text) {
						t.Errorf("got %q, want %q at its end", got, text)
					}
				} else if got, want := after.read(mainFile), strings.TrimSuffix(test.want, "\n"); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				for _, again := range after.Actions(s.path(mainFile), at) {
					if again.Title == test.title {
						t.Error("the action is offered again")
					}
				}
			}
			if !slices.Contains(titles, test.title) {
				t.Errorf("got %q, want %q", titles, test.title)
			}
		})
	}
	s := openWorld(t, "locals {\n  a = var.region\n  b = component.net.id\n}\n")
	if actions := s.Actions(s.path(mainFile), hcl.Range{End: hcl.Pos{Byte: 60}}); len(actions) > 0 {
		t.Errorf("got %v where nothing is wrong", actions)
	}
}
