// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"strings"
	"testing"
)

// wantErrors loads a stack from files in memory and compares the errors, as in
// "a.tfcomponent.hcl:1: Summary".
func wantErrors(t *testing.T, files map[string]string, want ...string) {
	t.Helper()
	_, diags := load(inMemory(files), "/s")
	var got []string
	for _, diag := range diags {
		got = append(got, fmt.Sprintf("%s:%d: %s", diag.Subject.Filename, diag.Subject.Start.Line, diag.Summary))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Requirements are declared once for the whole stack, not once a file.
func TestQuirkB01SecondRequiredProviders(t *testing.T) {
	const cloud = "required_providers {\n  cloud = { source = \"example/cloud\", version = \"1.0.0\" }\n}\n"
	wantErrors(t, map[string]string{"/s/a.tfcomponent.hcl": cloud, "/s/b.tfcomponent.hcl": "required_providers {}\n"},
		"b.tfcomponent.hcl:1: Provider requirements declared twice")
	wantErrors(t, map[string]string{"/s/a.tfcomponent.hcl": cloud + "required_providers {}\n"},
		"a.tfcomponent.hcl:4: Provider requirements declared twice")
}

func TestQuirkB02SecondConfigBlock(t *testing.T) {
	wantErrors(t, map[string]string{
		"/s/a.tfcomponent.hcl": "required_providers {}\nprovider \"terraform\" \"x\" {\n  config {\n  }\n  config {\n  }\n}\n",
	},
		"a.tfcomponent.hcl:5: Only one config block allowed")
}

// The built-in provider is there in child stacks with requirements, though the root has none.
func TestQuirkB03RootWithoutRequirements(t *testing.T) {
	cfg, diags := load(inMemory(map[string]string{
		"/s/a.tfcomponent.hcl": "stack \"c\" {\n  source = \"./c\"\n}\n",
		"/s/c/a.tfcomponent.hcl": "required_providers {\n  cloud = { source = \"example/cloud\", version = \"1.0.0\" }\n" +
			"}\nvariable \"v\" {\n  type = list(providerconfig(cloud))\n}\n",
	}), "/s")
	if len(diags) > 0 {
		t.Fatal(details(diags))
	}
	if ty := cfg.Root.Children["c"].Variables["v"].Type.Constraint; !HasProviderRef(ty) {
		t.Errorf("the type of the variable is %#v", ty)
	}
}

// Declaring an object that a block removes is reported whatever comes first.
func TestQuirkB04StackDeclaredAndRemoved(t *testing.T) {
	const declared, removed = "stack \"x\" {\n  source = \"./c\"\n}\n", "removed {\n  from   = stack.x\n  source = \"./c\"\n}\n"
	wantErrors(t, map[string]string{"/s/a.tfcomponent.hcl": declared, "/s/b.tfcomponent.hcl": removed, "/s/c/x.tfcomponent.hcl": ""},
		"b.tfcomponent.hcl:2: Stack both declared and removed")
	wantErrors(t, map[string]string{"/s/a.tfcomponent.hcl": removed, "/s/b.tfcomponent.hcl": declared, "/s/c/x.tfcomponent.hcl": ""},
		"a.tfcomponent.hcl:2: Stack both declared and removed")
}

func TestQuirkB18Nullable(t *testing.T) {
	_, diags := load(inMemory(map[string]string{
		"/s/a.tfcomponent.hcl": "variable \"v\" {\n  type     = string\n  nullable = true\n}\n",
	}), "/s")
	if len(diags) != 1 || diags[0].Summary != "Unsupported argument" || !strings.Contains(diags[0].Detail, "null always selects the default") {
		t.Errorf("got %s", details(diags))
	}
}
