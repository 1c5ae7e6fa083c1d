// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/providers/release"
)

const requiring = `
-- main.tfcomponent.hcl --
required_providers {
  local = {
    source  = ""
    version = "~> 1.0"
  }
  random = {
    source  = "hashicorp/random"
    version = ""
  }
}
-- more.tfcomponent.json --
{"required_providers": {"null": {"source": "hashicorp/null", "version": ""}}}
-- .terraform.lock.hcl --
provider "registry.terraform.io/hashicorp/random" {
  version = "3.5.1"
}
`

// Providers that are locked, installed, in the cache or in a mirror can be required.
func TestCompletionOfRequirements(t *testing.T) {
	elsewhere := t.TempDir()
	put(t, filepath.Join(elsewhere, "cli.tfrc"), `
plugin_cache_dir = "`+filepath.ToSlash(elsewhere)+`/cache"
provider_installation {
  filesystem_mirror {
    path    = "`+filepath.ToSlash(elsewhere)+`/mirror"
    exclude = ["acme/*"]
  }
}
`)
	t.Setenv("TF_CLI_CONFIG_FILE", filepath.Join(elsewhere, "cli.tfrc"))
	t.Setenv("TF_PLUGIN_CACHE_DIR", "")
	platform := release.CurrentPlatform.String()
	put(t, filepath.Join(elsewhere, "cache/registry.terraform.io/hashicorp/random/3.6.0", platform, "terraform-provider-random"), "")
	put(t, filepath.Join(elsewhere, "mirror/registry.terraform.io/hashicorp/null/terraform-provider-null_3.2.1_"+platform+".zip"), "")
	put(t, filepath.Join(elsewhere, "mirror/registry.terraform.io/acme/null/terraform-provider-null_3.2.1_"+platform+".zip"), "")
	e := open(t, requiring)
	put(t, filepath.Join(e.dir, ".cairn/init/.terraform/providers/example.com/acme/local/1.2.3", platform, "terraform-provider-local"), "")
	e.open(mainFile)
	e.open("more.tfcomponent.json")
	for name, test := range map[string]struct {
		file, at string
		want     []string
	}{
		"sources": {mainFile, `source  = "|"`, []string{
			"example.com/acme/local", "hashicorp/null", "hashicorp/random", "terraform.io/builtin/terraform",
		}},
		"versions": {mainFile, `version = "|"`, []string{"~> 3.5", "3.5.1", "~> 3.6", "3.6.0"}},
		"JSON":     {"more.tfcomponent.json", `"version": "|"`, []string{"~> 3.2", "3.2.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, e.labels(test.file, test.at)); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	}
}
