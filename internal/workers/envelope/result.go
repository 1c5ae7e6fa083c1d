// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
)

const proofSize = sha256.Size

// SealResult returns an envelope for those who start runs, with a proof that it is from a holder of
// this key (rule V3).
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
	proof := prove(shared, k.opener.scalar.PublicKey(), point, head, body)
	return wrap(resultKind, place, []Recipient{to}, head, proof, body)
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
	head, body, err := k.opener.unwrap(resultKind, place, sealed, headSize+proofSize)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(head[headSize:], prove(shared, point, k.opener.scalar.PublicKey(), head[:headSize], body)) {
		return nil, fail(place, ProblemSender)
	}
	return k.opener.content(resultKind, place, head, body)
}

// prove returns the proof of rule V3. The head is always as long, so that the two parts have one
// beginning and one end.
func prove(shared []byte, pool, run *ecdh.PublicKey, head, body []byte) []byte {
	mac := hmac.New(sha256.New, derive(shared, append(pool.Bytes(), run.Bytes()...), forResult))
	mac.Write(head)
	mac.Write(body)
	return mac.Sum(nil)
}
