// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"

	"filippo.io/age"

	"github.com/cairnstacks/cairn/internal/sealed"
)

// The kinds of envelopes. Another format needs other names.
const (
	plainKind  = "cairn-sealed-1"
	resultKind = "cairn-result-1"
)

// Recipient is somebody that an envelope is sealed for: a [PoolRecipient] or a [RunPublic].
type Recipient interface {
	recipient() (age.Recipient, error)
}

// The beginning of the text that age encrypts: a byte that says whether the body is compressed, and
// the hash of the place. The rest is the body.
const (
	isStored     = 0
	isCompressed = 1
	placeSize    = sha256.Size
	headSize     = 1 + placeSize
)

// Seal returns an envelope with a content, which any of the recipients can open, and only under the
// name of the same place. It does not say who has sealed it (rule V2).
//
// Errors: [*Error] with [ProblemRecipient].
func Seal(place string, content []byte, to ...Recipient) ([]byte, error) {
	head, body, err := contents(plainKind, place, content)
	if err != nil {
		return nil, err
	}
	return wrap(plainKind, place, to, head, body)
}

// Open returns the content of an envelope that was sealed for the pool.
//
// Errors: [*Error] with [ProblemFormat], [ProblemDamaged], [ProblemKey], [ProblemPlace] or
// [ProblemLarge].
func (k PoolKey) Open(place string, sealed []byte) ([]byte, error) {
	return k.opener.open(k.opener.identity, plainKind, place, sealed)
}

// Open is [PoolKey.Open] for an envelope that was sealed for those who start runs. A result is
// opened by [RunKey.OpenResult] alone.
func (k RunKey) Open(place string, sealed []byte) ([]byte, error) {
	return k.opener.open(k.opener.identity, plainKind, place, sealed)
}

func (o *opener) open(by age.Identity, kind, place string, sealed []byte) ([]byte, error) {
	head, body, err := unwrap(by, kind, place, sealed)
	if err != nil {
		return nil, err
	}
	return o.content(kind, place, head, body)
}

// contents returns the two parts of the encrypted text of an envelope.
func contents(kind, place string, content []byte) (head, body []byte, err error) {
	body, compressed, err := pack(content)
	if err != nil {
		return nil, nil, err
	}
	head = []byte{isStored}
	if compressed {
		head[0] = isCompressed
	}
	return append(head, placeHash(kind, place)...), body, nil
}

// content is the inverse of contents.
func (o *opener) content(kind, place string, head, body []byte) ([]byte, error) {
	if !bytes.Equal(head[1:], placeHash(kind, place)) {
		return nil, fail(place, ProblemPlace)
	}
	if head[0] > isCompressed {
		return nil, fail(place, ProblemFormat)
	}
	content, err := unpack(body, head[0] == isCompressed, o.limit)
	switch {
	case errors.Is(err, errLarge):
		return nil, fail(place, ProblemLarge)
	case err != nil:
		return nil, fail(place, ProblemDamaged)
	}
	return content, nil
}

// placeHash returns the hash of a place in an envelope of a kind.
func placeHash(kind, place string) []byte {
	hash := sha256.Sum256([]byte(kind + "\x00" + place))
	return hash[:]
}

// wrap encrypts parts.
func wrap(kind, place string, to []Recipient, parts ...[]byte) ([]byte, error) {
	if len(to) == 0 {
		return nil, fail(place, ProblemRecipient)
	}
	recipients := make([]age.Recipient, len(to))
	for i := range to {
		var err error
		if recipients[i], err = to[i].recipient(); err != nil {
			return nil, fail(place, ProblemRecipient)
		}
	}
	var file bytes.Buffer
	w, err := age.Encrypt(&file, recipients...)
	if err != nil { // a point of small order
		return nil, fail(place, ProblemRecipient)
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return sealed.Seal(kind, file.Bytes()), nil
}

// unwrap is the inverse of wrap for the two parts of contents.
func unwrap(by age.Identity, kind, place string, envelope []byte) (head, body []byte, err error) {
	if !strings.HasPrefix(string(envelope[:min(len(envelope), len(kind)+1)]), kind+" ") {
		return nil, nil, fail(place, ProblemFormat)
	}
	file, whole := sealed.Open(kind, envelope)
	if !whole {
		return nil, nil, fail(place, ProblemDamaged)
	}
	r, err := age.Decrypt(bytes.NewReader(file), by)
	switch {
	case errors.As(err, new(*age.NoIdentityMatchError)):
		return nil, nil, fail(place, ProblemKey)
	case errors.Is(err, errSender):
		return nil, nil, fail(place, ProblemSender)
	case err != nil:
		return nil, nil, fail(place, ProblemDamaged)
	}
	var content bytes.Buffer
	content.Grow(len(file))
	if _, err := content.ReadFrom(r); err != nil || content.Len() < headSize {
		return nil, nil, fail(place, ProblemDamaged)
	}
	return content.Next(headSize), content.Bytes(), nil
}
