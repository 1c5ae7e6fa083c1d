// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"

	"github.com/cairnstacks/cairn/internal/once"
)

// The beginnings of texts of keys, each before the digit 1.
const (
	poolPrefix      = "AGE-SECRET-KEY-"
	recipientPrefix = "age"
	runPrefix       = "cairn-run-key-" // of texts in upper case, as those of age
	publicPrefix    = "cairn-run"
)

// keySize is the size of all keys, public and private, in bytes.
const keySize = 32

// The labels of keys that are derived.
const (
	forIdentity = "cairn-run identity 1"
	forSigning  = "cairn-run signing 1"
	forResult   = "cairn result 1"
)

var (
	errPoolKey = errors.New("the key of the pool cannot be used: want one line that begins with " + poolPrefix + "1, " +
		"as age-keygen writes it, complete and unchanged, and only comments besides")
	errPoolRecipient = errors.New("the public key of the pool cannot be used: want a text that begins with " + recipientPrefix + "1, " +
		"complete and unchanged, which age-keygen -y prints for the key of the pool")
	errRunKey = errors.New("the key of those who start runs cannot be used: want one line that begins with " +
		strings.ToUpper(runPrefix) + "1, complete and unchanged, and only comments besides")
	errRunPublic = errors.New("the public key of those who start runs cannot be used: want a text that begins with " +
		publicPrefix + "1, complete and unchanged")
)

// secret is a private key of X25519 that age knows as well.
type secret struct {
	identity *age.X25519Identity
	scalar   *ecdh.PrivateKey
	shared   once.Map[[keySize]byte, []byte] // with holders of other keys, of which there are few, by their public keys
}

// sharedWith returns the secret shared with the holder of another key.
func (s *secret) sharedWith(point *ecdh.PublicKey) ([]byte, error) {
	return s.shared.Get(context.Background(), [keySize]byte(point.Bytes()), func() ([]byte, error) { return s.scalar.ECDH(point) })
}

func parseSecret(text string) (*secret, bool) {
	identity, err := age.ParseX25519Identity(text)
	if err != nil {
		return nil, false
	}
	content, ok := decodeBech32(strings.ToLower(poolPrefix), strings.ToLower(text))
	if !ok {
		return nil, false
	}
	scalar, err := ecdh.X25519().NewPrivateKey(content)
	return &secret{identity: identity, scalar: scalar}, err == nil
}

// opener is a key that opens envelopes.
type opener struct {
	*secret
	limit int64
}

func (o *opener) withLimit(bytes int64) *opener { return &opener{o.secret, bytes} }

// PoolKey is the private key of the workers of a pool. The zero value is no key. It is safe for
// concurrent use.
type PoolKey struct{ opener *opener }

// NewPoolKey makes a key.
func NewPoolKey() (PoolKey, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return PoolKey{}, err
	}
	return ParsePoolKey([]byte(identity.String()))
}

// ParsePoolKey reads a key from a file as age-keygen writes it, which has exactly one.
func ParsePoolKey(text []byte) (PoolKey, error) {
	line, ok := onlyLine(text)
	if !ok {
		return PoolKey{}, errPoolKey
	}
	s, ok := parseSecret(line)
	if !ok {
		return PoolKey{}, errPoolKey
	}
	return PoolKey{&opener{s, DefaultLimit}}, nil
}

// Recipient returns the public key, as a [PoolRecipient].
func (k PoolKey) Recipient() string { return k.opener.identity.Recipient().String() }

// Format implements [fmt.Formatter]: no verb shows the secret.
func (k PoolKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "(key of a pool)") }

// Text returns the secret text that [ParsePoolKey] reads.
func (k PoolKey) Text() string { return k.opener.identity.String() }

// WithLimit returns the same key, which opens contents of at most so many bytes in place of
// [DefaultLimit].
func (k PoolKey) WithLimit(bytes int64) PoolKey { return PoolKey{k.opener.withLimit(bytes)} }

// PoolRecipient is the public key of a pool as a text, which begins with age1.
type PoolRecipient string

// ParsePoolRecipient checks the text of a public key.
func ParsePoolRecipient(text string) (PoolRecipient, error) {
	r := PoolRecipient(text)
	if _, err := r.recipient(); err != nil {
		return "", err
	}
	if _, err := r.point(); err != nil {
		return "", err
	}
	return r, nil
}

func (r PoolRecipient) recipient() (age.Recipient, error) {
	recipient, err := age.ParseX25519Recipient(string(r))
	if err != nil { // which quotes the text, which may be a private key by mistake
		return nil, errPoolRecipient
	}
	return recipient, nil
}

func (r PoolRecipient) point() (*ecdh.PublicKey, error) {
	content, ok := decodeBech32(recipientPrefix, string(r))
	if !ok || len(content) != keySize {
		return nil, errPoolRecipient
	}
	return ecdh.X25519().NewPublicKey(content)
}

// RunKey is the secret of those who start runs. The zero value is no key. It is safe for concurrent
// use.
type RunKey struct {
	opener *opener
	run    *run
}

// run is the part of a run key that has nothing to do with opening.
type run struct {
	secret  []byte
	signing ed25519.PrivateKey
}

// NewRunKey makes a key.
func NewRunKey() (RunKey, error) {
	content := make([]byte, keySize)
	rand.Read(content) // never fails
	return newRunKey(content)
}

// ParseRunKey reads a key from a text that has exactly one, and only lines with comments and empty
// ones besides.
func ParseRunKey(text []byte) (RunKey, error) {
	line, ok := onlyLine(text)
	if !ok || line != strings.ToUpper(line) {
		return RunKey{}, errRunKey
	}
	content, ok := decodeBech32(runPrefix, strings.ToLower(line))
	if !ok || len(content) != keySize {
		return RunKey{}, errRunKey
	}
	return newRunKey(content)
}

func newRunKey(content []byte) (RunKey, error) {
	s, ok := parseSecret(strings.ToUpper(encodeBech32(strings.ToLower(poolPrefix), derive(content, nil, forIdentity))))
	if !ok {
		return RunKey{}, errRunKey
	}
	return RunKey{&opener{s, DefaultLimit}, &run{content, ed25519.NewKeyFromSeed(derive(content, nil, forSigning))}}, nil
}

// derive returns a key for a purpose, which a label names.
func derive(from, salt []byte, label string) []byte {
	key, err := hkdf.Key(sha256.New, from, salt, label, keySize)
	if err != nil {
		panic(err) // only for a length that HKDF does not have
	}
	return key
}

// Public returns the public key.
func (k RunKey) Public() RunPublic {
	var p RunPublic
	copy(p.x25519[:], k.opener.scalar.PublicKey().Bytes())
	copy(p.ed25519[:], k.run.signing[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
	return p
}

// Format implements [fmt.Formatter]: no verb shows the secret.
func (k RunKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "(key of those who start runs)") }

// Text returns the secret text that [ParseRunKey] reads.
func (k RunKey) Text() string { return strings.ToUpper(encodeBech32(runPrefix, k.run.secret)) }

// WithLimit returns the same key, which opens contents of at most so many bytes in place of
// [DefaultLimit].
func (k RunKey) WithLimit(bytes int64) RunKey { return RunKey{k.opener.withLimit(bytes), k.run} }

// RunPublic is the public key of those who start runs, for envelopes to them and for their
// signatures. Equal keys are ==.
type RunPublic struct{ x25519, ed25519 [keySize]byte }

// ParseRunPublic is the inverse of [RunPublic.String].
func ParseRunPublic(text string) (RunPublic, error) {
	content, ok := decodeBech32(publicPrefix, text)
	if !ok || len(content) != 2*keySize {
		return RunPublic{}, errRunPublic
	}
	return RunPublic{[keySize]byte(content), [keySize]byte(content[keySize:])}, nil
}

func (p RunPublic) String() string {
	return encodeBech32(publicPrefix, append(p.x25519[:len(p.x25519):len(p.x25519)], p.ed25519[:]...))
}

func (p RunPublic) recipient() (age.Recipient, error) {
	return PoolRecipient(encodeBech32(recipientPrefix, p.x25519[:])).recipient()
}

// onlyLine returns the line of a text that is neither empty nor a comment, without spaces around
// it. It reports false where there is another number of them than one.
func onlyLine(text []byte) (only string, ok bool) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if only != "" {
			return "", false
		}
		only = string(line)
	}
	return only, only != ""
}
