// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/environ"
)

// transit is a key of the transit engine of Vault or OpenBao, which have the same API. It is two
// calls; the client library of either brings more than all the rest of this package.
type transit struct {
	client    *http.Client
	server    *url.URL
	mount     string
	key       string
	token     string
	namespace string
}

const (
	transitTime    = 30 * time.Second
	transitTries   = 3
	transitPause   = 500 * time.Millisecond // before the second try, and longer before the third
	maxTransitText = 1 << 20
)

// openTransit reads where the server is and how it knows this user, as the command lines of Vault
// and OpenBao do. Parameter engine of the URL is where the transit engine is mounted.
func openTransit(_ context.Context, s *service, location *url.URL) (serviceKey, error) {
	variable := func(name string) string {
		vault, bao := environ.Get(s.environ, "VAULT_"+name), environ.Get(s.environ, "BAO_"+name)
		if location.Scheme == "openbao" {
			return cmp.Or(bao, vault)
		}
		return cmp.Or(vault, bao)
	}
	t := &transit{
		mount: cmp.Or(location.Query().Get("engine"), "transit"),
		key:   location.Host + location.Path,
		token: variable("TOKEN"), namespace: variable("NAMESPACE"),
	}
	if t.token == "" {
		t.token = tokenOfUser(s.environ)
	}
	address := variable("ADDR")
	var err error
	if t.server, err = url.Parse(address); err != nil || t.server.Host == "" {
		return nil, errors.New("VAULT_ADDR or BAO_ADDR has to have the URL of the server")
	}
	t.client, err = newTransitClient(variable("CACERT"))
	return t, err
}

// tokenOfUser is the token that "vault login" keeps.
func tokenOfUser(environment []string) string {
	home := environ.Get(environment, "HOME")
	if home == "" {
		return ""
	}
	token, err := os.ReadFile(filepath.Join(home, ".vault-token"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(token))
}

func newTransitClient(authorities string) (*http.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if authorities != "" {
		content, err := os.ReadFile(authorities)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("there is no certificate in %s", authorities)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: transport, Timeout: transitTime, CheckRedirect: checkTransitRedirect}, nil
}

// checkTransitRedirect lets a standby server name the active one.
func checkTransitRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > 1 || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("it redirects to another address that is not encrypted, or more than once")
	}
	return nil
}

func (t *transit) close() error {
	t.client.CloseIdleConnections()
	return nil
}

func (t *transit) encrypt(ctx context.Context, plain []byte) ([]byte, error) {
	var answer struct {
		Ciphertext string `json:"ciphertext"`
	}
	err := t.call(ctx, "encrypt", map[string]any{"plaintext": plain}, &answer) // in Base64, as bytes are in JSON
	if err == nil && answer.Ciphertext == "" {
		err = errors.New("the answer has no ciphertext")
	}
	return []byte(answer.Ciphertext), err
}

func (t *transit) decrypt(ctx context.Context, encrypted []byte) ([]byte, error) {
	var answer struct {
		Plaintext []byte `json:"plaintext"`
	}
	err := t.call(ctx, "decrypt", map[string]any{"ciphertext": string(encrypted)}, &answer)
	return answer.Plaintext, err
}

// call does one of the two things that the key is for. It tries again where the server was not
// reached, or says that it is not well.
func (t *transit) call(ctx context.Context, what string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		again, err := t.try(ctx, what, body, answer)
		if err == nil || !again || try == transitTries {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Duration(try) * transitPause):
		}
	}
}

func (t *transit) try(ctx context.Context, what string, body []byte, answer any) (again bool, err error) {
	place := t.server.JoinPath("v1", t.mount, what, t.key)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, place.String(), bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Vault-Token", t.token)
	req.Header.Set("X-Vault-Request", "true")
	if t.namespace != "" {
		req.Header.Set("X-Vault-Namespace", t.namespace)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxTransitText))
	if err != nil {
		return true, err
	}
	var parsed struct {
		Errors []string        `json:"errors"`
		Data   json.RawMessage `json:"data"`
	}
	parseErr := json.Unmarshal(text, &parsed)
	switch {
	case resp.StatusCode != http.StatusOK:
		unwell := resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests
		return unwell, fmt.Errorf("the server answers %s: %s", resp.Status, cmp.Or(strings.Join(parsed.Errors, ", "), "no reason given"))
	case parseErr != nil:
		return false, errors.New("the answer is not that of a transit engine")
	}
	return false, json.Unmarshal(parsed.Data, answer)
}
