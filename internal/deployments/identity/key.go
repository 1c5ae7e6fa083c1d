// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-jose/go-jose/v4"

	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

const (
	maxKey  = 64 << 10 // bytes of a file
	leastRS = 2048     // bits of an RSA key
	usualRS = 3072     // bits of one that is made here

	// privateBits are the permissions of others on a file.
	privateBits = 0o077
)

// The algorithms of signatures, as JWTs name them.
const (
	RS256 = string(jose.RS256)
	ES256 = string(jose.ES256)
)

// NewKey makes a private key for an algorithm, [RS256] or [ES256]. It returns the content of its
// file, and the ID of the key in tokens.
func NewKey(algorithm string) (content []byte, id string, err error) {
	var key crypto.Signer
	switch algorithm {
	case RS256:
		key, err = rsa.GenerateKey(rand.Reader, usualRS)
	case ES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		return nil, "", fmt.Errorf("there are no keys for %q, only for %s and %s", algorithm, RS256, ES256)
	}
	if err != nil {
		return nil, "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, "", err
	}
	public, err := webKey(key.Public())
	if err != nil {
		return nil, "", err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), public.KeyID, nil
}

// readKey reads a file with a key. That of a private key is for its owner only. Errors name the
// file.
func (p *place) readKey(name string) (any, error) {
	content, mode, err := p.read(name, maxKey)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Error(fmt.Errorf("%s: it is not there", name), CodeNoKey, name)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", name, safefile.Reason(err))
	case len(content) > maxKey:
		return nil, fmt.Errorf("%s: it has more than %d bytes, which no key has", name, maxKey)
	}
	key, err := parseKey(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, private := key.(crypto.Signer); private && readableByOthers(uint32(mode), privateBits) {
		return nil, fmt.Errorf("%s: others on this machine may read or change it, and sign tokens of their own; "+
			"take that from them: chmod 600 %[1]s", name)
	}
	return key, nil
}

// parseKey reads a private or a public key in PEM. Its errors say nothing of its content.
func parseKey(content []byte) (any, error) {
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, errors.New("it has no key in PEM, which begins with -----BEGIN")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("the key is encrypted with a passphrase, which nobody can be asked for; give one without")
	default:
		return nil, fmt.Errorf("it has a %q, not a private or public key", shortened(block.Type))
	}
	if block.Headers["DEK-Info"] != "" {
		return nil, errors.New("the key is encrypted with a passphrase, which nobody can be asked for; give one without")
	}
	if err != nil {
		return nil, errors.New("the key in it is damaged")
	}
	_, err = algorithmOf(publicOf(key))
	return key, err
}

func publicOf(key any) any {
	if private, ok := key.(crypto.Signer); ok {
		return private.Public()
	}
	return key
}

// algorithmOf returns that of the signatures that a key makes.
func algorithmOf(public any) (jose.SignatureAlgorithm, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < leastRS {
			return "", fmt.Errorf("the RSA key has %d bits, and those who verify tokens ask for %d", key.N.BitLen(), leastRS)
		}
		return jose.RS256, nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return jose.ES256, nil
		}
	}
	return "", errors.New("the key is neither one of RSA nor one on the curve P-256, which RS256 and ES256 are signed with")
}

// webKey returns a public key as it is published. Its ID is its thumbprint by RFC 7638, so that the
// same key has the same ID everywhere.
func webKey(public any) (jose.JSONWebKey, error) {
	algorithm, err := algorithmOf(public)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	key := jose.JSONWebKey{Key: public, Algorithm: string(algorithm), Use: "sig"}
	thumbprint, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return key, err
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return key, nil
}
