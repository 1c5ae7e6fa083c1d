// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/settings"
)

func read(t *testing.T, text string) (settings.Settings, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, settings.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return settings.Read(dir, map[string]*hcl.File{})
}

func TestIdentityAndVarsets(t *testing.T) {
	got, diags := read(t, `
identity "github" {}
identity "gitlab" {
  tokens   = ["vault"]
  variable = "VAULT_JWT"
}
identity "file" {
  tokens = ["aws", "gcp"]
  path   = "token.jwt"
  shared = true
}
identity "command" {
  tokens       = ["azure"]
  command      = ["./token", "azure"]
  timeout      = "5s"
  organization = "acme"
}
identity "key" {
  tokens   = ["own"]
  path     = "identity.pem"
  issuer   = "https://tokens.example.com/cairn"
  retired  = ["old.pem"]
  lifetime = "15m"
  project  = "network"
}
varset "cloud" {
  category  = "env"
  file      = "cloud.env.age"
  key_file  = "keys.txt"
  sensitive = ["SECRET"]
}
varset "cloud" {
  category    = "terraform"
  environment = "CLOUD_"
}
varset "varset-1" {
  command   = ["./values"]
  sensitive = false
}
varset "all" { environment = true }
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := settings.Settings{
		Identity: settings.Identity{Sources: []settings.IdentitySource{
			{Kind: "github"},
			{Kind: "gitlab", Tokens: []string{"vault"}, Variable: "VAULT_JWT"},
			{Kind: "file", Tokens: []string{"aws", "gcp"}, Path: "token.jwt", SharedFile: true},
			{Kind: "command", Tokens: []string{"azure"}, Command: []string{"./token", "azure"}, Timeout: 5 * time.Second, Organization: "acme"},
			{
				Kind:        "key",
				Tokens:      []string{"own"},
				Path:        "identity.pem",
				Issuer:      "https://tokens.example.com/cairn",
				RetiredKeys: []string{"old.pem"},
				Lifetime:    15 * time.Minute,
				Project:     "network",
			},
		}},
		Varsets: settings.Varsets{Sets: []settings.Varset{
			{Name: "cloud", Category: "env", File: "cloud.env.age", KeyFile: "keys.txt", SensitiveNames: []string{"SECRET"}},
			{Name: "cloud", Category: "terraform", Environment: true, Prefix: "CLOUD_", Sensitive: true},
			{Name: "varset-1", Command: []string{"./values"}},
			{Name: "all", Environment: true, Sensitive: true},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(hcl.Range{})); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for label, want := range map[string]string{"vault": "gitlab", "gcp": "file", "own": "key", "another": "github"} {
		if source := got.Identity.For(label); source == nil || source.Kind != want {
			t.Errorf("token %q comes from %v, want %s", label, source, want)
		}
	}
	for _, test := range []struct{ id, name, category, wantFile string }{
		{"", "cloud", "env", "cloud.env.age"}, {"cloud", "", "env", "cloud.env.age"}, {"", "cloud", "terraform", ""},
	} {
		if set := got.Varsets.For(test.id, test.name, test.category); set == nil || set.File != test.wantFile {
			t.Errorf("For(%q, %q, %q) = %v, want the file %q", test.id, test.name, test.category, set, test.wantFile)
		}
	}
	if set := got.Varsets.For("", "unknown", "env"); set != nil {
		t.Errorf("there is a set %v", set)
	}
}

func TestIdentityAndVarsetMistakes(t *testing.T) {
	const key = "path = \"k.pem\"\n"
	for text, want := range map[string]string{
		`identity "githup" {}`: `Unknown identity source; Tokens do not come from "githup". Did you mean "github"?`,

		`identity "file" {}`:                                  `Missing required argument; The argument "path" is required`,
		`identity "github" { variable = "x" }`:                `Unsupported argument`,
		`identity "github" { tokens = "aws" }`:                `Unusable list; Give a list of texts, such as ["aws"]`,
		`identity "github" { tokens = [] }`:                   `Unusable list`,
		`identity "github" { tokens = [for x in ["a"] : x] }`: `Not a constant`,

		"identity \"github\" {}\nidentity \"gitlab\" {}": `Duplicate identity source; The block at cairn.hcl:1,1-18 is for all tokens, too.`,

		"identity \"github\" { tokens = [\"a\"] }\nidentity \"gitlab\" { tokens = [\"b\", \"a\"] }": `Duplicate identity source; ` +
			`The block at cairn.hcl:1,1-18 is for the token "a" already.`,

		"identity \"command\" {\ncommand = [\"a\"]\ntimeout = \"0s\"\n}": `Unusable duration; Give a duration from 1s to 1h`,

		"identity \"command\" {\ncommand = [\"a\"]\ntimeout = \"soon\"\n}":                        `Unusable duration`,
		"identity \"key\" {\n" + key + "issuer = \"http://x.example.com\"\n}":                     `Invalid issuer`,
		"identity \"key\" {\n" + key + "issuer = \"https://x.example.com/\"\n}":                   `Invalid issuer`,
		"identity \"key\" {\n" + key + "issuer = \"https://x.example.com\"\nproject = \"a:b\"\n}": `Unusable name in subject`,

		"identity \"key\" {\n" + key + "issuer = \"https://x.example.com\"\nlifetime = \"25h\"\n}": `Unusable duration; ` +
			`Give a duration from 1m to 24h`,

		`varset "a" {}`: `Unusable variable set; Say where the values of the set are`,
		"varset \"a\" {\nfile = \"x.env\"\nenvironment = true\n}": `Unusable variable set`,
		"varset \"a\" {\nfile = \"x.env\"\ntimeout = \"5s\"\n}":   `Unused setting; The argument timeout is about a command`,
		"varset \"a\" {\nfile = \"x.env\"\ncategory = \"environment\"\n}": `Unknown value of setting; ` +
			`There is no category "environment". Give one of: terraform, env.`,
		"varset \"a\" {\nfile = \"x.env\"\nsensitive = \"all\"\n}":                 `Unusable list; Give true, false, or a list`,
		`varset "a" { environment = false }`:                                       `Unusable environment`,
		`varset "a" { environment = "" }`:                                          `Unusable environment`,
		`varset "a" { environment = null }`:                                        `Unusable environment`,
		`varset "" { environment = true }`:                                         `Unnamed variable set`,
		"varset \"a\" { environment = true }\nvarset \"a\" { environment = true }": `Duplicate variable set; The block at cairn.hcl:1,1-11`,
	} {
		_, diags := read(t, text)
		if len(diags) != 1 || diags[0].Subject == nil || diags[0].Subject.Filename != settings.File {
			t.Errorf("%s:\n%v, want one error with its place", text, diags)
			continue
		}
		if got := diags[0].Summary + "; " + diags[0].Detail; !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s, want %s", text, got, want)
		}
	}
}
