// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"regexp"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

// Encryption names the keys by which states, plans and journals are encrypted: the encryption
// block.
type Encryption struct {
	Range hcl.Range // of the block's header
	Keys

	// Former are keys that decrypt what was encrypted before, and encrypt nothing any more.
	Former []Keys

	ClearMetadata bool // names of records are not encrypted
}

// Keys are keys of several kinds, each of which is enough to decrypt.
type Keys struct {
	Recipients   []string // public keys of age or ssh
	IdentityFile string   // path of private keys; may be relative to the stack

	// PassphraseVariable names the environment variable with a passphrase.
	PassphraseVariable string

	Command []string // program and arguments, that wraps keys and unwraps them
	Timeout time.Duration

	URL string // of a key in a key service
}

// EncryptionVariable is the environment variable with keys. Variables whose names begin with it and
// an underscore may have passphrases. Neither are passed on to other programs.
const EncryptionVariable = "CAIRN_ENCRYPTION"

var passphraseVariable = regexp.MustCompile(`^` + EncryptionVariable + `_[A-Z0-9_]+$`)

// keyURL is the form of keys in key services; their schemes are for package encryption to know.
var keyURL = regexp.MustCompile(`^[a-z0-9+.-]+://.`)

func decodeEncryption(block *hcl.Block) (*Encryption, hcl.Diagnostics) {
	former, body, diags := block.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "former"}}})
	result := &Encryption{Range: block.DefRange}
	a := argumentsOf(body, nil, "recipients", "identity_file", "passphrase_env", "command", "timeout", "key", "metadata")
	a.diags = append(diags, a.diags...)
	result.Keys = a.keys()
	result.Recipients = a.texts("recipients", `["age1…", "ssh-ed25519 AAAA…"], public keys`)
	result.ClearMetadata = a.oneOf("metadata", "clear", "encrypted") == "clear"
	if !a.diags.HasErrors() && result.Keys.none() {
		a.diags = a.diags.Append(failure.At(block.DefRange, "Encryption without a key",
			"Name a key by one of the arguments recipients, identity_file, passphrase_env, command and key."))
	}
	for _, block := range former.Blocks {
		f := argumentsOf(block.Body, nil, "identity_file", "passphrase_env", "command", "timeout", "key")
		keys := f.keys()
		if !f.diags.HasErrors() && keys.none() {
			f.diags = f.diags.Append(failure.At(block.DefRange, "Encryption without a key",
				"Name the key that was used before by one of the arguments identity_file, passphrase_env, command and key."))
		}
		result.Former = append(result.Former, keys)
		a.diags = a.diags.Extend(f.diags)
	}
	return result, a.diags
}

func (k *Keys) none() bool {
	return len(k.Recipients) == 0 && k.IdentityFile == "" && k.PassphraseVariable == "" && len(k.Command) == 0 && k.URL == ""
}

// keys decodes the arguments that blocks of present and former keys have in common.
func (a *arguments) keys() Keys {
	keys := Keys{
		IdentityFile:       a.text("identity_file"),
		PassphraseVariable: a.text("passphrase_env"),
		Command:            a.command("command"),
		Timeout:            a.duration("timeout", time.Second, time.Hour),
		URL:                a.text("key"),
	}
	if keys.PassphraseVariable != "" && !passphraseVariable.MatchString(keys.PassphraseVariable) {
		// Others are passed on to providers, and to the programs that provisioners run.
		a.fail("passphrase_env", "Unusable variable for a passphrase",
			"Give a name that begins with %s_, such as %[1]s_PASSPHRASE. Such variables are not passed on to other programs.", EncryptionVariable)
	}
	if keys.URL != "" && !keyURL.MatchString(keys.URL) {
		a.fail("key", "Unusable URL of a key", "Give the URL of a key in a key service, such as \"awskms:///alias/states?region=eu-central-1\".")
	}
	if a.has("timeout") && !a.has("command") {
		a.fail("timeout", "Unused setting", "The argument timeout is about a command. Remove it.")
	}
	return keys
}
