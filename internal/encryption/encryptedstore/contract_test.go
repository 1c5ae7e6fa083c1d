// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// openSealed opens the store at a location with the key of these tests, which other processes have,
// too.
func openSealed(location string) (statestore.Store, error) {
	store, err := locations.Open(location, nil, statestore.Options{})
	if err != nil {
		return nil, err
	}
	keys, err := encryption.Open(nil, []string{settings.EncryptionVariable + "=file:" + os.Getenv(keyFile)}, ".")
	if err != nil {
		return nil, err
	}
	sealed := encryptedstore.New(store, keys, encryptedstore.Usual)
	if strings.Contains(location, begunMark) {
		return begunStore{sealed}, nil
	}
	return sealed, nil
}

// keyFile is the variable that has the file with the key.
const keyFile = "SEALEDSTORE_TEST_KEY"

func TestMain(m *testing.M) {
	storetest.Main(m, openSealed, map[string]storetest.ChildRole{"hold parts": childHoldParts})
}

func TestContract(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(newKey(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(keyFile, path)
	for kind, newLocation := range map[string]func(t *testing.T, name string) string{"file": newFile, "objects": newDirectory} {
		t.Run(kind, func(t *testing.T) {
			storetest.Run(t, openSealed, func(t *testing.T) string {
				t.Helper()
				if !strings.Contains(t.Name(), "parts") && !strings.Contains(t.Name(), "interleaved") {
					return newLocation(t, "state")
				}
				return newLocation(t, begunMark)
			})
		})
	}
}

// newFile returns the location of a file.
func newFile(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(t.TempDir(), name+".db")
}

// newDirectory returns a location of objects.
func newDirectory(t *testing.T, name string) string {
	t.Helper()
	return "file://" + t.TempDir() + "?stack=" + name
}
