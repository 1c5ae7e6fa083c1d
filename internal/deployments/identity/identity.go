// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/settings"
)

// The operations that a token can be for.
const (
	Plan  = "plan"
	Apply = "apply"
)

// Claims are the purpose of a token.
//
// Organization and Project are names that a run need not have. Where they are empty, the settings
// say them, and else they are "default".
type Claims struct {
	Audience     []string // at least one
	Organization string
	Project      string
	Stack        string
	Deployment   string
	Operation    string // [Plan] or [Apply]
	PlanID       string // of the plan that is made or applied

	// Lifetime is how long the token is needed. If it is 0, the settings say it, and else it is an
	// hour. Only tokens that are signed here follow it.
	Lifetime time.Duration
}

// Source gives tokens. It is safe for concurrent use.
type Source interface {
	// Token returns a fresh token for the identity_token block with a label.
	//
	// Errors: [hcl.Diagnostics], which never hold the token.
	Token(ctx context.Context, name string, claims Claims) (string, error)
}

// Open returns the source that settings and environment say. Dir is the directory of the stack,
// from which relative paths count and in which commands are run.
//
// Without settings, tokens come from GitHub Actions if the run is there and may have tokens. Where
// there is no source, asking for a token is an error with a remedy.
func Open(s settings.Identity, environ []string, dir string) (Source, error) {
	return open(s, environ, dir), nil
}

func open(s settings.Identity, environ []string, dir string) *opened {
	return &opened{settings: s, place: place{environ: environ, dir: dir, now: time.Now, limits: usualLimits}}
}

// Warnings returns the warnings of a source that [Open] has returned, each once. It returns nothing
// for other sources.
func Warnings(source Source) hcl.Diagnostics {
	if o, ok := source.(*opened); ok {
		return o.warnings.Take()
	}
	return nil
}

// place is where a run is.
type place struct {
	environ []string
	dir     string
	now     func() time.Time
	limits  limits
}

// opened is the result of [Open].
type opened struct {
	place

	settings settings.Identity
	warnings failure.Warnings
}

// request is a request for a token, with the settings of its source.
type request struct {
	place

	label  string
	claims Claims
	block  settings.IdentitySource
	at     *hcl.Range // of the block; nil without one
	warn   func(diag *hcl.Diagnostic)
}

// Token implements [Source].
func (o *opened) Token(ctx context.Context, label string, claims Claims) (string, error) {
	r := &request{place: o.place, label: label, claims: claims, warn: o.warnings.Add}
	block := o.settings.For(label)
	switch {
	case len(claims.Audience) == 0 || slices.Contains(claims.Audience, ""):
		return "", r.fail("Token without audience",
			"The audience of the token %q is empty. Say in its identity_token block who is to accept it, such as "+
				"audience = [\"sts.amazonaws.com\"].", label)
	case block != nil:
		r.block, r.at = *block, block.Range.Ptr()
	case environ.Get(o.environ, requestURLVariable) != "" && environ.Get(o.environ, requestTokenVariable) != "":
		r.block.Kind = settings.GitHubIdentity
	default:
		return "", r.noSource(len(o.settings.Sources) > 0)
	}
	switch r.block.Kind {
	case settings.GitHubIdentity:
		return r.fromGitHub(ctx)
	case settings.GitLabIdentity:
		return r.fromVariable()
	case settings.FileIdentity:
		return r.fromFile()
	case settings.CommandIdentity:
		return r.fromCommand(ctx)
	case settings.KeyIdentity:
		return r.signed()
	}
	return "", r.fail("Unknown identity source", "There are no tokens from %q. This is a bug in cairn; please report it.", r.block.Kind)
}

// fail returns an error about the source of a token.
func (r *request) fail(summary, detail string, args ...any) error {
	return hcl.Diagnostics{r.problem(summary, detail, args...)}
}

func (r *request) problem(summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: r.at}
}

const (
	usualLifetime = time.Hour
	usualName     = "default" // of an organization or a project that nobody names
)

// names returns those of the organization and the project.
func (r *request) names() (organization, project string) {
	return cmp.Or(r.claims.Organization, r.block.Organization, usualName), cmp.Or(r.claims.Project, r.block.Project, usualName)
}

func (r *request) lifetime() time.Duration {
	return cmp.Or(max(r.claims.Lifetime, 0), r.block.Lifetime, usualLifetime)
}

// noSource returns the error about a token that has no source, with a remedy.
func (r *request) noSource(others bool) error {
	var remedy string
	switch {
	case others:
		remedy = fmt.Sprintf("The identity blocks of %s are for other tokens: add one without tokens, or with %q among them.",
			settings.File, r.label)
	case environ.Get(r.environ, "GITHUB_ACTIONS") != "":
		remedy = "This job of GitHub Actions may not have tokens: add \"permissions: { id-token: write, contents: read }\" to it."
	case environ.Get(r.environ, "GITLAB_CI") != "":
		remedy = fmt.Sprintf("In a job of GitLab, add identity \"gitlab\" {} to %s, and \"id_tokens: { %s: { aud: %s } }\" to the job.",
			settings.File, variableOf(r.label), r.claims.Audience[0])
	default:
		remedy = fmt.Sprintf("Add a block to %s that says it, such as identity \"file\" { path = \"token.jwt\" }, "+
			"or one of \"github\", \"gitlab\", \"command\" and \"key\".", settings.File)
	}
	return r.fail("No source of tokens", "The identity_token %q needs a token, and nothing says from where. %s", r.label, remedy)
}

// readableByOthers reports whether others than the owner have any of the permissions in bits on a
// file. Where files have no such bits, nobody has.
func readableByOthers(mode uint32, bits uint32) bool {
	return runtime.GOOS != "windows" && mode&bits != 0
}

// listed writes texts of others into a sentence.
func listed(texts []string) string {
	const most = 5
	quoted := make([]string, 0, most)
	for i, text := range texts {
		if i == most {
			return strings.Join(quoted, ", ") + fmt.Sprintf(" and %d more", len(texts)-most)
		}
		quoted = append(quoted, fmt.Sprintf("%q", shortened(text)))
	}
	return strings.Join(quoted, ", ")
}

func shortened(text string) string {
	const longest = 200
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
