// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// docs/language.md, section 3.10: where marked values may go, and where not. The stacks have the
// declarations of [ephemeralHead].
func TestWhereSecretsMayGo(t *testing.T) {
	const (
		leak      = "Ephemeral value in a lasting output"
		noInput   = "Variable does not take ephemeral values"
		sensitive = "for_each cannot be sensitive"
		ephemeral = "for_each cannot be ephemeral"
	)
	taker := func(inputs string) string {
		return "component \"c\" {\n  source = \"./taker\"\n  inputs = " + inputs + "\n}\n"
	}
	output := func(value string) string { return "output \"v\" {\n  type = string\n  value = " + value + "\n}\n" }
	each := func(forEach string) string {
		return "component \"c\" {\n  for_each = " + forEach + "\n  source = \"./taker\"\n}\n"
	}
	stackEach := func(forEach string) string {
		return "stack \"c\" {\n  for_each = " + forEach + "\n  source = \"./c\"\n}\n-- c/main.tfcomponent.hcl --\n"
	}
	for name, test := range map[string]struct {
		config string
		want   []string
	}{
		"local":                               {"locals {\n  v = [var.token, var.secret, terraform.applying]\n}\n", nil},
		"ephemeral variable of a module":      {taker(`{ token = var.token }`), nil},
		"through a local":                     {"locals {\n  v = \"x${var.token}\"\n}\n" + taker(`{ token = local.v }`), nil},
		"other variable of a module":          {taker(`{ plain = var.token }`), []string{noInput}},
		"null for other variable of a module": {taker(`{ plain = terraform.applying ? null : null }`), []string{noInput}},
		"part of a value": {
			"component \"c\" {\n  source = \"./keeper\"\n  inputs = { in = { a = [1, var.token] } }\n}\n",
			[]string{noInput},
		},
		"attribute that no variable has": {taker(`{ plain = "x", other = var.token }`), []string{"Input not declared"}},
		"inputs as a whole":              {taker(`terraform.applying ? { plain = "a" } : { plain = "b" }`), []string{noInput}},
		"inputs as a whole, all taken":   {taker(`terraform.applying ? { token = "a" } : { token = "b" }`), nil},
		"sensitive inputs as a whole":    {taker(`sensitive({ plain = "x" })`), nil},
		"unknown ephemeral inputs":       {taker(`merge(component.later.value, { token = var.token })`), []string{noInput}},
		"unknown inputs":                 {taker(`component.later.value`), nil},
		"ephemeral inputs of a stack": {"stack \"c\" {\n  source = \"./c\"\n  inputs = terraform.applying ? " +
			"{} : {}\n}\n-- c/main.tfcomponent.hcl --\nvariable \"x\" {\n  type = string\n  default = \"d\"\n}\n", []string{noInput}},
		"condition":                          {output(`var.token == "x" ? "a" : "b"`), []string{leak}},
		"template":                           {output(`"x${var.token}"`), []string{leak}},
		"function":                           {output(`upper(var.token)`), []string{leak}},
		"for expression":                     {output(`join("", [for x in [var.token] : x])`), []string{leak}},
		"filter of a for expression":         {output(`join("", [for x in ["a"] : x if var.token == "x"])`), []string{leak}},
		"splat":                              {output(`join("", [{ a = var.token }][*].a)`), []string{leak}},
		"terraform.applying":                 {output(`terraform.applying ? "a" : "b"`), []string{leak}},
		"ephemeralasnull":                    {output(`ephemeralasnull(var.token)`), nil},
		"nonsensitive is not lasting":        {output(`nonsensitive(var.token)`), []string{leak}},
		"issensitive of an ephemeral value":  {output(`tostring(issensitive(var.token))`), nil},
		"component for each sensitive":       {each(`var.secrets`), []string{sensitive}},
		"component for each of a sensitive":  {each(`toset([var.secret])`), []string{sensitive}},
		"component for each ephemeral":       {each(`terraform.applying ? { a = 1 } : { b = 1 }`), []string{ephemeral}},
		"component for each of an ephemeral": {each(`toset([var.token])`), []string{ephemeral}},
		"component for each ephemeral key":   {each(`{ (var.token) = 1 }`), []string{ephemeral}},
		"component for each nonsensitive":    {each(`nonsensitive(var.secrets)`), nil},
		"component for each with values":     {each(`{ a = var.token, b = var.secret }`), nil},
		"stack for each sensitive":           {stackEach(`var.secrets`), []string{sensitive}},
		"stack for each of an ephemeral":     {stackEach(`toset([var.token])`), []string{ephemeral}},
		"removed for each sensitive": {
			"removed {\n  for_each = var.secrets\n  from = component.gone[each.key]\n  source = \"./taker\"\n}\n",
			[]string{sensitive},
		},
		"removed for each of an ephemeral": {
			"removed {\n  for_each = toset([var.token])\n  from = component.gone[each.key]\n  source = \"./taker\"\n}\n",
			[]string{ephemeral},
		},
		"each.value ephemeral, taken": {
			"component \"c\" {\n  for_each = { a = var.token }\n  source = \"./taker\"\n  inputs = { token = each.value }\n}\n",
			nil,
		},
		"each.value ephemeral, not taken": {
			"component \"c\" {\n  for_each = { a = var.token }\n  source = \"./taker\"\n  inputs = { plain = each.value }\n}\n",
			[]string{noInput},
		},
		"depends_on a variable": {
			"component \"c\" {\n  source = \"./taker\"\n  depends_on = [var.token]\n}\n",
			[]string{"depends_on target unusable"},
		},
		"sensitive in an output": {output(`var.secret`), nil},
		"secret key in a wrong type for input": {
			"component \"c\" {\n  source = \"./only\"\n  inputs = { token = { (var.token) = 1 } }\n}\n",
			[]string{"Component inputs do not fit"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := secretsStack(t, test.config+"-- only/main.tf --\nvariable \"token\" {\n  type = string\n  ephemeral = true\n}\n")
			wantQuietSummaries(t, s, test.want...)
		})
	}
}

// A value that a plan was made with must be given again, even if there is a default.
func TestDefaultIsNoSubstituteForAGivenEphemeralValue(t *testing.T) {
	s := stacktest.InMemory(t, strings.Replace(takers, "DEFAULT", `default = "d"`, 1))
	s.Ephemeral["token"] = cty.StringVal("t1")
	plan := s.Plan(engine.Normal)
	if !plan.Inputs["token"].RequiredOnApply {
		t.Error("the given value is not required on apply")
	}
	delete(s.Ephemeral, "token")
	if _, diags := s.TryApply(plan); !strings.Contains(stacktest.Summaries(diags), "Value needed for variable") {
		t.Errorf("diagnostics: %s", stacktest.Explain(diags))
	}
}

// HCL takes marks off the collection of a for expression, and quotes keys. People must not see
// them.
func TestMessagesAboutLoopsHideSecrets(t *testing.T) {
	s := secretsStack(t, `
variable "tokens" {
  type      = list(string)
  ephemeral = true
}
variable "open" { type = list(string) }
locals { objects = sensitive([{ a = "psst" }]) }
`)
	s.Ephemeral["tokens"] = cty.ListVal([]cty.Value{cty.StringVal("hush")})
	s.Inputs["open"] = cty.ListVal([]cty.Value{cty.StringVal("shown")})
	config, diags := stackconfig.Load(s.Dir)
	if diags.HasErrors() {
		t.Fatal(stacktest.Explain(diags))
	}
	inputs := map[string]cty.Value{}
	for _, given := range []map[string]cty.Value{s.Inputs, s.Ephemeral} {
		for name, value := range given {
			inputs[name] = value
		}
	}
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{
		Options: stackruntime.Options{Config: config, Session: s.Open()}, State: s.State, Inputs: inputs,
	})
	for text, shows := range map[string]bool{
		`[for x in var.secrets : x + 1]`:                       false,
		`[for x in var.tokens : parseint(x, 10)]`:              false,
		`[for x in var.secrets : parseint("${x}", 10)]`:        false,
		`[for o in local.objects : o.a + 1]`:                   false,
		`[for i, o in local.objects : [for k in o : -k]]`:      false,
		`{ for x in [1, 2] : var.secret => x }`:                false,
		`{ for x in [var.token, var.token] : x => 1 }`:         false,
		`{ for x in concat(var.tokens, var.tokens) : x => 1 }`: false,
		`parseint(var.secret, 10)`:                             false,
		`[for x in var.open : x + 1]`:                          true,
		`[for x in var.open : parseint(x, 10)]`:                true,
		`{ for x in concat(var.open, var.open) : x => 1 }`:     true,
	} {
		e, diags := hclsyntax.ParseExpression([]byte(text), "<expression>", hcl.InitialPos)
		if !diags.HasErrors() {
			_, diags = inspector.EvalExpr(t.Context(), e)
		}
		if !diags.HasErrors() {
			t.Errorf("%s: no error", text)
		}
		sources := diagnostic.Sources{Files: map[string]*hcl.File{"<expression>": {Bytes: []byte(text)}}}
		var said strings.Builder
		for _, d := range diagnostic.All(diags, sources) {
			said.WriteString(d.Detail)
			if d.Snippet != nil {
				for _, v := range d.Snippet.Values {
					said.WriteString("\n" + v.Traversal + " " + v.Statement)
				}
			}
		}
		revealed := slices.ContainsFunc([]string{
			"hush", "shh", "psst", "shown",
		}, func(value string) bool { return strings.Contains(said.String(), value) })
		if revealed != shows {
			t.Errorf("%s: reveals the value: %v, want %v:\n%s", text, revealed, shows, said.String())
		}
	}
}
