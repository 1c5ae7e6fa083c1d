// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/registry"
)

// The variables by which a job of GitHub Actions may have tokens.
const (
	requestURLVariable   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	requestTokenVariable = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
)

// limits bound how long GitHub is asked.
type limits struct {
	tries   int
	attempt time.Duration // for one try
	pause   time.Duration // before the second try; longer before each further one
}

var usualLimits = limits{tries: 4, attempt: 20 * time.Second, pause: 500 * time.Millisecond}

// statusError is an answer that has no token.
type statusError struct{ resp *http.Response }

func (e *statusError) Error() string { return registry.StatusError(e.resp).Error() }

// fromGitHub asks the end point that a job of GitHub Actions has for a token. It has one audience:
// of several, which the language allows, none could be left out without somebody refusing the
// token.
func (r *request) fromGitHub(ctx context.Context) (string, error) {
	if len(r.claims.Audience) > 1 {
		return "", r.fail("Several audiences at GitHub",
			"The identity_token %q has the audiences %s, and a token of GitHub Actions has one. Write one "+
				"identity_token block for each of them.", r.label, listed(r.claims.Audience))
	}
	location, err := url.Parse(r.variable(requestURLVariable))
	credential := r.variable(requestTokenVariable)
	switch {
	case r.variable(requestURLVariable) == "" || credential == "":
		return "", r.fail("No tokens of GitHub Actions",
			"The token %q is to come from GitHub Actions, and this run may have none: %s and %s are not set. "+
				"Add \"permissions: { id-token: write, contents: read }\" to the job.", r.label, requestURLVariable, requestTokenVariable)
	case err != nil || location.Host == "" || !safe(location):
		return "", r.fail("No tokens of GitHub Actions", "%s is not the URL of an end point that can be asked safely, with https.",
			requestURLVariable)
	}
	query := location.Query()
	query.Set("audience", r.claims.Audience[0])
	location.RawQuery = query.Encode()
	token, err := r.ask(ctx, location, credential)
	if ctx.Err() != nil {
		return "", r.fail("Operation interrupted", "GitHub was not waited for, which was asked for the token %q.", r.label)
	}
	if err != nil {
		remedy := "Run the job again; if that does not help, the status page of GitHub may say more."
		if refused, ok := errors.AsType[*statusError](err); ok && refused.resp.StatusCode < 500 {
			remedy = "The job may have lost its permission \"id-token: write\", or be at its end."
		}
		return "", r.fail("No token from GitHub", "GitHub Actions gives no token for the identity_token %q: %s. %s", r.label, err, remedy)
	}
	return r.checked(token, "GitHub Actions", "The clock of this machine may be wrong.")
}

// safe reports whether a credential can be sent there.
func safe(location *url.URL) bool {
	address := net.ParseIP(location.Hostname())
	return location.Scheme == "https" || location.Scheme == "http" && address != nil && address.IsLoopback()
}

// ask makes requests until there is an answer that another try would not change.
func (r *request) ask(ctx context.Context, location *url.URL, credential string) (string, error) {
	client := &http.Client{
		Transport: registry.NewHTTPClient().Transport,
		// The credential is for this end point, and its answer has to be its own.
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it redirects elsewhere, which is not followed")
		},
	}
	defer client.CloseIdleConnections()
	for try := 1; ; try++ {
		token, again, err := r.askOnce(ctx, client, location, credential)
		if err == nil || !again || try >= r.limits.tries {
			return token, err
		}
		select {
		case <-time.After(r.limits.pause << (try - 1)):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// askOnce makes one request. It also returns whether another try might be answered otherwise.
func (r *request) askOnce(
	ctx context.Context, client *http.Client, location *url.URL, credential string,
) (token string, again bool, err error) {
	attempt, cancel := context.WithTimeoutCause(ctx, r.limits.attempt,
		fmt.Errorf("%s does not answer within %s", location.Host, r.limits.attempt))
	defer cancel()
	resp, err := registry.Get(attempt, client, location, credential)
	if err != nil {
		return "", !strings.Contains(err.Error(), "redirects"), err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	if resp.StatusCode != http.StatusOK {
		return "", resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500, &statusError{resp}
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, 2*maxToken+1))
	switch {
	case err != nil:
		return "", true, registry.RequestError(attempt, location, err)
	case len(content) > 2*maxToken:
		return "", false, fmt.Errorf("%s answers with more than %d bytes, which no token has", location.Host, 2*maxToken)
	}
	var answer struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(content, &answer) != nil || answer.Value == "" {
		return "", false, fmt.Errorf("%s answers with something else than a token", location.Host)
	}
	return answer.Value, false, nil
}
