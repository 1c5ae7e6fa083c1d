// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

const (
	keySize  = 32
	saltSize = 16
)

// sealedPrefix begins everything that is encrypted by [Root.Seal]. No record of a state begins with
// a zero byte.
const sealedPrefix = "\x00cs1"

// The purposes of keys that are derived from a root key.
const (
	forID      = "cairn root key identifier 1"
	forSalts   = "cairn salts 1"
	forNames   = "cairn names 1"
	forContent = "cairn content 1"
)

// Root is a root key with its wrapped copies. It is never changed.
type Root struct {
	key   []byte
	salts []byte // key of the hashes that are salts
	names []byte // key of the hashes that stand for names

	wrapped Wrapped
}

// Wrapped are the wrapped copies of a root key.
type Wrapped struct {
	ID    string `json:"id"` // of the root key
	Slots []Slot `json:"slots"`
}

// Slot is a copy of a root key that is wrapped in one way.
type Slot struct {
	Kind string   `json:"kind"`
	For  []string `json:"for,omitempty"` // for people: which key unwraps it
	Key  []byte   `json:"key"`
}

func newRootKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	return key
}

func newRoot(key []byte) *Root {
	r := &Root{key: key, salts: expand(key, forSalts), names: expand(key, forNames)}
	r.wrapped.ID = hex.EncodeToString(expand(key, forID)[:saltSize])
	return r
}

// expand derives a key from another one, which is uniformly random: nothing has to be extracted.
func expand(key []byte, purpose string) []byte {
	derived, err := hkdf.Expand(sha256.New, key, purpose, keySize)
	if err != nil {
		panic(err) // only for a length that HKDF does not have
	}
	return derived
}

// ID identifies the root key, and says nothing about it.
func (r *Root) ID() string { return r.wrapped.ID }

// Wrapped are its wrapped copies.
func (r *Root) Wrapped() Wrapped { return r.wrapped }

// IsSealed reports whether a content is one that [Root.Seal] has returned.
func IsSealed(content []byte) bool { return bytes.HasPrefix(content, []byte(sealedPrefix)) }

// Seal encrypts a content for a place (rules E3 and E4).
func (r *Root) Seal(place string, content []byte) []byte {
	salt := r.salt(place, content)
	sealed := make([]byte, 0, len(sealedPrefix)+saltSize+len(content)+aeadOverhead)
	sealed = append(sealed, sealedPrefix...)
	sealed = append(sealed, salt...)
	return r.aead(salt).Seal(sealed, zeroNonce[:], content, []byte(place))
}

// Open decrypts what [Root.Seal] has encrypted for a place. It reports false for anything else.
func (r *Root) Open(place string, sealed []byte) (content []byte, ok bool) {
	if !IsSealed(sealed) || len(sealed) < len(sealedPrefix)+saltSize+aeadOverhead {
		return nil, false
	}
	salt := sealed[len(sealedPrefix):][:saltSize]
	content, err := r.aead(salt).Open(nil, zeroNonce[:], sealed[len(sealedPrefix)+saltSize:], []byte(place))
	if content == nil {
		content = []byte{}
	}
	return content, err == nil
}

// Name returns a name that stands for another one, and tells nobody of that who has not the root
// key.
func (r *Root) Name(name string) string {
	mac := hmac.New(sha256.New, r.names)
	mac.Write([]byte(name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:saltSize])
}

// zeroNonce will do, as each data key encrypts one content.
var zeroNonce [12]byte

const aeadOverhead = 16

func (r *Root) aead(salt []byte) cipher.AEAD {
	block, err := aes.NewCipher(expand(r.key, forContent+string(salt)))
	if err != nil {
		panic(err) // only for a length of keys that AES does not have
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for other ciphers
	}
	return aead
}

func (r *Root) salt(place string, content []byte) []byte {
	mac := hmac.New(sha256.New, r.salts)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(place))))
	mac.Write([]byte(place))
	mac.Write(content)
	return mac.Sum(nil)[:saltSize]
}
