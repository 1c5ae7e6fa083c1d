// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	maxRedirects = 10
	maxAnswer    = 16 << 20 // bytes of an answer of a registry
)

// newClient returns a client that gives up on hosts that don't answer. The time that a download takes isn't limited;
// that it goes on is up to the user, who can interrupt it.
func newClient() *http.Client {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{CheckRedirect: checkRedirect}
	}
	transport = transport.Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	transport.TLSHandshakeTimeout = 10 * time.Second
	transport.ResponseHeaderTimeout = 60 * time.Second
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Scheme != "https":
		return errors.New("it redirects to an address without encryption")
	case len(via) >= maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

// get requests a URL, with a token unless that is empty. The caller closes the body.
func get(ctx context.Context, client *http.Client, location *url.URL, token string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "cairn")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, requestError(ctx, location, err)
	}
	return resp, nil
}

// requestError says why there is no answer, without the URL, which can have secrets in it (rule B5).
func requestError(ctx context.Context, location *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var urlError *url.Error
	if errors.As(err, &urlError) {
		err = urlError.Err
	}
	return fmt.Errorf("asking %s failed: %w", location.Host, err)
}

// statusError describes an answer that is none.
func statusError(resp *http.Response) error {
	return fmt.Errorf("%s answers %q", resp.Request.URL.Host, resp.Status)
}

// fetchArchive downloads an archive and unpacks it.
func fetchArchive(ctx context.Context, client *http.Client, location *url.URL, dir string, limits Limits) error {
	location = withoutArchiveArgument(location)
	resp, err := get(ctx, client, location, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return statusError(resp)
	}
	err = unpack(resp.Body, dir, limits)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// withoutArchiveArgument removes what says that the address is of an archive, as it isn't meant for the server.
func withoutArchiveArgument(location *url.URL) *url.URL {
	query := location.Query()
	if !query.Has("archive") {
		return location
	}
	query.Del("archive")
	stripped := *location
	stripped.RawQuery = query.Encode()
	return &stripped
}
