// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// The kinds of places from where tokens of identity_token blocks come.
const (
	GitHubIdentity  = "github"  // the end point of GitHub Actions
	GitLabIdentity  = "gitlab"  // variables of a job of GitLab
	FileIdentity    = "file"    // a file that something else renews
	CommandIdentity = "command" // output of a program
	KeyIdentity     = "key"     // signed by cairn
)

func identityKinds() []string {
	return []string{GitHubIdentity, GitLabIdentity, FileIdentity, CommandIdentity, KeyIdentity}
}

// Identity lists the sources of tokens: the identity blocks, in their order.
type Identity struct {
	Sources []IdentitySource
}

// IdentitySource is one identity block.
type IdentitySource struct {
	Kind   string
	Tokens []string  // labels of the identity_token blocks that it is for; empty for all that no other block names
	Range  hcl.Range // of the block's header

	Variable     string   // of kind gitlab; empty for one by the label
	Path         string   // of the token, or of the private key; may be relative to the stack
	SharedFile   bool     // others on the machine may read the file
	Command      []string // program and arguments
	Timeout      time.Duration
	Issuer       string        // URL without a slash at its end
	RetiredKeys  []string      // paths of keys that are published, and sign nothing any more
	Lifetime     time.Duration // of tokens that are signed; 0 if it is not said
	Organization string
	Project      string
}

// For returns the block for the identity_token block with a label, nil if there is none.
func (i *Identity) For(label string) *IdentitySource {
	var general *IdentitySource
	for n := range i.Sources {
		source := &i.Sources[n]
		switch {
		case slices.Contains(source.Tokens, label):
			return source
		case len(source.Tokens) == 0:
			general = source
		}
	}
	return general
}

func (i *Identity) decode(block *hcl.Block) hcl.Diagnostics {
	kind := block.Labels[0]
	var a *arguments
	switch kind {
	case GitHubIdentity:
		a = argumentsOf(block.Body, nil, "tokens")
	case GitLabIdentity:
		a = argumentsOf(block.Body, nil, "tokens", "variable")
	case FileIdentity:
		a = argumentsOf(block.Body, []string{"path"}, "tokens", "shared")
	case CommandIdentity:
		a = argumentsOf(block.Body, []string{"command"}, "tokens", "timeout", "organization", "project")
	case KeyIdentity:
		a = argumentsOf(block.Body, []string{"path", "issuer"}, "tokens", "retired", "lifetime", "organization", "project")
	default:
		return hcl.Diagnostics{failure.At(block.LabelRanges[0], "Unknown identity source",
			"Tokens do not come from %q.%s Use one of: %s.", kind, nearest.DidYouMean(kind, identityKinds()), strings.Join(identityKinds(), ", "))}
	}
	source := IdentitySource{
		Kind: kind, Range: block.DefRange,
		Tokens:   a.texts("tokens", `["aws"], the labels of identity_token blocks`),
		Variable: a.text("variable"), Path: a.text("path"), SharedFile: a.bool("shared"),
		Command: a.command("command"), Timeout: a.duration("timeout", time.Second, time.Hour),
		RetiredKeys: a.texts("retired", `["old.pem"], the files of keys`), Lifetime: a.duration("lifetime", time.Minute, 24*time.Hour),
		Organization: a.subjectPart("organization"), Project: a.subjectPart("project"),
	}
	source.Issuer = a.issuer()
	i.checkLabels(a, block, source.Tokens)
	i.Sources = append(i.Sources, source)
	return a.diags
}

// subjectPart decodes a name that becomes part of a subject.
func (a *arguments) subjectPart(name string) string {
	value := a.text(name)
	if strings.Contains(value, ":") {
		a.fail(name, "Unusable name in subject", "A name in the subject of a token has no colon: it could be taken for the end of the name.")
	}
	return value
}

// issuer decodes the URL of an issuer. Verifiers of tokens fetch keys from below it, and compare it
// letter by letter.
func (a *arguments) issuer() string {
	written := a.text("issuer")
	if written == "" {
		return ""
	}
	location, err := url.Parse(written)
	local := err == nil && (location.Hostname() == "localhost" || location.Hostname() == "127.0.0.1")
	switch {
	case err != nil, location.Host == "", location.Scheme != "https" && (location.Scheme != "http" || !local),
		location.User != nil, location.RawQuery != "", location.Fragment != "", strings.HasSuffix(written, "/"):
		a.fail("issuer", "Invalid issuer",
			"An issuer is a URL such as https://tokens.example.com/cairn: with https, without a query, and without a slash at its end. "+
				"The published documents lie below it.")
	}
	return written
}

// checkLabels reports blocks that are for the same tokens.
func (i *Identity) checkLabels(a *arguments, block *hcl.Block, labels []string) {
	for _, earlier := range i.Sources {
		if len(labels) == 0 && len(earlier.Tokens) == 0 {
			a.diags = a.diags.Append(failure.At(block.DefRange, "Duplicate identity source",
				"The block at %s is for all tokens, too. Say by tokens = [\"LABEL\"] which identity_token blocks one of them is for.", earlier.Range))
		}
		for _, label := range labels {
			if slices.Contains(earlier.Tokens, label) {
				a.fail("tokens", "Duplicate identity source", "The block at %s is for the token %q already.", earlier.Range, label)
			}
		}
	}
}
