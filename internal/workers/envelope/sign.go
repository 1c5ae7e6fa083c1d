// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import "crypto/ed25519"

// signingOptions keep signatures apart from those that the key might make for something else.
var signingOptions = &ed25519.Options{Context: "cairn-run message 1"}

// Sign returns the signature of a message (rule V2).
func (k RunKey) Sign(message []byte) []byte {
	signature, err := k.run.signing.Sign(nil, message, signingOptions)
	if err != nil {
		panic(err) // only for options that Ed25519 does not have
	}
	return signature
}

// Verify reports whether a signature of a message was made with the private key.
func (p RunPublic) Verify(message, signature []byte) bool {
	return ed25519.VerifyWithOptions(p.ed25519[:], message, signature, signingOptions) == nil
}
