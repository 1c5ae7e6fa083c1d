// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/settings"
)

// transitServer answers as the transit engine of Vault does, with a key that turns bytes around.
type transitServer struct {
	unwell atomic.Int32 // so many answers are those of a server that is starting
	calls  atomic.Int32
}

func (s *transitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	var request struct {
		Plaintext  []byte `json:"plaintext"`
		Ciphertext string `json:"ciphertext"`
	}
	answer := func(data map[string]any) { _ = json.NewEncoder(w).Encode(map[string]any{"data": data}) } //nolint:errchkjson // a test
	refuse := func(status int, reason string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errors":[%q]}`, reason)
	}
	err := json.NewDecoder(r.Body).Decode(&request)
	wrapped, isOurs := strings.CutPrefix(request.Ciphertext, "vault:v1:")
	switch {
	case err != nil || r.Method != http.MethodPost:
		refuse(http.StatusBadRequest, "bad request")
	case s.unwell.Add(-1) >= 0:
		refuse(http.StatusServiceUnavailable, "it is sealed")
	case r.Header.Get("X-Vault-Token") != "token of a test":
		refuse(http.StatusForbidden, "permission denied")
	case r.URL.Path == "/v1/transit/encrypt/states":
		slices.Reverse(request.Plaintext)
		answer(map[string]any{"ciphertext": "vault:v1:" + base64.StdEncoding.EncodeToString(request.Plaintext)})
	case r.URL.Path == "/v1/transit/decrypt/states" && isOurs:
		plain, _ := base64.StdEncoding.DecodeString(wrapped)
		slices.Reverse(plain)
		answer(map[string]any{"plaintext": plain})
	default:
		refuse(http.StatusNotFound, "no handler for route")
	}
}

func TestTransit(t *testing.T) {
	handler := &transitServer{}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	open := func(url, token string) *encryption.Keyring {
		return open(t, &settings.Encryption{Keys: settings.Keys{URL: url}}, "", "VAULT_ADDR="+server.URL, "VAULT_TOKEN="+token)
	}
	keys := open("hashivault://states", "token of a test")
	handler.unwell.Store(1)
	file, err := keys.SealFile(t.Context(), encryption.PlanFile, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	calls := handler.calls.Load()
	if _, err := keys.SealFile(t.Context(), encryption.PlanFile, []byte(secret)); err != nil || handler.calls.Load() != calls {
		t.Errorf("a second file: %d calls more, %v, want none", handler.calls.Load()-calls, err)
	}
	if got, err := open("openbao://states", "token of a test").OpenFile(t.Context(), encryption.PlanFile, "it", file); string(got) != secret {
		t.Errorf("OpenFile = %q, %v", got, err)
	}
	_, err = open("hashivault://states", "another").OpenFile(t.Context(), encryption.PlanFile, "it", file)
	checkCode(t, err, encryption.CodeKeyFailed)
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("error %v, want the reason of the server", err)
	}
	_, err = open("hashivault://other", "token of a test").OpenFile(t.Context(), encryption.PlanFile, "it", file)
	checkCode(t, err, encryption.CodeWrongKey)
	server.Close()
	_, err = open("hashivault://states", "token of a test").OpenFile(t.Context(), encryption.PlanFile, "it", file)
	checkCode(t, err, encryption.CodeKeyFailed)
}

// The keys of clouds are opened by their URLs; that of this test is in its URL.
func TestCloud(t *testing.T) {
	open := func(url string) *encryption.Keyring {
		return open(t, &settings.Encryption{Keys: settings.Keys{URL: url}}, "")
	}
	key := "base64key://" + base64.URLEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	file, err := open(key).SealFile(t.Context(), encryption.PlanFile, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := open(key).OpenFile(t.Context(), encryption.PlanFile, "it", file); string(got) != secret {
		t.Errorf("OpenFile = %q, %v", got, err)
	}
	other := "base64key://" + base64.URLEncoding.EncodeToString([]byte("another key.....another key....."))
	_, err = open(other).OpenFile(t.Context(), encryption.PlanFile, "it", file)
	checkCode(t, err, encryption.CodeWrongKey)
	for _, scheme := range []string{"awskms", "azurekeyvault", "gcpkms"} { // which do not exist here
		_, err := open(scheme+"://").SealFile(t.Context(), encryption.PlanFile, nil)
		checkCode(t, err, encryption.CodeKeyFailed)
		if strings.Contains(fmt.Sprint(err), "no key service") {
			t.Errorf("%s is not known: %v", scheme, err)
		}
	}
}
