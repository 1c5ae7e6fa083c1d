// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

const (
	ownIssuer = "https://tokens.example.com/cairn"
	ownKey    = "identity \"key\" {\npath = \"k.pem\"\nissuer = \"" + ownIssuer + "\"\n"
)

// writeKey writes a new key into a directory, and returns its ID.
func writeKey(t *testing.T, dir, name, algorithm string) string {
	t.Helper()
	content, id, err := NewKey(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, name), string(content), 0o600)
	return id
}

// part decodes one part of a token.
func part(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
	if err != nil {
		t.Fatal(err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestSignedToken(t *testing.T) {
	for _, algorithm := range []string{RS256, ES256} {
		dir := t.TempDir()
		id := writeKey(t, dir, "k.pem", algorithm)
		source := openIn(t, dir, ownKey+"lifetime = \"10m\"\norganization = \"acme\"\n}")
		first, err := source.Token(t.Context(), "aws", usualClaims())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"alg": algorithm, "typ": "JWT", "kid": id}, part(t, first, 0)); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
		got := part(t, first, 1)
		jti, _ := got["jti"].(string)
		if !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(jti) {
			t.Errorf("jti %q, want a UUID", jti)
		}
		want := map[string]any{
			"jti":                             jti,
			"iss":                             ownIssuer,
			"aud":                             "sts.amazonaws.com",
			"iat":                             float64(noon.Unix()),
			"nbf":                             float64(noon.Unix() - 60),
			"exp":                             float64(noon.Unix() + 600),
			"sub":                             "organization:acme:project:default:stack:network:deployment:prod:operation:plan",
			"terraform_operation":             "plan",
			"terraform_stack_deployment_name": "prod",
			"terraform_stack_id":              "network",
			"terraform_stack_name":            "network",
			"terraform_project_id":            "default",
			"terraform_project_name":          "default",
			"terraform_organization_id":       "acme",
			"terraform_organization_name":     "acme",
			"terraform_plan_id":               "plan-1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		claims := usualClaims()
		claims.Operation, claims.Audience, claims.Lifetime, claims.Organization, claims.Project = Apply, []string{
			"a",
			"b",
		}, time.Minute, "other", "shop"
		second, err := source.Token(t.Context(), "aws", claims)
		if err != nil {
			t.Fatal(err)
		}
		got = part(t, second, 1)
		if got["jti"] == jti {
			t.Error("two tokens have the same ID")
		}
		if got["sub"] != "organization:other:project:shop:stack:network:deployment:prod:operation:apply" ||
			got["exp"] != float64(noon.Unix()+60) ||
			!cmp.Equal(got["aud"], []any{"a", "b"}) {
			t.Errorf("claims %v, want those that were given", got)
		}
	}
}

func TestSubjects(t *testing.T) {
	dir := t.TempDir()
	writeKey(t, dir, "k.pem", ES256)
	source := openIn(t, dir, ownKey+"}")
	const place = "cairn.hcl:1,1-15"
	rest := len("organization:default:project:default:stack::deployment:prod:operation:plan")
	claims := usualClaims()
	claims.Stack = strings.Repeat("s", 127-rest)
	if got, err := source.Token(t.Context(), "aws", claims); err != nil || len(part(t, got, 1)["sub"].(string)) != 127 {
		t.Errorf("Token() = %q, %v, want one with a subject of 127 characters", got, err)
	}
	claims.Stack += "s"
	_, err := source.Token(t.Context(), "aws", claims)
	wantError(t, err, place, "Subject too long; The subject of the token \"aws\" would have 128 characters, "+
		"and those who verify it take at most 127: organization:default:")
	for _, test := range []struct {
		change func(*Claims)
		want   string
	}{
		{func(c *Claims) { c.Stack = "a:deployment:prod" }, `The stack of the token "aws" is called "a:deployment:prod".`},
		{func(c *Claims) { c.Stack = "" }, `The stack of the token "aws" is called "".`},
		{func(c *Claims) { c.Deployment = "a:b" }, `The deployment of the token`},
		{func(c *Claims) { c.Organization = "a:b" }, `The organization of the token`},
		{func(c *Claims) { c.Operation = "" }, `The operation of the token`},
	} {
		claims := usualClaims()
		test.change(&claims)
		_, err := source.Token(t.Context(), "aws", claims)
		wantError(t, err, place, "Unusable name in subject; "+test.want)
	}
}

func TestUnusableKeys(t *testing.T) {
	encode := func(kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(good.Public())
	public := encode("PUBLIC KEY", der, err)
	der, err = x509.MarshalECPrivateKey(other)
	p384 := encode("EC PRIVATE KEY", der, err)
	der, err = x509.MarshalECPrivateKey(good)
	sec1 := encode("EC PRIVATE KEY", der, err)
	for name, test := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"good": {sec1, 0o600, ""},
		"readable": {
			sec1,
			0o640,
			"k.pem: others on this machine may read or change it, and sign tokens of their own; take that from them: chmod 600 k.pem.",
		},
		"public":    {public, 0o644, "k.pem: it is a public key, and tokens are signed with the private one."},
		"small":     {encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(small), nil), 0o600, "the RSA key has 1024 bits"},
		"P-384":     {p384, 0o600, "the key is neither one of RSA nor one on the curve P-256"},
		"none":      {"hello", 0o600, "it has no key in PEM"},
		"damaged":   {encode("PRIVATE KEY", []byte("x"), nil), 0o600, "the key in it is damaged"},
		"encrypted": {encode("ENCRYPTED PRIVATE KEY", []byte("x"), nil), 0o600, "encrypted with a passphrase"},
		"other":     {encode("CERTIFICATE", []byte("x"), nil), 0o600, `it has a "CERTIFICATE", not a private or public key`},
		"huge":      {strings.Repeat("x", maxKey+1), 0o600, "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "k.pem"), test.content, test.mode)
			_, err := openIn(t, dir, ownKey+"}").Token(t.Context(), "aws", usualClaims())
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, "cairn.hcl:1,1-15", "Unusable signing key; The key for the token \"aws\" cannot be used. k.pem: ")
			wantError(t, err, "cairn.hcl:1,1-15", test.want)
		})
	}
	_, err = openIn(t, t.TempDir(), ownKey+"}").Token(t.Context(), "aws", usualClaims())
	wantError(t, err, "cairn.hcl:1,1-15", `k.pem: it is not there.`)
	missing, ok := hcl.DiagnosticExtra[fault.Named](failure.Diagnostics(err)[0])
	if !ok || missing.Code != CodeNoKey || !slices.Equal(missing.Names, []string{"k.pem"}) {
		t.Errorf("the fault of a missing key is %v", missing)
	}
	if _, _, err := NewKey("HS256"); err == nil {
		t.Error("there is a key for HS256")
	}
}

// A key that was made with the example of RFC 7638, section 3.1, has the thumbprint that is there.
func TestKeyID(t *testing.T) {
	var example struct{ N string }
	text := `{"n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPe` +
		`bWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicA` +
		`taSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksI` +
		`NHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}`
	if err := json.Unmarshal([]byte(text), &example); err != nil {
		t.Fatal(err)
	}
	n, err := base64.RawURLEncoding.DecodeString(example.N)
	if err != nil {
		t.Fatal(err)
	}
	key := rsa.PublicKey{N: new(big.Int), E: 65537}
	key.N.SetBytes(n)
	got, err := webKey(&key)
	if want := "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"; err != nil || got.KeyID != want {
		t.Errorf("the ID is %q, %v, want %q", got.KeyID, err, want)
	}
}
