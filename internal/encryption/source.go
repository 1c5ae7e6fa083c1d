// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/settings"
)

// source is where files, programs and passphrases are that settings name.
type source struct {
	environ []string
	dir     string
}

func (s source) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.dir, path)
}

// keepers returns those of the keys of a block, besides those of age.
func (s source) keepers(keys settings.Keys) []keeper {
	var all []keeper
	if keys.URL != "" {
		all = append(all, &service{s, keys.URL})
	}
	if len(keys.Command) > 0 {
		all = append(all, &program{command: keys.Command, timeout: keys.Timeout, source: s})
	}
	if name := keys.PassphraseVariable; name != "" {
		all = append(all, &passphrase{text: environ.Get(s.environ, name), place: "the passphrase in " + name})
	}
	return all
}

// named returns the keepers of keys that the variable names, besides those of age.
func (s source) named(v variable) []keeper {
	var all []keeper
	for _, url := range v.urls {
		all = append(all, &service{s, url})
	}
	for _, text := range v.passphrases {
		all = append(all, &passphrase{text: text, place: "the passphrase in " + settings.EncryptionVariable})
	}
	return all
}

// identities returns the places of private keys.
func (s source) identities(block *settings.Encryption, v variable) identities {
	var all identities
	if block != nil {
		if block.IdentityFile != "" {
			all.files = append(all.files, s.path(block.IdentityFile))
		}
		for _, former := range block.Former {
			if former.IdentityFile != "" {
				all.former = append(all.former, s.path(former.IdentityFile))
			}
		}
	}
	for _, path := range v.files {
		all.files = append(all.files, s.path(path))
	}
	all.text = strings.Join(v.identities, "\n")
	return all
}

// variable is the parsed value of [settings.EncryptionVariable].
type variable struct {
	recipients    []string
	identities    []string // private keys
	files         []string // of private keys
	passphrases   []string
	urls          []string
	clearMetadata bool
}

// The beginnings of items of the variable.
const (
	ageItem        = "age:"
	ageSecret      = "AGE-SECRET-KEY-"
	passphraseItem = "passphrase:"
	fileItem       = "file:"
	clearItem      = "metadata=clear"
)

// parseVariable parses items on lines of their own, or between semicolons.
func parseVariable(text string) (variable, error) {
	var v variable
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' || r == '\r' }) {
		item = strings.TrimSpace(item)
		bare := strings.TrimPrefix(item, ageItem)
		passphrase, isPassphrase := strings.CutPrefix(item, passphraseItem)
		switch {
		case item == "" || strings.HasPrefix(item, "#"):
		case isPassphrase:
			v.passphrases = append(v.passphrases, passphrase)
		case item == clearItem:
			v.clearMetadata = true
		case strings.HasPrefix(strings.ToUpper(bare), ageSecret):
			v.identities = append(v.identities, bare)
		case isRecipient(bare):
			v.recipients = append(v.recipients, bare)
		case strings.HasPrefix(item, ageItem): // which is not quoted, as it may be a mistyped secret
			return v, fail(CodeKeyFailed, "Unusable encryption key", "What follows %q in %s is no key of age: those begin with age1 or %s.",
				ageItem, settings.EncryptionVariable, ageSecret)
		case strings.Contains(item, "://"):
			v.urls = append(v.urls, item)
		default:
			v.files = append(v.files, strings.TrimPrefix(item, fileItem))
		}
	}
	return v, nil
}
