// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// CodeSeveralIssuers is of settings with more issuers than are asked for.
const CodeSeveralIssuers fault.Code = "identity/several-issuers"

// CodeNoKey is of a signing key that is not there. Its name is a file for one.
const CodeNoKey fault.Code = "identity/no-key"

// Document is something that an issuer publishes, for the verification of its tokens.
type Document struct {
	Path    string // below the URL of the issuer, with slashes
	Content []byte // JSON
}

// The paths of documents. Everybody asks for the first one, which names the second.
const (
	discoveryPath = ".well-known/openid-configuration"
	keysPath      = ".well-known/jwks.json"
)

// discovery is the part of the document of OpenID Connect Discovery that is about tokens of
// machines.
type discovery struct {
	Issuer        string   `json:"issuer"`
	KeysURI       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Scopes        []string `json:"scopes_supported"`
	Claims        []string `json:"claims_supported"`
}

// Publish returns the documents that an issuer has to publish: that of the settings if they have
// one, else the one that is named. Dir is the directory of the stack.
//
// Errors: [hcl.Diagnostics].
func Publish(s settings.Identity, dir, issuer string) (string, []Document, error) {
	var blocks []settings.IdentitySource
	var issuers []string
	for _, block := range s.Sources {
		if block.Kind != settings.KeyIdentity || issuer != "" && block.Issuer != issuer {
			continue
		}
		blocks = append(blocks, block)
		if !slices.Contains(issuers, block.Issuer) {
			issuers = append(issuers, block.Issuer)
		}
	}
	switch {
	case len(issuers) == 0 && issuer != "":
		return "", nil, failure.Error("Unknown issuer", "No identity \"key\" block of %s has the issuer %q.", settings.File, issuer)
	case len(issuers) == 0:
		diag := failure.New("No signing key", "The file %s has no identity \"key\" block, so no tokens are signed here. Make a key, and add an "+
			"identity \"key\" block with its path and the issuer's URL.", settings.File)
		diag.Extra = fault.Named{Code: CodeNoKey, Names: []string{"identity.pem"}}
		return "", nil, hcl.Diagnostics{diag}
	case len(issuers) > 1:
		return "", nil, hcl.Diagnostics{failure.With(CodeSeveralIssuers, failure.New("Several issuers",
			"The file %s has the issuers %s, and each publishes its own keys. Choose one.", settings.File, listed(issuers)))}
	}
	keys, err := publicKeys(blocks, &place{dir: dir, now: time.Now})
	if err != nil {
		return "", nil, err
	}
	documents, err := documentsOf(issuers[0], keys)
	return issuers[0], documents, err
}

// publicKeys returns the public parts of all keys, each once.
func publicKeys(blocks []settings.IdentitySource, p *place) (jose.JSONWebKeySet, error) {
	var set jose.JSONWebKeySet
	for _, block := range blocks {
		for _, path := range append([]string{block.Path}, block.RetiredKeys...) {
			key, err := p.readKey(path)
			if err != nil {
				return set, hcl.Diagnostics{failure.With(fault.OfError(err), failure.At(block.Range, "Unusable signing key",
					"A key that is to be published cannot be used. %s.", err))}
			}
			public, err := webKey(publicOf(key))
			if err != nil {
				return set, err
			}
			if len(set.Key(public.KeyID)) == 0 {
				set.Keys = append(set.Keys, public)
			}
		}
	}
	return set, nil
}

func documentsOf(issuer string, keys jose.JSONWebKeySet) ([]Document, error) {
	algorithms := make([]string, 0, len(keys.Keys))
	for _, key := range keys.Keys {
		algorithms = append(algorithms, key.Algorithm)
	}
	slices.Sort(algorithms)
	first, err := document(discoveryPath, discovery{
		Issuer: issuer, KeysURI: issuer + "/" + keysPath,
		ResponseTypes: []string{"id_token"}, SubjectTypes: []string{"public"}, Algorithms: slices.Compact(algorithms), Scopes: []string{"openid"},
		Claims: claimNames(),
	})
	if err != nil {
		return nil, err
	}
	second, err := document(keysPath, keys)
	return []Document{first, second}, err
}

func document(path string, value any) (Document, error) {
	content, err := json.MarshalIndent(value, "", "  ")
	return Document{path, append(content, '\n')}, err
}

// claimNames returns the names of the claims of tokens that are signed here.
func claimNames() []string {
	content, err := json.Marshal(signedClaims{})
	var claims map[string]any
	if err != nil || json.Unmarshal(content, &claims) != nil {
		return nil
	}
	names := make([]string, 0, len(claims))
	for name := range claims {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
