// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/identity"
	"github.com/cairnstacks/cairn/internal/settings"
)

// relyingParty believes tokens of an issuer as the token service of AWS does: it fetches discovery
// document and keys by https, and checks signature, issuer, audience, times and subject. It has
// nothing in common with the code that signs.
type relyingParty struct {
	client            *http.Client
	issuer            string
	audience, subject string
	now               time.Time
}

func (p *relyingParty) fetch(location string, target any) error {
	resp, err := p.client.Get(location)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", location, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(target)
}

func decodePart(part string, target any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, target)
}

type publicKey struct{ Kid, Kty, Alg, Use, N, E, Crv, X, Y string }

func bigNumber(text string) *big.Int {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(bytes)
}

// verifies reports whether a signature is that of a key.
func (k publicKey) verifies(signed, signature []byte) bool {
	digest := sha256.Sum256(signed)
	if k.Kty == "RSA" {
		key := &rsa.PublicKey{N: bigNumber(k.N), E: int(bigNumber(k.E).Int64())}
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
	}
	if len(signature) != 64 {
		return false
	}
	point := append([]byte{4}, bigNumber(k.X).FillBytes(make([]byte, 32))...)
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(point, bigNumber(k.Y).FillBytes(make([]byte, 32))...))
	return err == nil && ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

// believe returns nil if it believes a token.
func (p *relyingParty) believe(token string) error {
	var discovery struct {
		Issuer     string   `json:"issuer"`
		KeysURI    string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := p.fetch(p.issuer+"/.well-known/openid-configuration", &discovery); err != nil {
		return err
	}
	var keys struct{ Keys []publicKey }
	if err := p.fetch(discovery.KeysURI, &keys); err != nil {
		return err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("no JWT")
	}
	var header struct{ Alg, Kid, Typ string }
	var claims struct {
		Iss, Aud, Sub string
		Exp, Nbf      int64
	}
	if err := errors.Join(decodePart(parts[0], &header), decodePart(parts[1], &claims)); err != nil {
		return err
	}
	i := slices.IndexFunc(keys.Keys, func(k publicKey) bool { return k.Kid == header.Kid })
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	switch {
	case err != nil:
		return err
	case discovery.Issuer != p.issuer:
		return errors.New("the discovery document is of another issuer")
	case i < 0:
		return errors.New("unknown key")
	case keys.Keys[i].Alg != header.Alg || keys.Keys[i].Use != "sig" || !slices.Contains(discovery.Algorithms, header.Alg):
		return errors.New("another algorithm")
	case !keys.Keys[i].verifies([]byte(parts[0]+"."+parts[1]), signature):
		return errors.New("invalid signature")
	case claims.Iss != p.issuer:
		return errors.New("another issuer")
	case claims.Aud != p.audience:
		return errors.New("another audience")
	case claims.Sub != p.subject:
		return errors.New("another subject")
	case p.now.Unix() >= claims.Exp || p.now.Unix() < claims.Nbf:
		return errors.New("not valid now")
	}
	return nil
}

// The documents of "identity jwks -out", served by any web server, let others believe tokens that
// are signed with the key, and no others.
func TestTokensAreVerified(t *testing.T) {
	for _, algorithm := range []string{identity.RS256, identity.ES256} {
		t.Run(algorithm, func(t *testing.T) { testVerified(t, algorithm) })
	}
}

func testVerified(t *testing.T, algorithm string) {
	s := newStack(t, "")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(http.StripPrefix("/cairn", http.FileServer(http.Dir("public"))))
	defer server.Close()
	issuer := server.URL + "/cairn"
	s.mustRun("identity", "key", "-algorithm="+algorithm, "identity.pem")
	configure := func(more string) {
		t.Helper()
		text := fmt.Sprintf("identity \"key\" {\n  path = \"identity.pem\"\n  issuer = %q\n%s}\n", issuer, more)
		if err := os.WriteFile(settings.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newToken := func(change func(*identity.Claims)) string {
		t.Helper()
		read, diags := settings.Read(dir, map[string]*hcl.File{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		source, err := identity.Open(read.Identity, nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		claims := identity.Claims{
			Audience:   []string{"sts.amazonaws.com"},
			Stack:      "network",
			Deployment: "prod",
			Operation:  identity.Apply,
			PlanID:     "p1",
		}
		change(&claims)
		token, err := source.Token(t.Context(), "aws", claims)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	configure("")
	s.mustRun("identity", "jwks", "-out=public")
	cloud := relyingParty{
		client: server.Client(), issuer: issuer, audience: "sts.amazonaws.com", now: time.Now(),
		subject: "organization:default:project:default:stack:network:deployment:prod:operation:apply",
	}
	check := func(what, token, want string) {
		t.Helper()
		got := ""
		if err := cloud.believe(token); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	token := newToken(func(*identity.Claims) {})
	check("a token", token, "")
	check("of a plan", newToken(func(c *identity.Claims) { c.Operation = identity.Plan }), "another subject")
	check("of another deployment", newToken(func(c *identity.Claims) { c.Deployment = "test" }), "another subject")
	check("for another audience", newToken(func(c *identity.Claims) { c.Audience = []string{"vault"} }), "another audience")
	parts := strings.Split(token, ".")
	other := strings.Split(newToken(func(c *identity.Claims) { c.Deployment = "test" }), ".")
	check("with claims of another", parts[0]+"."+other[1]+"."+parts[2], "invalid signature")
	cloud.now = time.Now().Add(2 * time.Hour)
	check("an old one", token, "not valid now")
	cloud.now = time.Now().Add(-30 * time.Second)
	check("where the clock is late", token, "")
	cloud.now = time.Now().Add(-2 * time.Minute)
	check("where it is very late", token, "not valid now")
	cloud.now = time.Now().Add(time.Minute)

	// A new key takes the place of the old one, whose tokens are believed as long as it is published.
	if err := os.Rename("identity.pem", "old.pem"); err != nil {
		t.Fatal(err)
	}
	s.mustRun("identity", "key", "identity.pem")
	rotated := newToken(func(*identity.Claims) {})
	check("before the new key is published", rotated, "unknown key")
	configure("  retired = [\"old.pem\"]\n")
	s.mustRun("identity", "jwks", "-out=public")
	check("with the new key", rotated, "")
	check("with the retired key", token, "")
	configure("")
	s.mustRun("identity", "jwks", "-out=public")
	check("with a key that is gone", token, "unknown key")
}
