// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package agekeys reads keys that age encrypts for: its own, and those of ssh.
package agekeys

import (
	"bytes"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// ParseRecipient reads a public key. Its error may quote the text.
func ParseRecipient(text string) (age.Recipient, error) {
	if strings.HasPrefix(text, "ssh-") {
		return agessh.ParseRecipient(text)
	}
	parsed, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return parsed[0], nil
}

// Parse reads private keys, as age-keygen writes them, or one of ssh without a passphrase. It
// returns their public keys, too. Its error may quote a key.
func Parse(content []byte) (keys []age.Identity, recipients []string, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("-----BEGIN")) {
		return parseSSH(content)
	}
	if keys, err = age.ParseIdentities(bytes.NewReader(content)); err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		switch key := key.(type) {
		case *age.X25519Identity:
			recipients = append(recipients, key.Recipient().String())
		case *age.HybridIdentity:
			recipients = append(recipients, key.Recipient().String())
		}
	}
	return keys, recipients, nil
}

func parseSSH(content []byte) ([]age.Identity, []string, error) {
	key, err := agessh.ParseIdentity(content)
	if err != nil {
		return nil, nil, err
	}
	signer, err := ssh.ParsePrivateKey(content)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the public key: %w", err)
	}
	return []age.Identity{key}, []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))}, nil
}
