// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ruleCase is a value for a variable with validation rules, with the expected diagnostics.
type ruleCase struct {
	value cty.Value
	want  string // as [stacktest.Summaries] prints it; the variable is in line 1

	// details are the beginnings of the diagnostics' details, in any order.
	details []string
}

const rejected = "error main.tfcomponent.hcl:1: Variable value rejected\n"

func (c ruleCase) check(t *testing.T, config, variable string) {
	t.Helper()
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+strings.TrimLeft(config, "\n"))
	if diags := s.Validate(); len(diags) > 0 {
		t.Fatalf("validate evaluates no rules, but says: %s", stacktest.Explain(diags))
	}
	s.Inputs[variable] = c.value
	plan, diags := s.TryPlan(engine.Normal)
	if diff := cmp.Diff(c.want, stacktest.Summaries(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s%s", diff, stacktest.Explain(diags))
	}
	for _, detail := range c.details {
		if !anyDetail(diags, detail) {
			t.Errorf("no diagnostic says %q:\n%s", detail, stacktest.Explain(diags))
		}
	}
	if plan.Applyable != (c.want == "") {
		t.Errorf("applyable: %v", plan.Applyable)
	}
}

func anyDetail(diags hcl.Diagnostics, prefix string) bool {
	for _, diag := range diags {
		if strings.HasPrefix(diag.Detail, prefix) {
			return true
		}
	}
	return false
}

func list(items ...string) cty.Value {
	values := []cty.Value{}
	for _, item := range items {
		values = append(values, cty.StringVal(item))
	}
	return cty.ListVal(values)
}

func tags(pairs ...string) cty.Value {
	values := map[string]cty.Value{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = cty.StringVal(pairs[i+1])
	}
	return cty.MapVal(values)
}

// Typical rules, with values that they accept and that they don't.
func TestRowsValidationOfValues(t *testing.T) {
	const (
		port = `
variable "port" {
  type = number
  validation {
    condition     = var.port >= 1024 && var.port <= 65535
    error_message = "The port must be between 1024 and 65535, not ${var.port}."
  }
}
`
		names = `
variable "names" {
  type = list(string)
  validation {
    condition     = length(var.names) <= 3
    error_message = "No more than three names."
  }
  validation {
    condition     = alltrue([for n in var.names : n != ""])
    error_message = "No empty names."
  }
}
`
		settings = `
variable "settings" {
  type = map(string)
  validation {
    condition     = contains(keys(var.settings), "region")
    error_message = "The settings need a region."
  }
}
`
		password = `
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
}
`
		apiKey = `
variable "api_key" {
  type = string
  validation {
    condition     = length(var.api_key) == 8
    error_message = "API keys have eight characters."
  }
  validation {
    condition     = can(regex("^[0-9a-f]*$", var.api_key))
    error_message = "API keys are hexadecimal."
  }
}
`
		email = `
variable "email" {
  type = string
  validation {
    condition     = can(regex("^[a-z.]+@[a-z.]+$", var.email))
    error_message = "Not an e-mail address."
  }
}
`
		ip = `
variable "ip" {
  type = string
  validation {
    condition     = can(cidrnetmask("${var.ip}/32"))
    error_message = "Not an IPv4 address."
  }
}
`
		environment = `
variable "environment" {
  type = string
  validation {
    condition     = contains(["dev", "prod"], var.environment)
    error_message = "The environment is dev or prod."
  }
}
`
		tagRules = `
variable "tags" {
  type = map(string)
  validation {
    condition     = alltrue([for key in keys(var.tags) : can(regex("^[a-z]+$", key))])
    error_message = "Keys are lower case."
  }
  validation {
    condition     = contains(keys(var.tags), "owner")
    error_message = "There is no owner."
  }
  validation {
    condition     = alltrue([for value in values(var.tags) : value != ""])
    error_message = "A value is empty."
  }
  validation {
    condition     = alltrue([for value in values(var.tags) : length(value) <= 5])
    error_message = "A value is too long."
  }
}
`
	)
	for name, test := range map[string]struct {
		config, variable string
		ruleCase
	}{
		"078_in_range": {port, "port", ruleCase{cty.NumberIntVal(8080), "", nil}},
		"078_out_of_range": {
			port,
			"port",
			ruleCase{cty.NumberIntVal(80), rejected, []string{"The port must be between 1024 and 65535, not 80."}},
		},
		"079_too_long":         {names, "names", ruleCase{list("a", "b", "c", "d"), rejected, []string{"No more than three names."}}},
		"079_empty_string":     {names, "names", ruleCase{list("a", ""), rejected, []string{"No empty names."}}},
		"080_missing_key":      {settings, "settings", ruleCase{tags("size", "1"), rejected, []string{"The settings need a region."}}},
		"081_sensitive_passes": {password, "password", ruleCase{cty.StringVal("Long enough"), "", nil}},
		"083_wrong_length":     {apiKey, "api_key", ruleCase{cty.StringVal("abc"), rejected, []string{"API keys have eight characters."}}},
		"083_wrong_characters": {apiKey, "api_key", ruleCase{cty.StringVal("abcdefgh"), rejected, []string{"API keys are hexadecimal."}}},
		"084_email":            {email, "email", ruleCase{cty.StringVal("a.b@example.com"), "", nil}},
		"084_ip":               {ip, "ip", ruleCase{cty.StringVal("192.0.2.1"), "", nil}},
		"084_environment":      {environment, "environment", ruleCase{cty.StringVal("prod"), "", nil}},
		"084_tags":             {tagRules, "tags", ruleCase{tags("owner", "me"), "", nil}},
		"085_no_email":         {email, "email", ruleCase{cty.StringVal("example.com"), rejected, []string{"Not an e-mail address."}}},
		"085_no_ip":            {ip, "ip", ruleCase{cty.StringVal("192.0.2.256"), rejected, []string{"Not an IPv4 address."}}},
		"085_no_environment": {
			environment,
			"environment",
			ruleCase{cty.StringVal("qa"), rejected, []string{"The environment is dev or prod."}},
		},
		"086_key_format":        {tagRules, "tags", ruleCase{tags("owner", "me", "Key", "v"), rejected, []string{"Keys are lower case."}}},
		"086_missing_owner":     {tagRules, "tags", ruleCase{tags("key", "v"), rejected, []string{"There is no owner."}}},
		"086_empty_value":       {tagRules, "tags", ruleCase{tags("owner", ""), rejected, []string{"A value is empty."}}},
		"086_value_too_long":    {tagRules, "tags", ruleCase{tags("owner", "everyone"), rejected, []string{"A value is too long."}}},
		"099_no_rule_fails":     {names, "names", ruleCase{list("a"), "", nil}},
		"099_first_rule_fails":  {names, "names", ruleCase{list("a", "b", "c", "d"), rejected, []string{"No more than three names."}}},
		"099_second_rule_fails": {names, "names", ruleCase{list(""), rejected, []string{"No empty names."}}},
		"099_both_rules_fail": {
			names,
			"names",
			ruleCase{list("a", "b", "c", ""), rejected + rejected, []string{"No more than three names.", "No empty names."}},
		},
	} {
		t.Run(name, func(t *testing.T) { test.check(t, test.config, test.variable) })
	}
}

// Conditions and messages that are not good themselves. The variable is a string, and "a" is the
// good value.
func TestRowsValidationRules(t *testing.T) {
	const (
		noAnswer = "error main.tfcomponent.hcl:4: Validation condition gave no yes/no answer\n"
		unusable = "error main.tfcomponent.hcl:5: Unusable validation message\n"
		fallback = "The condition does not hold, and its message could not be produced."
	)
	good, bad := cty.StringVal("a"), cty.StringVal("b")
	for name, test := range map[string]struct {
		condition, message string
		ruleCase
	}{
		"089_message_is_a_set":                  {`var.v == "a"`, `toset(["x", "y"])`, ruleCase{bad, rejected + unusable, []string{fallback}}},
		"092_condition_unknown":                 {`var.v == uuid()`, `"no"`, ruleCase{bad, "", nil}},
		"092_condition_unknown_of_unknown_type": {`jsondecode("${var.v}${uuid()}")`, `"no"`, ruleCase{bad, "", nil}},
		"093_condition_null":                    {`var.v == "b" ? null : true`, `"no"`, ruleCase{bad, noAnswer, nil}},
		"094_condition_a_list":                  {`[var.v]`, `"no"`, ruleCase{bad, noAnswer, nil}},
		"095_condition_fails":                   {`var.v + 1 > 0`, `"no"`, ruleCase{bad, "error main.tfcomponent.hcl:4: Invalid operand\n", nil}},
		"096_message_unknown":                   {`var.v == "a"`, `uuid()`, ruleCase{bad, unusable, nil}},
		"096_message_unknown_condition_true":    {`var.v == "a"`, `uuid()`, ruleCase{good, unusable, nil}},
		"097_message_null":                      {`var.v == "a"`, `var.v == "b" ? null : "x"`, ruleCase{bad, rejected, []string{fallback}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.check(t, `
variable "v" {
  type = string
  validation {
    condition     = `+test.condition+`
    error_message = `+test.message+`
  }
}
`, "v")
		})
	}
}

// Rules of an embedded stack see the values that the call passes, in each instance.
func TestRow100ValidationInEmbeddedStack(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "sizes" { type = map(number) }
stack "child" {
  for_each = var.sizes
  source   = "./child"
  inputs   = { size = each.value + 1 }
}
-- child/main.tfcomponent.hcl --
variable "size" {
  type = number
  validation {
    condition     = var.size <= 3
    error_message = "Size ${var.size} is more than 3."
  }
}
`)
	sizes := func(b int64) cty.Value {
		return cty.MapVal(map[string]cty.Value{"a": cty.NumberIntVal(1), "b": cty.NumberIntVal(b)})
	}
	s.Inputs["sizes"] = sizes(2)
	s.Plan(engine.Normal)
	s.Inputs["sizes"] = sizes(3)
	_, diags := s.TryPlan(engine.Normal)
	if got, want := stacktest.Summaries(diags), "error child/main.tfcomponent.hcl:1: Variable value rejected\n"; got != want {
		t.Fatalf("diagnostics: %s, want %s", got, want)
	}
	if !anyDetail(diags, "Size 4 is more than 3.") {
		t.Errorf("the message is not that of the rule: %s", stacktest.Explain(diags))
	}
}
