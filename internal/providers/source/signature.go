// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package source

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"

	"github.com/cairnstacks/cairn/internal/providers/release"
)

// officialKey is the fingerprint of the key by which HashiCorp signs its own providers.
const officialKey = "c874011f0ab405110d02105534365d9472d7468f"

// Signed has the signed statements of the publisher of a release.
type Signed struct {
	KeyID    string         // of the key, for people to compare
	Official bool           // HashiCorp has signed it
	Hashes   []release.Hash // of the archives for all platforms, sorted
}

// checkSignature checks that one of the keys, each as text, has signed a list. That one of them is
// official is known by its fingerprint.
func checkSignature(list, signature []byte, keys []string, official string) (*Signed, error) {
	if len(keys) == 0 {
		return nil, errors.New("the registry gives no key that has signed the checksums")
	}
	for _, armored := range keys {
		ring, err := openpgp.ReadArmoredKeyRing(strings.NewReader(armored))
		if err != nil {
			return nil, fmt.Errorf("a key of the registry cannot be read: %w", err)
		}
		made, signer, err := openpgp.VerifyDetachedSignature(ring, bytes.NewReader(list), bytes.NewReader(signature), nil)
		switch {
		case errors.Is(err, pgperrors.ErrUnknownIssuer):
			continue
		case errors.Is(err, pgperrors.ErrKeyExpired) && !made.SigExpired(time.Now()):
			err = nil // signatures from before a key expired stay valid; others accept that, too
		}
		if err != nil {
			return nil, fmt.Errorf("the signature of the checksums is wrong: %w", err)
		}
		return &Signed{
			KeyID:    signer.PrimaryKey.KeyIdString(),
			Official: hex.EncodeToString(signer.PrimaryKey.Fingerprint) == official,
		}, nil
	}
	return nil, errors.New("none of the keys of the registry has signed the checksums")
}
