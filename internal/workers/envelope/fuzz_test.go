// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"strings"
	"testing"
)

// A text that is read as a key is the one that the key is written as.
func FuzzKeys(f *testing.F) {
	for _, text := range []string{keptRunKey, keptPoolKey, keptPublic, "# " + keptRunKey + "\n" + keptRunKey, "age1", "cairn-run1qqqqqq"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if public, err := ParseRunPublic(text); err == nil && public.String() != text {
			t.Errorf("ParseRunPublic(%q) = %s", text, public)
		}
		if recipient, err := ParsePoolRecipient(text); err == nil && string(recipient) != text {
			t.Errorf("ParsePoolRecipient(%q) = %s", text, recipient)
		}
		if key, err := ParseRunKey([]byte(text)); err == nil && !strings.Contains(text, key.Text()) {
			t.Errorf("ParseRunKey(%q) = %s", text, key.Text())
		}
		if key, err := ParsePoolKey([]byte(text)); err == nil && !strings.Contains(strings.ToUpper(text), key.Text()) {
			t.Errorf("ParsePoolKey(%q) = %s", text, key.Text())
		}
	})
}

// Anything that is opened was sealed: nothing else is an envelope.
func FuzzOpen(f *testing.F) {
	pool, err := ParsePoolKey([]byte(keptPoolKey))
	if err != nil {
		f.Fatal(err)
	}
	run, err := ParseRunKey([]byte(keptRunKey))
	if err != nil {
		f.Fatal(err)
	}
	sealed, result := decode(f, keptEnvelope), decode(f, keptResult)
	f.Add(sealed)
	f.Add(result)
	f.Add([]byte(plainKind + " "))
	f.Fuzz(func(t *testing.T, envelope []byte) {
		if _, err := pool.Open(place, envelope); err == nil && string(envelope) != string(sealed) {
			t.Errorf("an envelope is made up: %q", envelope)
		}
		if _, err := run.OpenResult(place, envelope, PoolRecipient(pool.Recipient())); err == nil && string(envelope) != string(result) {
			t.Errorf("a result is made up: %q", envelope)
		}
	})
}
