// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"crypto"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// longest is how long a subject may be, in bytes: some clouds take no more.
const longest = 127

// leeway is how far the clocks of verifiers of tokens may be behind.
const leeway = time.Minute

// signedClaims are the claims of a token that is signed here. Organizations, projects and stacks
// have no IDs besides their names, which stand for them.
type signedClaims struct {
	ID             string `json:"jti"`
	Issuer         string `json:"iss"`
	Issued         int64  `json:"iat"`
	NotBefore      int64  `json:"nbf"`
	Expires        int64  `json:"exp"`
	Audience       any    `json:"aud"` // a text, or several
	Subject        string `json:"sub"`
	Operation      string `json:"terraform_operation"`
	Deployment     string `json:"terraform_stack_deployment_name"`
	StackID        string `json:"terraform_stack_id"`
	Stack          string `json:"terraform_stack_name"`
	ProjectID      string `json:"terraform_project_id"`
	Project        string `json:"terraform_project_name"`
	OrganizationID string `json:"terraform_organization_id"`
	Organization   string `json:"terraform_organization_name"`
	PlanID         string `json:"terraform_plan_id"`
}

// subject returns that of the hosted product (rule I4).
func (r *request) subject() (string, error) {
	organization, project := r.names()
	parts := [][2]string{
		{"organization", organization},
		{"project", project},
		{"stack", r.claims.Stack},
		{"deployment", r.claims.Deployment},
		{"operation", r.claims.Operation},
	}
	var pairs []string
	for _, part := range parts {
		if part[1] == "" || strings.Contains(part[1], ":") {
			return "", r.fail("Unusable name in subject",
				"The %s of the token %q is called %q. In the subject of a token a name is not empty and has no colon, "+
					"which could be taken for its end. Give it another name.", part[0], r.label, shortened(part[1]))
		}
		pairs = append(pairs, part[0]+":"+part[1])
	}
	subject := strings.Join(pairs, ":")
	if len(subject) > longest {
		return "", r.fail("Subject too long",
			"The subject of the token %q would have %d characters, and those who verify it take at most %d: %s. A shorter one "+
				"could be that of another deployment. Shorten the name of the stack or of the deployment, "+
				"or organization and project in the identity block.",
			r.label, len(subject), longest, shortened(subject))
	}
	return subject, nil
}

// signed makes a token with a key of the user's.
func (r *request) signed() (string, error) {
	subject, err := r.subject()
	if err != nil {
		return "", err
	}
	key, err := r.readKey(r.block.Path)
	if err != nil {
		diag := r.problem("Unusable signing key", "The key for the token %q cannot be used. %s.", r.label, err)
		diag.Extra = fault.OfError(err)
		return "", hcl.Diagnostics{diag}
	}
	private, ok := key.(crypto.Signer)
	if !ok {
		return "", r.fail("Unusable signing key",
			"The key for the token %q cannot be used. %s: it is a public key, and tokens are signed with the private one.",
			r.label, r.block.Path)
	}
	payload, err := json.Marshal(r.signedClaims(subject))
	if err == nil {
		var token string
		if token, err = sign(private, payload); err == nil {
			return token, nil
		}
	}
	return "", r.fail("Unusable signing key", "The key %s cannot sign the token %q: %s.", r.block.Path, r.label, err)
}

func (r *request) signedClaims(subject string) signedClaims {
	organization, project := r.names()
	now := r.now()
	claims := signedClaims{
		ID:             uuid.NewString(),
		Issuer:         r.block.Issuer,
		Subject:        subject,
		Audience:       r.claims.Audience,
		Issued:         now.Unix(),
		NotBefore:      now.Add(-leeway).Unix(),
		Expires:        now.Add(r.lifetime()).Unix(),
		Operation:      r.claims.Operation,
		Deployment:     r.claims.Deployment,
		PlanID:         r.claims.PlanID,
		StackID:        r.claims.Stack,
		Stack:          r.claims.Stack,
		ProjectID:      project,
		Project:        project,
		OrganizationID: organization,
		Organization:   organization,
	}
	if len(r.claims.Audience) == 1 {
		claims.Audience = r.claims.Audience[0]
	}
	return claims
}

// sign makes a JWT of claims.
func sign(private crypto.Signer, payload []byte) (string, error) {
	public, err := webKey(private.Public())
	if err != nil {
		return "", err
	}
	options := (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", public.KeyID)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(public.Algorithm), Key: private}, options)
	if err != nil {
		return "", err
	}
	signature, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signature.CompactSerialize()
}
