// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

const deployFile = "live/main.tfdeploy.hcl"

const deployed = `
-- live/main.tfcomponent.hcl --
variable "region" {
  type        = string
  description = "Where it runs."
}
variable "size" {
  type    = number
  default = 1
}
variable "token" {
  type      = string
  ephemeral = true
}
output "where" {
  type  = string
  value = var.region
}
-- live/main.tfdeploy.hcl --
identity_token "cloud" {
  audience = ["cloud.example.com"]
}
store "varset" "shared" {
  name     = "shared"
  category = "env"
}
locals {
  region = "eu"
}
deployment "production" {
  inputs = {
    region = local.region
    token  = identity_token.cloud.jwt
  }
  deployment_group = deployment_group.late
}
deployment_group "late" {
  auto_approve_checks = [deployment_auto_approve.small]
}
deployment_auto_approve "small" {
  check {
    condition = context.plan.changes.total < 5
    reason    = "Too much."
  }
}
publish_output "where" {
  value = deployment.production.where
}
`

// Deployment files are checked while they are typed, against component files as they are in the
// editor.
func TestDeploymentDiagnostics(t *testing.T) {
	e := open(t, deployed)
	e.open(deployFile)
	e.want(deployFile)
	e.replace(deployFile, "region = local.region", "regoin = local.regoin")
	e.want(deployFile, "13:5 Unknown stack variable", "13:14 Unknown reference")
	e.replace(deployFile, "regoin = local.regoin", "region = local.region")
	e.want(deployFile)

	const components = "live/main.tfcomponent.hcl"
	e.open(components)
	e.replace(components, `variable "size" {
  type    = number
  default = 1
}`, `variable "size" {
  type = number
}`)
	e.want(deployFile, "11:1 Stack variable not set by deployment")
	e.replace(components, "  ephemeral = true\n", "")
	e.want(deployFile, "11:1 Stack variable not set by deployment", "14:14 Ephemeral value for kept variable")

	e.replace(deployFile, "inputs = {", "inputs = {{")
	e.checked(deployFile)
	for _, diag := range e.last(deployFile).Diagnostics {
		if text := string(diag.Message.(protocol.String)); strings.HasPrefix(text, "Ephemeral") || strings.HasPrefix(text, "Stack variable") {
			t.Errorf("in a file that cannot be parsed there is %q", text)
		}
	}
	if len(e.last(deployFile).Diagnostics) == 0 {
		t.Error("there is no error of the syntax")
	}
}

func TestDeploymentCompletion(t *testing.T) {
	for name, test := range map[string]struct {
		from, to, at string
		want, not    []string
	}{
		"blocks": {
			"locals {", "\n\nlocals {", "}\n|\n\nlocals",
			[]string{`deployment "NAME"`, `store "TYPE" "NAME"`},
			[]string{`component "NAME"`, "language"},
		},
		"arguments": {
			"  deployment_group = deployment_group.late", "  ", "jwt\n  }\n  |",
			[]string{"destroy", "deployment_group"},
			[]string{"inputs", "source"},
		},
		"inputs": {"region = local.region\n", "\n", "{\n    |\n", []string{"region", "size"}, []string{"token", "where"}},
		"roots of inputs": {
			"local.region", "x", "region = |x",
			[]string{"local", "identity_token", "store", "upper"},
			[]string{"var", "component", "context", "upstream_input"},
		},
		"tokens": {"cloud.jwt", "x", "identity_token.|x", []string{"cloud"}, nil},
		"jwt":    {"cloud.jwt", "cloud.x", "cloud.|x", []string{"jwt"}, nil},
		"stores": {"local.region", "store.varset.x", "varset.|x", []string{"shared"}, nil},
		"stable": {"local.region", "store.varset.shared.x", "shared.|x", []string{"stable"}, nil},
		"groups": {"deployment_group.late", "deployment_group.x", "deployment_group.|x", []string{"late"}, []string{"small"}},
		"rules": {
			"deployment_auto_approve.small]", "deployment_auto_approve.x]", "approve.|x]", []string{"small"}, []string{"late"},
		},
		"context":     {"changes.total", "x", "context.plan.|x", []string{"changes", "component_changes", "applyable"}, nil},
		"counts":      {"changes.total", "changes.x", "changes.|x", []string{"total", "remove"}, nil},
		"outputs":     {"production.where", "production.x", "production.|x", []string{"where"}, nil},
		"deployments": {"deployment.production.where", "deployment.x", "deployment.|x", []string{"production"}, nil},
		"category":    {`"env"`, `"x"`, `category = "|x`, []string{"env", "terraform"}, nil},
		"roots of checks": {
			"context.plan.changes.total < 5", "x", "condition = |x",
			[]string{"context", "deployment", "local"},
			[]string{"store", "identity_token"},
		},
		"arguments of check": {"    reason    = \"Too much.\"", "    ", "5\n    |", []string{"reason"}, []string{"condition"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, deployed)
			e.open(deployFile)
			e.replace(deployFile, test.from, test.to)
			labels := e.labels(deployFile, test.at)
			for _, label := range test.want {
				if !slices.Contains(labels, label) {
					t.Errorf("%q is not among %q", label, labels)
				}
			}
			for _, label := range test.not {
				if slices.Contains(labels, label) {
					t.Errorf("%q is among %q", label, labels)
				}
			}
		})
	}
}

// Variables and outputs of the stack are the same names in both kinds of files.
func TestDeploymentNames(t *testing.T) {
	e := open(t, deployed)
	e.open(deployFile)
	const components = "live/main.tfcomponent.hcl"
	e.open(components)
	for at, want := range map[string]string{
		"reg|ion = local":           "Where it runs.",
		"local.reg|ion":             `"eu"`,
		"identity_token.cl|oud":     "audience",
		"production.whe|re":         `output "where": string`,
		"deployment_group.la|te":    "auto_approve_checks",
		"deployment_auto_app|rove ": "rule by which plans",
		"audi|ence":                 "For whom the token is.",
	} {
		hover, err := e.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.in(deployFile, at)})
		e.check(err)
		if hover == nil || !strings.Contains(hover.Contents.(*protocol.MarkupContent).Value, want) {
			t.Errorf("hover at %s: %+v, want %q", at, hover, want)
		}
	}
	definition, err := e.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: e.in(deployFile, "reg|ion = local")})
	e.check(err)
	if locations := definition.(protocol.LocationSlice); len(locations) != 1 ||
		!strings.HasSuffix(string(locations[0].URI), "main.tfcomponent.hcl") {
		t.Errorf("definition: %+v", definition)
	}
	after := e.rename(components, "variable \"reg|ion\"", "place")
	if !strings.Contains(after[deployFile], "place = local.region") || !strings.Contains(after[components], "var.place") {
		t.Errorf("renamed variable: %q", after)
	}
	after = e.rename(deployFile, "production.whe|re", "place")
	if !strings.Contains(after[deployFile], "deployment.production.place") || !strings.Contains(after[components], `output "place"`) ||
		!strings.Contains(after[deployFile], `publish_output "where"`) {
		t.Errorf("renamed output: %q", after)
	}
	after = e.rename(deployFile, "store \"varset\" \"sha|red\"", "common")
	if !strings.Contains(after[deployFile], `store "varset" "common"`) {
		t.Errorf("renamed store: %q", after)
	}
	after = e.rename(deployFile, "local.reg|ion", "place")
	if !strings.Contains(after[deployFile], "region = local.place") ||
		after[components] != "" && strings.Contains(after[components], "place") {
		t.Errorf("renamed local: %q", after)
	}
	at := e.in(deployFile, "deployment \"produc|tion\"")
	if _, err := e.PrepareRename(t.Context(), &protocol.PrepareRenameParams{TextDocumentPositionParams: at}); err == nil ||
		!strings.Contains(err.Error(), "state") {
		t.Errorf("a deployment can be renamed: %v", err)
	}
}

func TestDeploymentActions(t *testing.T) {
	e := open(t, deployed)
	e.open(deployFile)
	e.replace(deployFile, "    region = local.region\n", "")
	at := e.in(deployFile, "deploy|ment \"production\"")
	actions, err := e.CodeAction(t.Context(), &protocol.CodeActionParams{
		TextDocument: at.TextDocument,
		Range:        protocol.Range{Start: at.Position, End: at.Position},
	})
	e.check(err)
	if len(actions) != 1 || !strings.Contains(e.applied(actions[0].(*protocol.CodeAction).Edit)[deployFile], `region = ""`) {
		t.Errorf("actions: %+v", actions)
	}
	e.replace(deployFile, "identity_token.cloud.jwt", "identity_token.clod.jwt")
	at = e.in(deployFile, "clo|d.jwt")
	actions, err = e.CodeAction(t.Context(), &protocol.CodeActionParams{
		TextDocument: at.TextDocument,
		Range:        protocol.Range{Start: at.Position, End: at.Position},
	})
	e.check(err)
	if len(actions) != 1 || !strings.Contains(e.applied(actions[0].(*protocol.CodeAction).Edit)[deployFile], `identity_token.cloud.jwt`) {
		t.Errorf("actions: %+v", actions)
	}
}

// A deployment file that is typed one character after the other has an answer to everything at each
// moment, and in the end there are no mistakes.
func TestTypingDeployments(t *testing.T) {
	e := open(t, deployed)
	src, err := os.ReadFile(filepath.Join(e.dir, deployFile))
	e.check(err)
	if err := os.Remove(filepath.Join(e.dir, deployFile)); err != nil {
		t.Fatal(err)
	}
	e.openText(deployFile, "")
	for i, char := range string(src) {
		end := e.texts[deployFile].Position(len(e.texts[deployFile].Bytes()))
		e.edit(deployFile, protocol.Range{Start: end, End: end}, string(char))
		e.askEverything(deployFile)
		if i%40 == 0 {
			e.checked(deployFile)
		}
		e.checkRanges(deployFile)
	}
	e.want(deployFile)
	e.leave()
}
