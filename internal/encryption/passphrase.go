// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"context"

	"filippo.io/age"
)

const kindPassphrase = "passphrase"

const (
	// workFactor is what OWASP recommends at least for scrypt. It takes some tenths of a second, once
	// for each state and each file that is read, and once for all files that a process writes.
	workFactor = 17

	// maxWorkFactor bounds the time and the memory that a slot of somebody else may cost.
	maxWorkFactor = 20

	minPassphrase = 12 // bytes
)

// passphrase wraps root keys with a key that scrypt makes of a passphrase.
type passphrase struct {
	text  string
	place string
}

func (p *passphrase) kind() string   { return kindPassphrase }
func (p *passphrase) String() string { return p.place }

func (p *passphrase) check() error {
	switch {
	case p.text == "":
		return fail(CodeMissingKey, "Missing encryption key", "There is nothing in %s. Nothing was done.", p.place)
	case len(p.text) < minPassphrase:
		return fail(CodeKeyFailed, "Passphrase too short",
			"What is in %s has less than %d bytes: somebody who has a file could find it out by trying.",
			p.place, minPassphrase)
	}
	return nil
}

func (p *passphrase) wrap(_ context.Context, key []byte) (*Slot, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	recipient, err := age.NewScryptRecipient(p.text)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(workFactor)
	wrapped, err := encryptWithAge(key, recipient)
	return &Slot{Kind: kindPassphrase, Key: wrapped}, err
}

func (p *passphrase) unwrap(_ context.Context, slot Slot) ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	identity, err := age.NewScryptIdentity(p.text)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	return decryptWithAge(slot.Key, identity)
}
