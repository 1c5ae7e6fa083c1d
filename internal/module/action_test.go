// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
)

const nativeAction = `
resource "terraform_data" "a" {
  for_each = toset(["k"])
  lifecycle {
    action_trigger {
      events    = [before_create, after_update]
      condition = each.key == "k"
      actions   = [action.fake_do.x[each.key], action.fake_do.y]
    }
  }
}
action "fake_do" "x" {
  for_each = toset(["k"])
  provider = fake.other
  config {
    name = local.n
  }
}
action "fake_do" "y" {}
locals {
  n = 1
}
`

const jsonAction = `{
  "resource": {"terraform_data": {"a": {
    "for_each": "${toset([\"k\"])}",
    "lifecycle": {"action_trigger": {
      "events": ["before_create", "after_update"],
      "condition": "${each.key == \"k\"}",
      "actions": ["action.fake_do.x[each.key]", "action.fake_do.y"]
    }}
  }}},
  "action": {"fake_do": {
    "x": {"for_each": "${toset([\"k\"])}", "provider": "fake.other", "config": {"name": "${local.n}"}},
    "y": {}
  }},
  "locals": {"n": 1}
}`

func TestActions(t *testing.T) {
	for file, text := range map[string]string{"main.tf": nativeAction, "main.tf.json": jsonAction} {
		t.Run(file, func(t *testing.T) {
			tree := loadValid(t, map[string]string{file: text})
			a := tree.Resources[stackaddrs.Resource{Type: "terraform_data", Name: "a"}]
			if len(a.ActionTriggers) != 1 || len(tree.Actions) != 2 {
				t.Fatalf("there are the triggers %v and the actions %v", a.ActionTriggers, tree.Actions)
			}
			trigger, x := a.ActionTriggers[0], tree.Actions["fake_do.x"]
			var actions []string
			for _, expr := range trigger.Actions {
				actions = append(actions, names(expr.Refs))
			}
			for _, c := range []struct{ what, got, want string }{
				{"events", fmt.Sprint(trigger.Events), "[before_create after_update]"},
				{"condition", names(trigger.Condition.Refs), "each.key"},
				{"actions", strings.Join(actions, ", "), "action.fake_do.x each.key, action.fake_do.y"},
				{"provider", x.Provider.String(), "fake.other"},
				{"config", names(x.Refs), "local.n"},
				{"slots", fmt.Sprint(len(tree.ProviderUses)), "3"}, // with the default one, of y and of the resource
			} {
				if c.got != c.want {
					t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
				}
			}
		})
	}
}

func TestWrongActions(t *testing.T) {
	for text, want := range map[string]string{
		"events = [after_create]":                                                      "Missing required argument",
		"actions = [action.a.b]":                                                       "Missing required argument",
		"events = []\nactions = [action.a.b]":                                          "Empty action trigger",
		"events = [after_create]\nactions = []":                                        "Empty action trigger",
		"events = [after_change]\nactions = [action.a.b]":                              "Invalid action trigger event",
		"events = [\"created\"]\nactions = [action.a.b]":                               "Invalid action trigger event",
		"events = after_create\nactions = [action.a.b]":                                "Invalid expression",
		"events = [after_create]\nactions = [action.a]":                                "Invalid reference",
		"events = [after_create, before_update, after_create]\nactions = [action.a.b]": "Duplicate action trigger event",
		"events = [after_create]\nactions = [action.a.b]\n}\nother {":                  "Unsupported block type",
	} {
		_, diags := load(t, map[string]string{"main.tf": "resource \"terraform_data\" \"a\" {\nlifecycle {\naction_trigger {\n" + text +
			"\n}\n}\n}\naction \"a\" \"b\" {}\n"})
		if len(diags) != 1 || diags[0].Summary != want {
			t.Errorf("%s: got %v, want %s", text, diags, want)
		}
	}
	for text, want := range map[string]string{
		"action \"a\" \"b\" {}\naction \"a\" \"b\" {}":             "Duplicate module object",
		"action \"a\" \"b\" {\nconfig {}\nconfig {}\n}":            "Duplicate nested block",
		"action \"a\" \"b\" {\ncount = 1\nfor_each = {}\n}":        "Both count and for_each",
		"action \"a\" \"b\" {\nname = 1\n}":                        "Unsupported argument",
		"data \"a\" \"b\" {\nlifecycle {\naction_trigger {}\n}\n}": "Trigger without changes",
	} {
		if _, diags := load(t, map[string]string{"main.tf": text}); len(diags) != 1 || diags[0].Summary != want {
			t.Errorf("%s: got %v, want %s", text, diags, want)
		}
	}
}
