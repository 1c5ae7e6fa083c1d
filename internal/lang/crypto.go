// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/crypto/ssh"
)

var base64Sha256Function = base64HashFunction(func(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] })

var base64Sha512Function = base64HashFunction(func(b []byte) []byte { sum := sha512.Sum512(b); return sum[:] })

func base64HashFunction(sum func([]byte) []byte) function.Function {
	return functionOf(cty.String, "Returns a hash of a string, encoded in Base64.",
		[]function.Parameter{{Name: "str", Type: cty.String}},
		func(args []cty.Value) (cty.Value, error) {
			return cty.StringVal(base64.StdEncoding.EncodeToString(sum([]byte(args[0].AsString())))), nil
		})
}

// Messages never contain the cipher text or anything of the key.
var rsaDecryptFunction = functionOf(cty.String, "Decrypts Base64-encoded RSA cipher text (PKCS #1 v1.5) with a private key.",
	[]function.Parameter{{Name: "ciphertext", Type: cty.String, AllowMarked: true}, {Name: "privatekey", Type: cty.String, AllowMarked: true}},
	func(args []cty.Value) (cty.Value, error) {
		source, sourceMarks := args[0].Unmark()
		keyText, keyMarks := args[1].Unmark()

		ciphertext, err := decodeBase64(source.AsString(), cty.NewValueMarks(sourceMarks, keyMarks))
		if err != nil {
			return cty.NilVal, err
		}
		parsed, err := ssh.ParseRawPrivateKey([]byte(keyText.AsString()))
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(1, "not a private key without password, in PEM or OpenSSH form: %w", err)
		}
		key, ok := parsed.(*rsa.PrivateKey)
		if !ok {
			return cty.NilVal, function.NewArgErrorf(1, "not an RSA key")
		}
		//nolint:staticcheck // SA1019: the language defines the function by this scheme, old as it is
		plaintext, err := rsa.DecryptPKCS1v15(nil, key, ciphertext)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "cannot be decrypted with this key: %w", err)
		}
		return cty.StringVal(string(plaintext)).WithMarks(sourceMarks, keyMarks), nil
	})
