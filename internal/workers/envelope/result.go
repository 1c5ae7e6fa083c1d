// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"

	"filippo.io/age"
)

// SealResult returns an envelope for those who start runs, which nobody can make without this key
// or theirs (rule V3).
//
// Errors: [*Error] with [ProblemRecipient].
func (k PoolKey) SealResult(place string, content []byte, to RunPublic) ([]byte, error) {
	point, err := ecdh.X25519().NewPublicKey(to.x25519[:])
	if err != nil {
		return nil, fail(place, ProblemRecipient)
	}
	shared, err := k.opener.sharedWith(point)
	if err != nil { // a point of small order
		return nil, fail(place, ProblemRecipient)
	}
	head, body, err := contents(resultKind, place, content)
	if err != nil {
		return nil, err
	}
	return wrap(resultKind, place, []Recipient{&pair{shared, k.opener.scalar.PublicKey(), point}}, head, body)
}

// OpenResult returns the content of an envelope that a holder of the key of a pool has sealed by
// [PoolKey.SealResult].
//
// Errors: [*Error] as of [PoolKey.Open], and with [ProblemSender]; an unusable public key of the
// pool.
func (k RunKey) OpenResult(place string, sealed []byte, from PoolRecipient) ([]byte, error) {
	point, err := from.point()
	if err != nil {
		return nil, err
	}
	shared, err := k.opener.sharedWith(point)
	if err != nil { // a point of small order
		return nil, errPoolRecipient
	}
	return k.opener.open(&pair{shared, point, k.opener.scalar.PublicKey()}, resultKind, place, sealed)
}

// pair are the holders of two keys, with the secret that they share. Results are sealed and opened
// by it: it is a recipient of age, and an identity.
type pair struct {
	shared    []byte
	pool, run *ecdh.PublicKey
}

const (
	resultStanza = "cairn-result"
	saltSize     = 32
	fileKeySize  = 16 // of age
)

// errSender is the error of a file that was not wrapped by the secret of a pair.
var errSender = errors.New("the file key is wrapped by somebody else")

func (p *pair) recipient() (age.Recipient, error) { return p, nil }

// Wrap implements [age.Recipient].
func (p *pair) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	wrapping, err := p.wrapping(salt)
	if err != nil {
		return nil, err
	}
	body := wrapping.Seal(nil, make([]byte, wrapping.NonceSize()), fileKey, nil)
	return []*age.Stanza{{Type: resultStanza, Args: []string{encode(salt), p.reader()}, Body: body}}, nil
}

// Unwrap implements [age.Identity].
func (p *pair) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) != 1 || stanzas[0].Type != resultStanza || len(stanzas[0].Args) != 2 {
		return nil, errSender
	}
	salt, err := base64.RawStdEncoding.Strict().DecodeString(stanzas[0].Args[0])
	if err != nil || len(salt) != saltSize {
		return nil, errSender
	}
	if stanzas[0].Args[1] != p.reader() {
		return nil, age.ErrIncorrectIdentity
	}
	wrapping, err := p.wrapping(salt)
	if err != nil {
		return nil, err
	}
	fileKey, err := wrapping.Open(nil, make([]byte, wrapping.NonceSize()), stanzas[0].Body, nil)
	if err != nil || len(fileKey) != fileKeySize {
		return nil, errSender
	}
	return fileKey, nil
}

// wrapping returns the cipher of one file key, which has a key of its own: so any nonce is unique.
func (p *pair) wrapping(salt []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(derive(p.shared, slices.Concat(salt, p.pool.Bytes(), p.run.Bytes()), forResult))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// reader names the key of those who start runs, so that a wrong one is told from a wrong sender.
func (p *pair) reader() string {
	hash := sha256.Sum256(p.run.Bytes())
	return encode(hash[:])
}

func encode(content []byte) string { return base64.RawStdEncoding.EncodeToString(content) }
