// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
)

// Errors in the files of a package have the source address of the file as their file name.
func TestRow001ErrorsInPackages(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("p.tgz", sourcetest.Pack(t,
		sourcetest.Entry{
			Name:    "s/a.tfcomponent.hcl",
			Content: "stack \"child\" {\n  source = \"./child\"\n}\noutput \"o\" {\n  type  = any\n  value = 1\n}\n",
		},
		sourcetest.Entry{Name: "s/b.tfcomponent.hcl", Content: "locals {\n  a = = 1\n}\n"},
		sourcetest.Entry{Name: "s/child/main.tfcomponent.hcl", Content: "variable \"v\" {\n  type    = number\n  default = \"many\"\n}\n"}))
	w.stack("stack \"p\" {\n  source = \"https://HOST/archives/p.tgz//s\"\n}\nstack \"none\" {\n  source = \"./none\"\n}\n")

	_, diags, _ := w.fetch(t.Context(), nil)
	var got []string
	for _, diag := range diags {
		name := strings.ReplaceAll(diag.Subject.Filename, w.server.Host, "HOST")
		got = append(got, fmt.Sprintf("%s:%d: %s", name, diag.Subject.Start.Line, diag.Summary))
	}
	slices.Sort(got)
	want := []string{
		"https://HOST/archives/p.tgz//s/a.tfcomponent.hcl:5: Not a type constraint",
		"https://HOST/archives/p.tgz//s/b.tfcomponent.hcl:2: Invalid expression",
		"https://HOST/archives/p.tgz//s/child/main.tfcomponent.hcl:3: Default does not fit the type",
		"main.tfcomponent.hcl:5: No such stack directory",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

// Of the versions that a constraint allows the newest is taken. Relative sources in a stack from a
// registry lead on in the package that the registry names, even above the directory that is the
// stack.
func TestRow005ComponentRegistry(t *testing.T) {
	w := newWorld(t)
	for _, version := range []string{"0.0.1", "0.0.2", "0.1.0"} {
		archive := w.server.Archive("pets-"+version+".tgz", sourcetest.Pack(t,
			sourcetest.Entry{Name: "stacks/pets/main.tfcomponent.hcl", Content: `
component "below" {
  source = "./m"
}
component "sibling" {
  source = "../../modules/m"
}
`},
			sourcetest.Entry{Name: "stacks/pets/m/main.tf", Content: emptyModule},
			sourcetest.Entry{Name: "modules/m/main.tf", Content: emptyModule}))
		w.server.Publish("components/ns/pets", version, archive+"//stacks/pets")
	}
	w.stack("stack \"pets\" {\n  source  = \"HOST/ns/pets\"\n  version = \"~> 0.0.1\"\n}\n")
	w.mustFetch(nil)

	config := w.mustOffline()
	pets := config.Root.Children["pets"]
	got := strings.ReplaceAll(pets.Components["below"].Range.Filename, w.server.Host, "HOST")
	if want := "HOST/ns/pets@0.0.2//main.tfcomponent.hcl"; got != want {
		t.Errorf("file name %s, want %s", got, want)
	}
	for name, end := range map[string]string{"below": "/stacks/pets/m", "sibling": "/modules/m"} {
		if dir := pets.Components[name].Source.Dir; !strings.HasSuffix(dir, end) {
			t.Errorf("component %s leads to %s, want %s of the package", name, dir, end)
		}
	}
}
