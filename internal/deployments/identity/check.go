// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// maxToken is how long a token may be, in bytes. Those of the known makers have two thousand.
const maxToken = 64 << 10

// audience is a claim that is a text or a list of texts.
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(src []byte) error {
	var one string
	if json.Unmarshal(src, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(src, (*[]string)(a))
}

// made are the claims of a token that others have made, as far as they are looked at.
type made struct {
	Audience audience `json:"aud"`
	Expires  *float64 `json:"exp"`
}

var errNotJWT = errors.New("it is not a JWT, which has three parts with dots between them")

// parse reads the claims of a token. Its errors say nothing of its content.
func parse(token string) (made, error) {
	var claims made
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims, errNotJWT
	}
	for _, part := range parts {
		if _, err := base64.RawURLEncoding.DecodeString(part); err != nil || part == "" {
			return claims, errNotJWT
		}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return claims, errors.New("it looks like a JWT, but its claims cannot be read")
	}
	if claims.Expires == nil || *claims.Expires < 0 || *claims.Expires > math.MaxInt32*100 {
		return claims, errors.New("it does not say when it expires")
	}
	return claims, nil
}

// checked returns a token if it meets the request (rule I3). Origin is the place that it is from,
// and renew the remedy for an expired one.
func (r *request) checked(token, origin, renew string) (string, error) {
	token = strings.TrimSpace(token)
	if token == "" {
		return "", r.fail("Unusable identity token", "The token %q is to come from %s, which has none.", r.label, origin)
	}
	claims, err := parse(token)
	if err != nil {
		return "", r.fail("Unusable identity token", "The token %q is to come from %s, but %s.", r.label, origin, err)
	}
	for _, wanted := range r.claims.Audience {
		if !slices.Contains(claims.Audience, wanted) {
			is := "for no audience"
			if len(claims.Audience) > 0 {
				is = "for " + listed(claims.Audience)
			}
			return "", r.fail("Token for another audience",
				"The identity_token %q has the audience %s, and the token from %s is %s. Ask for the same audience "+
					"in both places.", r.label, listed(r.claims.Audience), origin, is)
		}
	}
	expires := time.Unix(int64(*claims.Expires), 0)
	if !expires.After(r.now()) {
		return "", r.fail("Identity token expired", "The token %q from %s has expired at %s. %s",
			r.label, origin, expires.UTC().Format(time.RFC3339), renew)
	}
	return token, nil
}

// fromVariable takes a token that a job of GitLab has put into its environment.
func (r *request) fromVariable() (string, error) {
	name := r.block.Variable
	if name == "" {
		name = variableOf(r.label)
	}
	token := r.variable(name)
	if token == "" {
		return "", r.fail("No token in environment",
			"The token %q is to come from the environment variable %s, which is not set. In the job of GitLab, add "+
				"\"id_tokens: { %s: { aud: %s } }\".", r.label, name, name, jobAudience(r.claims.Audience))
	}
	return r.checked(token, "the environment variable "+name,
		"It lasts as long as the job may: raise the timeout of the job, or run fewer things in it.")
}

// variableOf is the name of the variable for a token where none is set.
func variableOf(label string) string {
	return strings.ToUpper(strings.ReplaceAll(label, "-", "_")) + "_ID_TOKEN"
}

// jobAudience writes audiences as the file of a job has them.
func jobAudience(wanted []string) string {
	if len(wanted) == 1 {
		return wanted[0]
	}
	return fmt.Sprintf("[%s]", strings.Join(wanted, ", "))
}
