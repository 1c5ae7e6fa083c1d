// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/settings"
)

func TestEncryption(t *testing.T) {
	got, diags := read(t, `
encryption {
  recipients     = ["age1abc", "ssh-ed25519 AAAA"]
  identity_file  = "key.txt"
  passphrase_env = "CAIRN_ENCRYPTION_PASSPHRASE"
  command        = ["./keys", "prod"]
  timeout        = "5s"
  key            = "awskms:///alias/states?region=eu-central-1"
  metadata       = "clear"

  former { identity_file = "old.txt" }
  former { command = ["./old"] }
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := &settings.Encryption{
		Keys: settings.Keys{
			Recipients: []string{"age1abc", "ssh-ed25519 AAAA"}, IdentityFile: "key.txt", PassphraseVariable: "CAIRN_ENCRYPTION_PASSPHRASE",
			Command: []string{"./keys", "prod"}, Timeout: 5 * time.Second, URL: "awskms:///alias/states?region=eu-central-1",
		},
		Former:        []settings.Keys{{IdentityFile: "old.txt"}, {Command: []string{"./old"}}},
		ClearMetadata: true,
	}
	if diff := cmp.Diff(want, got.Encryption, cmpopts.IgnoreTypes(hcl.Range{})); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestEncryptionMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`encryption {}`:                                                          `Encryption without a key`,
		`encryption { metadata = "clear" }`:                                      `Encryption without a key`,
		`encryption { recipients = [] }`:                                         `Unusable list`,
		`encryption { passphrase_env = "PASSPHRASE" }`:                           `Unusable variable for a passphrase`,
		`encryption { key = "alias/states" }`:                                    `Unusable URL of a key`,
		"encryption {\nidentity_file = \"k\"\nmetadata = \"secret\"\n}":          `Unknown value of setting`,
		"encryption {\nidentity_file = \"k\"\ntimeout = \"5s\"\n}":               `Unused setting`,
		"encryption {\nidentity_file = \"k\"\nformer {}\n}":                      `Encryption without a key`,
		"encryption {\nidentity_file = \"k\"\nformer {\nrecipients = []\n}\n}":   `Unsupported argument`,
		"encryption { identity_file = \"k\" }\nencryption { key = \"kms://k\" }": `Setting given twice`,
	} {
		_, diags := read(t, text)
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", text, diags, want)
		}
	}
}
