// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/settings"
)

// signature is in every token of these tests, and in no error.
const signature = "c2lnbmF0dXJlLXNlY3JldA"

// noon is when these tests are.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func usualClaims() Claims {
	return Claims{Audience: []string{"sts.amazonaws.com"}, Stack: "network", Deployment: "prod", Operation: Plan, PlanID: "plan-1"}
}

// token makes one with claims, which nobody has signed.
func token(t *testing.T, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return "eyJhbGciOiJSUzI1NiJ9." + base64.RawURLEncoding.EncodeToString(payload) + "." + signature
}

// valid is a token for the usual audience, for another hour.
func valid(t *testing.T) string {
	t.Helper()
	return token(t, map[string]any{"aud": "sts.amazonaws.com", "exp": noon.Add(time.Hour).Unix()})
}

// openIn opens the source that a settings file says, in a directory.
func openIn(t *testing.T, dir, text string, environ ...string) *opened {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, settings.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, diags := settings.Read(dir, map[string]*hcl.File{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	source := open(read.Identity, environ, dir)
	source.now = func() time.Time { return noon }
	return source
}

// wantError checks an error of a source, which has a text and a place, and no token.
func wantError(t *testing.T, err error, place, want string) {
	t.Helper()
	diags, ok := err.(hcl.Diagnostics)
	if !ok || len(diags) != 1 {
		t.Fatalf("error %v, want one diagnostic: %s", err, want)
	}
	got := diags[0].Summary + "; " + diags[0].Detail
	if !strings.Contains(got, want) {
		t.Errorf("error:\n%s\nwant it to have:\n%s", got, want)
	}
	if strings.Contains(got, signature) {
		t.Errorf("the token is in the error: %s", got)
	}
	at := ""
	if diags[0].Subject != nil {
		at = diags[0].Subject.String()
	}
	if at != place {
		t.Errorf("the error is at %q, want %q: %s", at, place, got)
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestNoSource(t *testing.T) {
	for name, test := range map[string]struct {
		settings string
		environ  []string
		want     string
	}{
		"anywhere": {"", nil, `Add a block to cairn.hcl that says it, such as identity "file"`},
		"GitHub":   {"", []string{"GITHUB_ACTIONS=true"}, `add "permissions: { id-token: write, contents: read }"`},
		"GitLab": {
			"",
			[]string{"GITLAB_CI=true"},
			`add identity "gitlab" {} to cairn.hcl, and "id_tokens: { AWS_ID_TOKEN: { aud: sts.amazonaws.com } }"`,
		},
		"sources for others": {
			`identity "github" { tokens = ["gcp"] }`,
			nil,
			`The identity blocks of cairn.hcl are for other tokens: add one without tokens, or with "aws"`,
		},
		"GitHub, but in part": {"", []string{"GITHUB_ACTIONS=true", requestURLVariable + "=https://x.example.com"}, `id-token: write`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openIn(t, t.TempDir(), test.settings, test.environ...).Token(t.Context(), "aws", usualClaims())
			wantError(t, err, "", "No source of tokens; The identity_token \"aws\" needs a token, and nothing says from where.")
			wantError(t, err, "", test.want)
		})
	}
}

func TestNoAudience(t *testing.T) {
	for _, audience := range [][]string{nil, {""}, {"a", ""}} {
		claims := usualClaims()
		claims.Audience = audience
		_, err := openIn(t, t.TempDir(), `identity "github" {}`).Token(t.Context(), "aws", claims)
		wantError(t, err, "", "Token without audience")
	}
}

func TestTokenFromFile(t *testing.T) {
	const place = "cairn.hcl:1,1-16"
	for name, test := range map[string]struct {
		content  string
		mode     os.FileMode
		settings string
		want     string // of the error
		warning  string
	}{
		"good":              {content: valid(t) + "\n"},
		"several audiences": {content: token(t, map[string]any{"aud": []string{"x", "sts.amazonaws.com"}, "exp": noon.Unix() + 1})},
		"empty":             {content: " \n", want: `Unusable identity token; The token "aws" is to come from the file t.jwt, which has none.`},
		"no JWT":            {content: signature, want: "it is not a JWT"},
		"two lines":         {content: valid(t) + "\n" + valid(t), want: "it is not a JWT"},
		"claims":            {content: "eyJ9.bm90IGpzb24." + signature, want: "its claims cannot be read"},
		"no end":            {content: token(t, map[string]any{"aud": "sts.amazonaws.com"}), want: "does not say when it expires"},
		"endless":           {content: token(t, map[string]any{"aud": "sts.amazonaws.com", "exp": 1e300}), want: "does not say when it expires"},
		"expired": {
			content: token(t, map[string]any{"aud": "sts.amazonaws.com", "exp": noon.Unix()}),
			want:    "Identity token expired; The token \"aws\" from the file t.jwt has expired at 2026-01-02T12:00:00Z. Whatever renews it",
		},
		"audience": {
			content: token(t, map[string]any{"aud": "vault", "exp": noon.Unix() + 9}),
			want: `Token for another audience; The identity_token "aws" has the audience "sts.amazonaws.com", ` +
				`and the token from the file t.jwt is for "vault".`,
		},
		"no audience": {content: token(t, map[string]any{"exp": noon.Unix() + 9}), want: "is for no audience"},
		"huge":        {content: strings.Repeat("x", maxToken+1), want: "more than 65536 bytes"},
		"writable":    {content: valid(t), mode: 0o660, want: "File writable by others"},
		"readable":    {content: valid(t), mode: 0o644, warning: "Token readable by others"},
		"shared":      {content: valid(t), mode: 0o644, settings: "shared = true"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.mode == 0 {
				test.mode = 0o600
			}
			write(t, filepath.Join(dir, "t.jwt"), test.content, test.mode)
			source := openIn(t, dir, "identity \"file\" {\npath = \"t.jwt\"\n"+test.settings+"\n}")
			for range 2 {
				got, err := source.Token(t.Context(), "aws", usualClaims())
				if test.want != "" {
					wantError(t, err, place, test.want)
				} else if err != nil || got != strings.TrimSpace(test.content) {
					t.Errorf("Token() = %q, %v, want what is in the file", got, err)
				}
			}
			warnings := Warnings(source)
			if test.warning == "" && len(warnings) > 0 || test.warning != "" && (len(warnings) != 1 || warnings[0].Summary != test.warning) {
				t.Errorf("warnings: %v, want once %q", warnings, test.warning)
			}
		})
	}
	_, err := openIn(t, t.TempDir(), `identity "file" { path = "t.jwt" }`).Token(t.Context(), "aws", usualClaims())
	wantError(t, err, place, "Unreadable identity token; The token \"aws\" is to come from the file t.jwt: no such file")
}

// A token that is renewed in the file between two operations is seen.
func TestTokenFromFileIsRead(t *testing.T) {
	dir := t.TempDir()
	source := openIn(t, dir, `identity "file" { path = "t.jwt" }`)
	for _, jti := range []string{"one", "two"} {
		want := token(t, map[string]any{"aud": "sts.amazonaws.com", "exp": noon.Unix() + 9, "jti": jti})
		write(t, filepath.Join(dir, "t.jwt"), want, 0o600)
		if got, err := source.Token(t.Context(), "aws", usualClaims()); err != nil || got != want {
			t.Errorf("Token() = %q, %v, want %q", got, err, want)
		}
	}
}

func TestTokenFromVariable(t *testing.T) {
	source := openIn(t, t.TempDir(), "identity \"gitlab\" {}\nidentity \"gitlab\" {\ntokens = [\"vault\"]\nvariable = \"JWT\"\n}",
		"AWS_ROLE_ID_TOKEN="+valid(t), "JWT="+valid(t))
	for _, label := range []string{"aws-role", "vault"} {
		if got, err := source.Token(t.Context(), label, usualClaims()); err != nil || got != valid(t) {
			t.Errorf("Token(%q) = %q, %v, want what is in the variable", label, got, err)
		}
	}
	claims := usualClaims()
	claims.Audience = []string{"a", "b"}
	_, err := source.Token(t.Context(), "gcp", claims)
	wantError(t, err, "cairn.hcl:1,1-18",
		`No token in environment; The token "gcp" is to come from the environment variable GCP_ID_TOKEN, which is not set. `+
			`In the job of GitLab, add "id_tokens: { GCP_ID_TOKEN: { aud: [a, b] } }".`)
	_, err = source.Token(t.Context(), "vault", claims)
	wantError(t, err, "cairn.hcl:2,1-18", "Token for another audience")
	source.now = func() time.Time { return noon.Add(2 * time.Hour) }
	_, err = source.Token(t.Context(), "vault", usualClaims())
	wantError(t, err, "cairn.hcl:2,1-18", "raise the timeout of the job")
}
