// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"filippo.io/age"

	"github.com/cairnstacks/cairn/internal/encryption/agekeys"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/settings"
)

const kindAge = "age"

// maxKeyFile is the limit for the size of a file with keys, in bytes.
const maxKeyFile = 1 << 20

// identities are the places of private keys.
type identities struct {
	files  []string
	former []string // of keys that encrypt nothing any more
	text   string   // the keys themselves
}

func (i identities) none() bool { return len(i.files)+len(i.former) == 0 && i.text == "" }

// ageKeeper wraps root keys for recipients of age, all in one slot: age has several in one file.
type ageKeeper struct {
	recipients []string // those that were named; none stands for those of the identities
	identities identities
	read       func() (parsedKeys, error) // the identities, once
}

// parsedKeys are the private keys of the places of [identities].
type parsedKeys struct {
	all     []age.Identity
	present []string // recipients of those that are not former
}

func isRecipient(text string) bool {
	return strings.HasPrefix(text, "age1") || strings.HasPrefix(text, "ssh-")
}

// newAgeKeeper returns nil if there are neither recipients nor identities.
func newAgeKeeper(recipients []string, from identities) (keeper, error) {
	if len(recipients) == 0 && from.none() {
		return nil, nil //nolint:nilnil // see above
	}
	for _, recipient := range recipients {
		if _, err := agekeys.ParseRecipient(recipient); err != nil { // which may quote a secret that was mistaken for one
			return nil, fail(CodeKeyFailed, "Unusable encryption key", "Among the recipients is a text that is no public key: those of age begin "+
				"with age1, those of ssh with ssh-ed25519 or ssh-rsa.")
		}
	}
	k := &ageKeeper{recipients: recipients, identities: from}
	k.read = sync.OnceValues(from.read)
	return k, nil
}

func (i identities) read() (parsedKeys, error) {
	var keys parsedKeys
	add := func(content []byte, place string, isFormer bool) error {
		parsed, recipients, err := agekeys.Parse(content)
		if err != nil { // which may quote a key
			return fail(CodeKeyFailed, "Unusable encryption key",
				"In %s are no private keys that can be used. It has to have lines that begin with %s, "+
					"as age-keygen writes them, or a private key of ssh without a passphrase.", place, ageSecret)
		}
		keys.all = append(keys.all, parsed...)
		if !isFormer {
			keys.present = append(keys.present, recipients...)
		}
		return nil
	}
	files := func(paths []string, isFormer bool) error {
		for _, path := range paths {
			content, err := readKeys(path)
			if err == nil {
				err = add(content, "the file "+path, isFormer)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := errors.Join(files(i.files, false), files(i.former, true))
	if err == nil && i.text != "" {
		err = add([]byte(i.text), settings.EncryptionVariable, false)
	}
	return keys, err
}

func readKeys(path string) ([]byte, error) {
	content, err := safefile.Read(safefile.OS{}, path, maxKeyFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fail(CodeMissingKey, "Missing encryption key",
			"There is no file %s, which is to have the key of what is encrypted. Nothing was done.",
			path)
	case err != nil:
		return nil, fail(CodeKeyFailed, "Unusable encryption key", "The file of keys %s cannot be read: %s.", path, safefile.Reason(err))
	case len(content) > maxKeyFile:
		return nil, fail(CodeKeyFailed, "Unusable encryption key",
			"The file of keys %s has more than %d bytes. Is it the right one?", path, maxKeyFile)
	}
	return content, nil
}

func (k *ageKeeper) kind() string { return kindAge }

func (k *ageKeeper) String() string {
	places := append([]string{}, k.identities.files...)
	places = append(places, k.identities.former...)
	for i, path := range places {
		places[i] = "the keys in " + path
	}
	if k.identities.text != "" {
		places = append(places, "the key in "+settings.EncryptionVariable)
	}
	if len(places) == 0 {
		return "recipients alone, which only encrypt: name a file with a private key by identity_file or " + settings.EncryptionVariable
	}
	return strings.Join(places, ", nor with ")
}

func (k *ageKeeper) wrap(_ context.Context, key []byte) (*Slot, error) {
	names := k.recipients
	if len(names) == 0 {
		keys, err := k.read()
		if err != nil {
			return nil, err
		}
		if names = keys.present; len(names) == 0 {
			return nil, nil //nolint:nilnil // there are former keys alone
		}
	}
	var recipients []age.Recipient
	for _, name := range names {
		recipient, err := agekeys.ParseRecipient(name)
		if err != nil {
			return nil, err
		}
		recipients = append(recipients, recipient)
	}
	wrapped, err := encryptWithAge(key, recipients...)
	return &Slot{Kind: kindAge, For: names, Key: wrapped}, err
}

func (k *ageKeeper) unwrap(_ context.Context, slot Slot) ([]byte, error) {
	if k.identities.none() {
		return nil, errOtherKey
	}
	keys, err := k.read()
	if err != nil {
		return nil, err
	}
	return decryptWithAge(slot.Key, keys.all...)
}

func encryptWithAge(key []byte, recipients ...age.Recipient) ([]byte, error) {
	var wrapped bytes.Buffer
	w, err := age.Encrypt(&wrapped, recipients...)
	if err == nil {
		_, err = w.Write(key)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return nil, fail(CodeKeyFailed, "Unusable encryption key", "The recipients cannot be used together: %s.", err)
	}
	return wrapped.Bytes(), nil
}

// decryptWithAge takes each failure for another key: what was wrapped has passed a checksum (rule
// E2).
func decryptWithAge(wrapped []byte, identities ...age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(wrapped), identities...)
	if err != nil {
		return nil, errOtherKey
	}
	key, err := io.ReadAll(io.LimitReader(r, keySize+1))
	if err != nil {
		return nil, errOtherKey
	}
	return key, nil
}
