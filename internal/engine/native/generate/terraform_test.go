// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package generate_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
)

// generated returns the blocks that terraform generates for objects, by the names of their types.
func generated(t *testing.T, all map[string]sample) map[string]string {
	t.Helper()
	echo := &schematest.Echo{Resources: map[string]*schema.Block{}, Imports: map[string]cty.Value{}}
	var config strings.Builder
	config.WriteString(schematest.Requirement)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		name, sample := "echo_"+name, all[name]
		echo.Resources[name], echo.Imports[name] = sample.block, sample.value()
		fmt.Fprintf(&config, "import {\n  to = %s.it\n  id = \"x\"\n}\n", name)
	}
	work := echo.Start(t, map[string]string{"main.tf": config.String()})
	work.Terraform(t, "init")
	const out = "generated.tf"
	work.Terraform(t, "plan", "-json", "-generate-config-out="+out) // its messages about the objects do not matter
	blocks := map[string]string{}
	for _, block := range strings.Split(work.File(t, out), "# __generated__ by Terraform")[1:] {
		_, block, _ = strings.Cut(block, "\n")
		if _, rest, ok := strings.Cut(block, `resource "echo_`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			blocks[name] = strings.TrimSpace(block) + "\n"
		}
	}
	return blocks
}

// TestTerraformAgrees checks the files in testdata against terraform.
func TestTerraformAgrees(t *testing.T) {
	found := generated(t, samples)
	for name := range samples {
		file := filepath.Join("testdata", name+".tf")
		if os.Getenv("UPDATE_GOLDEN") == "1" {
			if err := os.WriteFile(file, []byte(found[name]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), found[name]); diff != "" {
			t.Errorf("%s (-recorded +terraform):\n%s", file, diff)
		}
	}
}
