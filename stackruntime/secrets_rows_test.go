// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// keeperModule has a sensitive output, and a resource with the input. takerModule has an ephemeral
// variable.
const keeperModule = `
-- keeper/main.tf --
variable "in" { type = any }
resource "terraform_data" "this" { triggers_replace = var.in }
output "out" {
  value     = var.in
  sensitive = true
}
-- taker/main.tf --
variable "token" {
  type      = string
  ephemeral = true
  default   = null
}
variable "plain" {
  type    = string
  default = "p"
}
resource "terraform_data" "this" { triggers_replace = var.plain }
`

const ephemeralAndPlain = `
-- main.tfcomponent.hcl --
variable "token" {
  type      = string
  ephemeral = true
  default   = null
}
variable "plain" {
  type    = string
  default = null
}
`

func TestRow056EphemeralVariableIsNeededAgain(t *testing.T) {
	s := stacktest.InMemory(t, ephemeralAndPlain)
	s.Ephemeral["token"], s.Inputs["plain"] = cty.StringVal("t"), cty.StringVal("p")
	same(t, "plan", "\ninput plain: create \"p\"\ninput token: create null, required on apply\n", stacktest.PlanText(s.Plan(engine.Normal)))
}

func TestRow057UnsetEphemeralVariableIsNot(t *testing.T) {
	s := stacktest.InMemory(t, ephemeralAndPlain)
	plan := s.Plan(engine.Normal)
	same(t, "plan", "\ninput plain: create null\ninput token: create null\n", stacktest.PlanText(plan))
	if ty := plan.Inputs["token"].After.Type(); ty != cty.String {
		t.Errorf("the null is of type %s, want string", ty.FriendlyName())
	}
}

func TestRow059SensitiveOutput(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "c" {
  source = "./keeper"
  inputs = { in = "x" }
}
output "from_module" {
  type  = string
  value = component.c.out
}
output "declared" {
  type      = string
  value     = "y"
  sensitive = true
}
output "nested" {
  type  = object({ open = string, closed = string })
  value = { open = "o", closed = component.c.out }
}
`+keeperModule)
	plan := s.Plan(engine.Normal)
	outputs := map[string]cty.Value{}
	for name, output := range plan.Outputs {
		outputs[name] = output.After
	}
	want := `
declared = (sensitive "y")
from_module = (sensitive "x")
nested = {closed = (sensitive "x"), open = "o"}
`
	same(t, "planned outputs", want, stacktest.ValuesText(outputs))
	s.Apply(plan)
	same(t, "outputs", want, stacktest.ValuesText(s.State.Outputs))
}

// sensitiveChild has a sensitive output of a child stack at the root, and in another component.
const sensitiveChild = `
-- main.tfcomponent.hcl --
stack "child" { source = "./child" }
component "user" {
  source = "./keeper"
  inputs = { in = { id = "i", secret = stack.child.secret } }
}
output "secret" {
  type  = string
  value = stack.child.secret
}
output "user" {
  type  = object({ id = string, secret = string })
  value = component.user.out
}
-- child/main.tfcomponent.hcl --
component "c" {
  source = "../keeper"
  inputs = { in = "x" }
}
output "secret" {
  type  = string
  value = component.c.out
}
` + keeperModule

func TestRow060SensitiveOutputOfChild(t *testing.T) {
	s := stacktest.InMemory(t, sensitiveChild)
	plan := s.Plan(engine.Normal)
	same(t, "planned output", `(sensitive "x")`, stacktest.ValueText(plan.Outputs["secret"].After))
	s.Apply(plan)
	same(t, "output", `(sensitive "x")`, stacktest.ValueText(s.State.Outputs["secret"]))
}

func TestRow061SensitiveInputFromChild(t *testing.T) {
	s := stacktest.InMemory(t, sensitiveChild)
	plan := s.Plan(engine.Normal)
	user := plannedComponent(t, plan, "component.user")
	same(t, "planned inputs", "in = {id = \"i\", secret = (sensitive \"x\")}\n", stacktest.ValuesText(user.Inputs))
	if !marks.Has(plan.Outputs["user"].After, marks.Sensitive) {
		t.Errorf("output user = %s, want it sensitive", stacktest.ValueText(plan.Outputs["user"].After))
	}
}

func plannedComponent(t *testing.T, plan *stackplan.Plan, addr string) *stackplan.Component {
	t.Helper()
	at := slices.IndexFunc(plan.Components, func(c *stackplan.Component) bool { return c.Addr.String() == addr })
	if at < 0 {
		t.Fatalf("the plan has no %s", addr)
	}
	return plan.Components[at]
}

const sensitiveThrough = `
-- main.tfcomponent.hcl --
variable "secret" {
  type      = string
  sensitive = true
}
component "c" {
  source = "./keeper"
  inputs = { in = var.secret }
}
stack "child" {
  source = "./child"
  inputs = { secret = var.secret }
}
output "own" {
  type  = string
  value = component.c.out
}
output "child" {
  type  = string
  value = stack.child.out
}
-- child/main.tfcomponent.hcl --
variable "secret" { type = string }
component "c" {
  source = "../keeper"
  inputs = { in = var.secret }
}
output "out" {
  type  = string
  value = component.c.out
}
` + keeperModule

func TestRow065SensitiveVariableThroughComponents(t *testing.T) {
	s := stacktest.InMemory(t, sensitiveThrough)
	s.Inputs["secret"] = cty.StringVal("x")
	plan := s.Plan(engine.Normal)
	for _, addr := range []string{"component.c", "stack.child.component.c"} {
		c := plannedComponent(t, plan, addr)
		same(t, "inputs of "+addr, "in = (sensitive \"x\")\n", stacktest.ValuesText(c.Inputs))
		same(t, "outputs of "+addr, "out = (sensitive \"x\")\n", stacktest.ValuesText(c.Outputs))
		if after := c.Changes[0].After; !marks.Has(after.GetAttr("triggers_replace"), marks.Sensitive) {
			t.Errorf("planned resource in %s: %#v, want triggers_replace to be sensitive", addr, after)
		}
	}
	s.Apply(plan)
	same(t, "outputs", "child = (sensitive \"x\")\nown = (sensitive \"x\")\n", stacktest.ValuesText(s.State.Outputs))
}

func TestRow181SensitiveValuesAreRecordedWithMarks(t *testing.T) {
	s := stacktest.InMemory(t, sensitiveThrough)
	s.Inputs["secret"] = cty.StringVal("x")
	s.Apply(s.Plan(engine.Normal))
	same(t, "state", `
input secret = (sensitive "x")
component.c
  terraform_data.this
  in in = (sensitive "x")
  out out = (sensitive "x")
stack.child.component.c
  terraform_data.this
  in in = (sensitive "x")
  out out = (sensitive "x")
output child = (sensitive "x")
output own = (sensitive "x")
`, stacktest.StateText(s.State))
}

// Messages of rules are shown, so they must not have secrets in them, even if the rule holds.
func TestRowsValidationWithSecrets(t *testing.T) {
	const (
		secret    = "error main.tfcomponent.hcl:6: Validation message would reveal a sensitive value\n"
		ephemeral = "error main.tfcomponent.hcl:6: Validation message would reveal an ephemeral value\n"
	)
	good, bad := cty.StringVal("a"), cty.StringVal("b")
	for name, test := range map[string]struct {
		argument, message string
		ruleCase
	}{
		"087_sensitive_message": {"sensitive", `"not ${var.v}"`, ruleCase{bad, rejected + secret, []string{"The message cannot be shown"}}},
		"087_partly_sensitive": {
			"sensitive",
			`var.v == "" ? "empty" : "wrong"`,
			ruleCase{bad, rejected + secret, []string{"The message cannot be shown"}},
		},
		"088_ephemeral_message": {
			"ephemeral",
			`"not ${var.v}"`,
			ruleCase{bad, rejected + ephemeral, []string{"The message cannot be shown"}},
		},
		"090_sensitive_though_holds":  {"sensitive", `"not ${var.v}"`, ruleCase{good, secret, nil}},
		"090_ephemeral_though_holds":  {"ephemeral", `"not ${var.v}"`, ruleCase{good, ephemeral, nil}},
		"098_sensitive_plain_message": {"sensitive", `"wrong"`, ruleCase{bad, rejected, []string{"wrong\n"}}},
		"098_nonsensitive_in_message": {
			"sensitive",
			`"only ${nonsensitive(length(var.v))} long"`,
			ruleCase{bad, rejected, []string{"only 1 long\n"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.check(t, `
variable "v" {
  type      = string
  `+test.argument+` = true
  validation {
    condition     = var.v == "a"
    error_message = `+test.message+`
  }
}
`, "v")
		})
	}
	for name, test := range map[string]struct{ value, want string }{
		"082_too_short":     {"Ab1", "Too short."},
		"082_no_upper_case": {"abcdefg1", "No upper case."},
		"082_no_digit":      {"Abcdefgh", "No digit."},
	} {
		t.Run(name, func(t *testing.T) {
			ruleCase{cty.StringVal(test.value), rejected, []string{test.want + "\n"}}.check(t, `
variable "password" {
  type      = string
  sensitive = true
  validation {
    condition     = length(var.password) >= 8
    error_message = "Too short."
  }
  validation {
    condition     = can(regex("[A-Z]", var.password))
    error_message = "No upper case."
  }
  validation {
    condition     = can(regex("[0-9]", var.password))
    error_message = "No digit."
  }
}
`, "password")
		})
	}
}

const takers = `
-- main.tfcomponent.hcl --
variable "token" {
  type      = string
  ephemeral = true
  DEFAULT
}
component "needs" {
  source = "./taker"
  inputs = { token = var.token }
}
component "free" {
  source = "./taker"
}
` + keeperModule

// takersState is the state where all went well: ephemeral values are null.
const takersState = `
input token = null
component.free
  terraform_data.this
  in plain = "p"
  in token = null
component.needs
  terraform_data.this
  in plain = "p"
  in token = null
`

func TestRow172EphemeralValueChangesBetweenPlanAndApply(t *testing.T) {
	s := stacktest.InMemory(t, strings.Replace(takers, "DEFAULT", "", 1))
	s.Ephemeral["token"] = cty.StringVal("t1")
	plan := s.Plan(engine.Normal)
	s.Ephemeral["token"] = cty.StringVal("t2")
	s.Apply(plan)
	same(t, "state", takersState, stacktest.StateText(s.State))
}

func TestRow173EphemeralValueMissingAtApply(t *testing.T) {
	s := stacktest.InMemory(t, strings.Replace(takers, "DEFAULT", "", 1))
	s.Ephemeral["token"] = cty.StringVal("t1")
	plan := s.Plan(engine.Normal)
	delete(s.Ephemeral, "token")
	_, diags := s.TryApply(plan)
	if got := stacktest.Summaries(diags); !strings.Contains(got, "error main.tfcomponent.hcl:1: Value needed for variable\n") {
		t.Errorf("diagnostics: %s\nwant one for the variable", stacktest.Explain(diags))
	}
	same(t, "state", `
component.free
  terraform_data.this
  in plain = "p"
  in token = null
component.needs
`, stacktest.StateText(s.State))
}

func TestRow174EphemeralDefault(t *testing.T) {
	s := stacktest.InMemory(t, strings.Replace(takers, "DEFAULT", `default = "d"`, 1))
	plan := s.Plan(engine.Normal)
	s.Apply(plan)
	same(t, "state", takersState, stacktest.StateText(s.State))
}

// Row 230, for the root stack and for a child.
func TestRow230ValuesOfVariables(t *testing.T) {
	const misfit = "Value does not fit the variable"
	for name, test := range map[string]struct {
		given       cty.Value
		expression  string
		want        string
		root, child string // summaries of errors
	}{
		"known":           {cty.StringVal("x"), `"x"`, `"x"`, "", ""},
		"unknown_string":  {cty.UnknownVal(cty.String), `uuid()`, `(unknown)`, "", ""},
		"unknown_dynamic": {cty.DynamicVal, `jsondecode(uuid())`, `(unknown)`, "", ""},
		"bool":            {cty.True, `true`, `"true"`, "", ""},
		"object":          {cty.EmptyObjectVal, `{}`, ``, misfit, "Embedded stack inputs do not fit"},
	} {
		check := func(kind, config, wantError string) {
			t.Run(kind+"_"+name, func(t *testing.T) {
				s := stacktest.InMemory(t, config)
				if kind == "root" {
					s.Inputs["v"] = test.given
				}
				plan, diags := s.TryPlan(engine.Normal)
				if wantError != "" {
					if len(diags) != 1 || diags[0].Summary != wantError {
						t.Errorf("diagnostics: %s\nwant one: %s", stacktest.Explain(diags), wantError)
					}
					return
				}
				if diags.HasErrors() {
					t.Fatal(stacktest.Explain(diags))
				}
				after := plan.Outputs["v"].After
				same(t, "value", test.want, stacktest.ValueText(after))
				if after.Type() != cty.String {
					t.Errorf("type %s, want string", after.Type().FriendlyName())
				}
			})
		}
		const variable = "variable \"v\" { type = string }\noutput \"v\" {\n  type = string\n  value = var.v\n}\n"
		check("root", "-- main.tfcomponent.hcl --\n"+variable, test.root)
		check("child", "-- main.tfcomponent.hcl --\nstack \"c\" {\n  source = \"./c\"\n  inputs = { v = "+test.expression+" }\n}\n"+
			"output \"v\" {\n  type = string\n  value = stack.c.v\n}\n-- c/main.tfcomponent.hcl --\n"+variable, test.child)
	}
}

const ephemeralHead = `
-- main.tfcomponent.hcl --
variable "token" {
  type      = string
  ephemeral = true
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "secrets" {
  type      = set(string)
  sensitive = true
}
component "later" {
  source = "./later"
  inputs = { in = { plain = "p" } }
}
`

// secretsStack is a stack with values for its variables.
func secretsStack(t *testing.T, config string) *stacktest.Stack {
	t.Helper()
	s := stacktest.InMemory(t, ephemeralHead+config+keeperModule+laterModule)
	s.Ephemeral["token"], s.Inputs["secret"] = cty.StringVal("hush"), cty.StringVal("shh")
	s.Inputs["secrets"] = cty.SetVal([]cty.Value{cty.StringVal("psst")})
	return s
}

// wantQuietSummaries compares the summaries of diagnostics, which must not reveal any secret.
func wantQuietSummaries(t *testing.T, s *stacktest.Stack, want ...string) *stackplan.Plan {
	t.Helper()
	if diags := s.Validate(); len(diags) > 0 && len(want) == 0 {
		t.Errorf("validate: %s", stacktest.Explain(diags))
	}
	plan, diags := s.TryPlan(engine.Normal)
	var got []string
	for _, diag := range diags {
		got = append(got, diag.Summary)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("diagnostics: %s\nwant %q", stacktest.Explain(diags), want)
	}
	for _, secret := range []string{"hush", "shh", "psst"} {
		if strings.Contains(stacktest.Explain(diags), secret) {
			t.Errorf("a diagnostic reveals %q:\n%s", secret, stacktest.Explain(diags))
		}
	}
	return plan
}

func TestRow231EphemeralValueForChild(t *testing.T) {
	const child = `
stack "child" {
  source = "./child"
  inputs = { token = var.token }
}
-- child/main.tfcomponent.hcl --
variable "token" {
  type = string
  ARGUMENT
}
`
	wantQuietSummaries(t, secretsStack(t, strings.Replace(child, "ARGUMENT", "ephemeral = true", 1)))
	wantQuietSummaries(t, secretsStack(t, strings.Replace(child, "ARGUMENT", "", 1)), "Variable does not take ephemeral values")
}

func TestRow232VariablesGivenAtApply(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "plain" { type = string }
variable "secret" {
  type      = string
  sensitive = true
}
`)
	s.Inputs["plain"], s.Inputs["secret"] = cty.StringVal("a"), cty.StringVal("b")
	plan := s.Plan(engine.Normal)
	give := func(name, value string) func(*stackruntime.ApplyRequest) {
		return func(req *stackruntime.ApplyRequest) { req.Inputs = map[string]cty.Value{name: cty.StringVal(value)} }
	}
	for _, name := range []string{"plain", "secret"} {
		_, diags := s.TryApply(plan, give(name, "changed"))
		line := map[string]int{"plain": 1, "secret": 2}[name]
		same(t, "diagnostics of a changed "+name, fmt.Sprintf("error main.tfcomponent.hcl:%d: Variable changed since planning\n", line),
			stacktest.Summaries(diags))
		if strings.Contains(stacktest.Explain(diags), "changed\"") {
			t.Errorf("the diagnostic reveals the value: %s", stacktest.Explain(diags))
		}
	}
	s.Apply(plan, give("plain", "a"))
	s.Apply(plan, give("secret", "b"))
	same(t, "state", "input plain = \"a\"\ninput secret = (sensitive \"b\")\n", stacktest.StateText(s.State))
}

func TestRow233ChangesOfRootInputs(t *testing.T) {
	const variable = "-- main.tfcomponent.hcl --\nvariable \"v\" {\n  type = string\n  default = null\n  ARGUMENTS\n}\n"
	null := cty.NullVal(cty.String)
	for name, test := range map[string]struct {
		before        cty.Value
		beforeArgs    string
		after         cty.Value
		arguments     string
		wantAction    string
		wantNeedAgain bool
	}{
		"null to plain":                   {null, "", cty.StringVal("x"), "", `update "x"`, false},
		"null to sensitive":               {null, "", cty.StringVal("x"), "sensitive = true", `update (sensitive "x")`, false},
		"null to ephemeral":               {null, "", cty.StringVal("x"), "ephemeral = true", "update null", true},
		"null to ephemeral and sensitive": {null, "", cty.StringVal("x"), "ephemeral = true\n  sensitive = true", "update null", true},
		"plain to sensitive":              {cty.StringVal("x"), "", cty.StringVal("x"), "sensitive = true", `update (sensitive "x")`, false},
		"ephemeral to plain":              {cty.StringVal("x"), "ephemeral = true", cty.StringVal("x"), "", `update "x"`, false},
		"ephemeral as before":             {cty.StringVal("x"), "ephemeral = true", cty.StringVal("x"), "ephemeral = true", "update null", true},
		"plain as before":                 {cty.StringVal("x"), "", cty.StringVal("x"), "", `no-op "x"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stacktest.InMemory(t, strings.Replace(variable, "ARGUMENTS", test.beforeArgs, 1))
			s.Inputs["v"] = test.before
			if test.beforeArgs == "ephemeral = true" {
				s.Ephemeral["v"] = test.before
			}
			s.Apply(s.Plan(engine.Normal))
			s.Write(strings.Replace(variable, "ARGUMENTS", test.arguments, 1))
			delete(s.Ephemeral, "v")
			s.Inputs["v"] = test.after
			want := "input v: " + test.wantAction
			if test.wantNeedAgain {
				want += ", required on apply"
			}
			same(t, "plan", want+"\n", stacktest.PlanText(s.Plan(engine.Normal)))
		})
	}
}

func TestRow234Outputs(t *testing.T) {
	const wrongType = "Output value has the wrong type"
	for name, test := range map[string]struct{ typ, value, want, summary string }{
		"valid":              {"string", `"x"`, `"x"`, ""},
		"converted":          {"string", `1`, `"1"`, ""},
		"with default":       {`object({ a = string, b = optional(string, "d") })`, `{ a = "x", c = 1 }`, `{a = "x", b = "d"}`, ""},
		"static mismatch":    {"number", `"x"`, "", wrongType},
		"dynamic mismatch":   {"number", `local.text`, "", wrongType},
		"unknown":            {"string", `uuid()`, "(unknown)", ""},
		"unknown of no type": {"string", `jsondecode(uuid())`, "(unknown)", ""},
		"placeholder":        {"string", `local.broken`, "", "Invalid function argument"},
		"ephemeral":          {"string", `var.token`, "", "Ephemeral value in a lasting output"},
		"ephemeral part":     {"list(string)", `["a", var.token]`, "", "Ephemeral value in a lasting output"},
		"ephemeral dropped":  {"object({ a = string })", `{ a = "x", b = var.token }`, `{a = "x"}`, ""},
	} {
		broken := ""
		if name == "placeholder" {
			broken = "  broken = parseint(\"x\", 10)\n"
		}
		output := "output \"v\" {\n  type = " + test.typ + "\n  value = VALUE\n}\n"
		own := strings.Replace(output, "VALUE", test.value, 1) + "locals {\n  text = \"x\"\n" + broken + "}\n"
		for kind, config := range map[string]string{
			"root": own,
			"child": "stack \"c\" {\n  source = \"./c\"\n  inputs = { token = var.token }\n}\n" + strings.Replace(output, "VALUE", "stack.c.v", 1) +
				"-- c/main.tfcomponent.hcl --\nvariable \"token\" {\n  type = string\n  ephemeral = true\n}\n" + own,
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				var want []string
				if test.summary != "" {
					want = []string{test.summary}
				}
				plan := wantQuietSummaries(t, secretsStack(t, config), want...)
				if len(want) == 0 {
					same(t, "value", test.want, stacktest.ValueText(plan.Outputs["v"].After))
				}
			})
		}
	}
}

func TestRow235EphemeralRootOutputs(t *testing.T) {
	const root, notEphemeral = "Root outputs cannot be ephemeral", "Output should be ephemeral but is not"
	const leak = "Ephemeral value in a lasting output"
	for name, test := range map[string]struct {
		declared bool
		value    string
		want     []string
	}{
		"declared, ephemeral":         {true, `var.token`, []string{root}},
		"declared, not ephemeral":     {true, `"x"`, []string{notEphemeral, root}},
		"not declared, ephemeral":     {false, `var.token`, []string{leak}},
		"not declared, not ephemeral": {false, `"x"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			wantQuietSummaries(t, secretsStack(t, fmt.Sprintf("output \"v\" {\n  type = string\n  value = %s\n  ephemeral = %t\n}\n",
				test.value, test.declared)), test.want...)
		})
	}
}

func TestRow236EphemeralOutputOfChild(t *testing.T) {
	const config = `
stack "child" {
  source = "./child"
  inputs = { token = var.token }
}
component "user" {
  source = "./taker"
  inputs = { token = stack.child.out }
}
-- child/main.tfcomponent.hcl --
variable "token" {
  type      = string
  ephemeral = true
}
output "out" {
  type      = string
  value     = "x${var.token}"
  ephemeral = true
}
`
	s := secretsStack(t, config)
	s.Apply(wantQuietSummaries(t, s))
	if v := s.State.Inputs["token"]; !v.IsNull() {
		t.Errorf("recorded %s", stacktest.ValueText(v))
	}
	wantQuietSummaries(t, secretsStack(t, strings.Replace(config, "value     = \"x${var.token}\"", "value = \"x\"", 1)),
		"Output should be ephemeral but is not")
}
