// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"path"
	"slices"
)

// guard lets requests through that may be answered (rule P1).
type guard struct {
	token  string // in the address that the user gets, and in the cookie from then on
	form   string // in forms that change something
	hosts  []string
	cookie string // its name: browsers keep cookies for all ports of a host together
}

// newGuard returns a guard for a server on a port, with new secrets.
func newGuard(host, port string) *guard {
	g := &guard{token: rand.Text(), form: rand.Text(), cookie: "cairn-page-" + port}
	for _, name := range []string{host, "127.0.0.1", "localhost", "[::1]"} {
		g.hosts = append(g.hosts, name+":"+port)
	}
	return g
}

// policy is all that a page may load and do (rule P3).
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// mostBody is more than any form has.
const mostBody = 64 << 10

func secure(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

// wrap returns a handler that answers what the guard lets through.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		switch {
		case !slices.Contains(g.hosts, r.Host):
			http.Error(w, "This server does not have that name.", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			http.Error(w, "There is nothing to do by this method.", http.StatusMethodNotAllowed)
		case !g.isOwn(r):
			http.Error(w, "This request comes from another page.", http.StatusForbidden)
		case r.Method != http.MethodPost && r.URL.Query().Has("token"):
			g.enter(w, r)
		case !g.knows(r):
			http.Error(w, "Open the address that was printed on the terminal.", http.StatusForbidden)
		case r.Method == http.MethodPost && !same(r.PostFormValue("form"), g.form):
			http.Error(w, "This form is of another server that was here. Load the page again.", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isOwn reports whether a request comes from a page of this server, or from a person. Browsers say
// by Sec-Fetch-Site where it comes from, which no page can change; older ones say it by Origin for
// all that is not a plain look. Pages that send no referrer have the origin null for forms.
func (g *guard) isOwn(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site != "" && site != "same-origin" && site != "none":
		return false
	case origin == "" || origin == "null" && site == "same-origin":
		return r.Method != http.MethodPost || site == "same-origin"
	}
	from, err := url.Parse(origin)
	return err == nil && from.Scheme == "http" && from.Host == r.Host
}

// enter exchanges the token in the address for a cookie, so that it is in no history or list.
func (g *guard) enter(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !same(query.Get("token"), g.token) {
		http.Error(w, "The token is that of another server that was here.", http.StatusForbidden)
		return
	}
	query.Del("token")
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // not Secure: loopback is spoken to without TLS
		Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	to := url.URL{Path: path.Clean("/" + r.URL.Path), RawQuery: query.Encode()} // which is none of another host
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

func (g *guard) knows(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookie)
	return err == nil && same(cookie.Value, g.token)
}

// same compares secrets without telling by the time how far they are the same.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
