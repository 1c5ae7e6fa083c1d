// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// The codes of failures, for which a caller may know a remedy of its own.
const (
	CodeMissingKey fault.Code = "encryption/missing-key" // nothing is given that unwraps keys
	CodeWrongKey   fault.Code = "encryption/wrong-key"   // nothing that is given unwraps this one
	CodeKeyFailed  fault.Code = "encryption/key-failed"  // a file, a program or a service that has keys
	CodeDamaged    fault.Code = "encryption/damaged"
	CodeClear      fault.Code = "encryption/clear" // encryption is demanded
	CodeClearState fault.Code = "encryption/clear-state"
)

// CodeOf returns the code of a failure of this package, "" for another error.
func CodeOf(err error) fault.Code {
	for _, diag := range failure.Diagnostics(err) {
		if code := engine.FaultOf(diag); strings.HasPrefix(string(code), "encryption/") {
			return code
		}
	}
	return ""
}

func fail(code fault.Code, summary, detail string, args ...any) error {
	return hcl.Diagnostics{failure.With(code, failure.New(summary, detail, args...))}
}

// missingKey is for something that is encrypted where there are no keys.
func missingKey(what string, w Wrapped) error {
	return fail(CodeMissingKey, "Missing encryption key",
		"%s is encrypted for %s, and no key is given that decrypts it. Name one in an encryption "+
			"block in %s, or by %s. Nothing was done.", failure.Capitalize(what), w.describe(), settings.File, settings.EncryptionVariable)
}

// NoKey is the error for something that is to be encrypted where no key is named.
func NoKey() error {
	return fail(CodeMissingKey, "Missing encryption key", "There is no key to encrypt with. Name one in an encryption block in %s, or by %s. "+
		"Nothing was done.", settings.File, settings.EncryptionVariable)
}

// wrongKey is for something that is encrypted for other keys than those that there are.
func wrongKey(what string, w Wrapped, tried []string) error {
	return fail(CodeWrongKey, "Encryption key mismatch", "%s is encrypted for %s, and cannot be decrypted with %s. Nothing was done.",
		failure.Capitalize(what), w.describe(), strings.Join(tried, ", nor with "))
}

// Damaged is the error for something that is not as it was encrypted.
func Damaged(what string) error {
	return fail(CodeDamaged, "Damaged encrypted content", "%s is encrypted, and damaged: it was changed since. Its key is not the reason. "+
		"Nothing was done.", failure.Capitalize(what))
}

// Clear is the error for a file in clear where encryption is demanded.
func Clear(what string) error {
	return fail(CodeClear, "Content not encrypted",
		"%s is not encrypted, though the settings of the stack demand it. Anybody may have written "+
			"or read it. Nothing was done.", failure.Capitalize(what))
}

// ClearState is the error for a state in clear where encryption is demanded.
func ClearState(deployment string) error {
	return fail(CodeClearState, "State not encrypted",
		"The state of the deployment %q is not encrypted, though the settings of the stack demand "+
			"it. Nothing was done. Encrypt it.", deployment)
}

// describe says which keys unwrap a root key.
func (w Wrapped) describe() string {
	var all []string
	for _, slot := range w.Slots {
		text := slotNames[slot.Kind]
		if text == "" {
			text = fmt.Sprintf("a key of the kind %q, which this version of cairn does not know", slot.Kind)
		}
		if len(slot.For) > 0 {
			text += " " + safetext.Name(strings.Join(slot.For, ", "))
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", and for ")
}

var slotNames = map[string]string{
	kindAge: "the age recipient", kindPassphrase: "a passphrase", kindCommand: "the command", kindService: "the key",
}
