// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// credential is required by the end point, and is in no error.
const credential = "request-credential-of-the-job"

// job returns a source as a job of GitHub Actions has it, with an end point on loopback.
func job(t *testing.T, endPoint http.HandlerFunc) *opened {
	t.Helper()
	server := httptest.NewServer(endPoint)
	t.Cleanup(server.Close)
	source := openIn(t, t.TempDir(), "", requestURLVariable+"="+server.URL+"/token?api-version=2.0", requestTokenVariable+"="+credential)
	source.limits = limits{tries: 3, attempt: 10 * time.Second, pause: time.Millisecond}
	return source
}

func TestTokenFromGitHub(t *testing.T) {
	var asked atomic.Int32
	source := job(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+credential || r.URL.Query().Get("api-version") != "2.0" {
			http.Error(w, "unexpected request", http.StatusBadRequest)
			return
		}
		made := token(t, map[string]any{"aud": r.URL.Query().Get("audience"), "exp": noon.Add(5 * time.Minute).Unix()})
		fmt.Fprintf(w, `{"count": 1, "value": %q}`, made)
	})
	for _, audience := range []string{"sts.amazonaws.com", "https://vault.example.com/?a=b&c"} {
		claims := usualClaims()
		claims.Audience = []string{audience}
		got, err := source.Token(t.Context(), "aws", claims)
		if err != nil || part(t, got, 1)["aud"] != audience {
			t.Errorf("Token() = %q, %v, want a token for %s", got, err, audience)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("%d requests, want one for each token", asked.Load())
	}
}

func TestTroubleWithGitHub(t *testing.T) {
	good := func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"value": %q}`, valid(t))
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with the credential %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	for name, test := range map[string]struct {
		answer   func(w http.ResponseWriter, r *http.Request, try int32)
		want     string // of the error, "" for none
		requests int32
	}{
		"refused": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) {
				http.Error(w, credential, http.StatusUnauthorized)
			},
			`answers "401 Unauthorized". The job may have lost its permission "id-token: write"`, 1,
		},
		"down": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) {
				http.Error(w, "", http.StatusServiceUnavailable)
			},
			`answers "503 Service Unavailable". Run the job again`, 3,
		},
		"down at first": {
			func(w http.ResponseWriter, _ *http.Request, try int32) {
				if try < 3 {
					http.Error(w, "", http.StatusTooManyRequests)
					return
				}
				good(w)
			},
			"", 3,
		},
		"cut off": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) {
				w.Header().Set("Content-Length", "1000")
				fmt.Fprint(w, `{"value": "`)
			},
			"unexpected EOF", 3,
		},
		"cut off at first": {
			func(w http.ResponseWriter, _ *http.Request, try int32) {
				if try == 1 {
					panic(http.ErrAbortHandler)
				}
				good(w)
			},
			"", 2,
		},
		"redirect": {
			func(w http.ResponseWriter, r *http.Request, _ int32) {
				http.Redirect(w, r, elsewhere.URL, http.StatusFound)
			},
			"it redirects elsewhere, which is not followed", 1,
		},
		"huge": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) {
				fmt.Fprintf(w, `{"value": "%s"}`, strings.Repeat("x", 1<<20))
			},
			"answers with more than 131072 bytes, which no token has", 1,
		},
		"not JSON": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) { fmt.Fprint(w, "<html>"+signature) },
			"answers with something else than a token", 1,
		},
		"no token": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) { fmt.Fprint(w, `{"value": ""}`) },
			"answers with something else than a token", 1,
		},
		"no JWT": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) { fmt.Fprintf(w, `{"value": %q}`, signature) },
			"Unusable identity token; The token \"aws\" is to come from GitHub Actions, but it is not a JWT", 1,
		},
		"another audience": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) {
				fmt.Fprintf(w, `{"value": %q}`, token(t, map[string]any{"aud": "https://github.com/acme", "exp": noon.Unix() + 1}))
			},
			`the token from GitHub Actions is for "https://github.com/acme"`, 1,
		},
		"expired": {
			func(w http.ResponseWriter, _ *http.Request, _ int32) {
				fmt.Fprintf(w, `{"value": %q}`, token(t, map[string]any{"aud": "sts.amazonaws.com", "exp": noon.Unix() - 1}))
			},
			"Identity token expired", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			source := job(t, func(w http.ResponseWriter, r *http.Request) { test.answer(w, r, requests.Add(1)) })
			got, err := source.Token(t.Context(), "aws", usualClaims())
			if test.want != "" {
				wantError(t, err, "", test.want)
				if strings.Contains(err.Error(), credential) || strings.Contains(err.Error(), "api-version") {
					t.Errorf("the request is in the error: %s", err)
				}
			} else if err != nil || got != valid(t) {
				t.Errorf("Token() = %q, %v, want the token", got, err)
			}
			if requests.Load() != test.requests {
				t.Errorf("%d requests, want %d", requests.Load(), test.requests)
			}
		})
	}
}

// An end point that does not answer is given up on, and not waited for once the operation ends.
func TestSlowGitHub(t *testing.T) {
	asked := make(chan struct{}, 10)
	source := job(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	source.limits.attempt = 50 * time.Millisecond
	_, err := source.Token(t.Context(), "aws", usualClaims())
	wantError(t, err, "", "does not answer within 50ms. Run the job again")
	if len(asked) != 3 {
		t.Errorf("%d requests, want three", len(asked))
	}
	for range 3 {
		<-asked
	}

	source.limits.attempt = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the request
		<-asked
		cancel()
	}()
	_, err = source.Token(ctx, "aws", usualClaims())
	wantError(t, err, "", "Operation interrupted; GitHub was not waited for")
}

func TestGitHubRefused(t *testing.T) {
	const block = `identity "github" {}`
	variables := func(location string) []string {
		return []string{requestURLVariable + "=" + location, requestTokenVariable + "=" + credential}
	}
	claims := usualClaims()
	claims.Audience = []string{"a", "b"}
	_, err := openIn(t, t.TempDir(), block, variables("https://x.example.com")...).Token(t.Context(), "aws", claims)
	wantError(t, err, "cairn.hcl:1,1-18",
		`Several audiences at GitHub; The identity_token "aws" has the audiences "a", "b", and a token of GitHub Actions has one.`)
	for _, location := range []string{
		"http://x.example.com/token", "ftp://x.example.com", "https://", "x", "http://127.0.0.1.example.com", "https://x\x7f",
	} {
		_, err := openIn(t, t.TempDir(), block, variables(location)...).Token(t.Context(), "aws", usualClaims())
		wantError(t, err, "cairn.hcl:1,1-18",
			"No tokens of GitHub Actions; ACTIONS_ID_TOKEN_REQUEST_URL is not the URL of an end point that can be asked safely")
	}
	_, err = openIn(t, t.TempDir(), block).Token(t.Context(), "aws", usualClaims())
	wantError(t, err, "cairn.hcl:1,1-18",
		"No tokens of GitHub Actions; The token \"aws\" is to come from GitHub Actions, and this run may have none")
}
