// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	maxRedirects = 10
	maxAnswer    = 16 << 20 // bytes of an answer of a registry
)

// NewHTTPClient returns a client that gives up on hosts that don't answer. The time that a download
// takes isn't limited; that it goes on is up to the user, who can interrupt it.
func NewHTTPClient() *http.Client {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{CheckRedirect: CheckRedirect}
	}
	transport = transport.Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	transport.TLSHandshakeTimeout = 10 * time.Second
	transport.ResponseHeaderTimeout = 60 * time.Second
	return &http.Client{Transport: transport, CheckRedirect: CheckRedirect}
}

// CheckRedirect follows redirects to a limit, and none to an address without encryption. A token is
// for one port of a host (rule G1).
func CheckRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Scheme != "https":
		return errors.New("it redirects to an address without encryption")
	case len(via) >= maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	if req.URL.Host != via[0].URL.Host {
		req.Header.Del("Authorization")
	}
	return nil
}

// Get requests a URL, with a token unless that is empty. The caller closes the body.
func Get(ctx context.Context, client *http.Client, location *url.URL, token string) (*http.Response, error) {
	return getWith(ctx, client, location, token, nil)
}

func getWith(ctx context.Context, client *http.Client, location *url.URL, token string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location.String(), nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "cairn")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, RequestError(ctx, location, err)
	}
	return resp, nil
}

// RequestError says why there is no answer, without the URL, which can have secrets in it (rule
// G2).
func RequestError(ctx context.Context, location *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var urlError *url.Error
	if errors.As(err, &urlError) {
		err = urlError.Err
	}
	return fmt.Errorf("asking %s failed: %w", location.Host, err)
}

// StatusError describes an answer that is none.
func StatusError(resp *http.Response) error {
	return fmt.Errorf("%s answers %q", resp.Request.URL.Host, resp.Status)
}

// Decode decodes the JSON in an answer.
func Decode(ctx context.Context, resp *http.Response, target any) error {
	data, err := ReadAll(ctx, resp)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, target); err != nil {
		return fmt.Errorf("%s gives an answer that cannot be understood: %w", resp.Request.URL.Host, err)
	}
	return nil
}

// ReadAll returns the body of an answer, which is small.
func ReadAll(ctx context.Context, resp *http.Response) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, RequestError(ctx, resp.Request.URL, err)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("%s gives an answer of more than %d MiB", resp.Request.URL.Host, maxAnswer>>20)
	}
	return data, nil
}

// StallTime is how long a download may stand still.
const StallTime = time.Minute

// Copy copies the body of an answer, of which it takes no more than limit bytes. It gives up if
// nothing arrives for [StallTime], or another time that is not 0.
func Copy(ctx context.Context, w io.Writer, resp *http.Response, limit int64, stall time.Duration) error {
	if stall == 0 {
		stall = StallTime
	}
	host := resp.Request.URL.Host
	stalled := time.AfterFunc(stall, func() { _ = resp.Body.Close() }) //nolint:errcheck // it ends the read
	n, err := io.Copy(w, io.LimitReader(&watched{resp.Body, stalled, stall}, limit+1))
	stoodStill := !stalled.Stop()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*writeError)):
		return err
	case stoodStill: // the end of a body that was closed can look like an ordinary one
		return &passingError{err: fmt.Errorf("the download from %s stands still for %s", host, stall)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &passingError{err: fmt.Errorf("the download from %s is cut off after %d bytes", host, n)}
	case err != nil:
		return &passingError{err: fmt.Errorf("the download from %s is broken off: %w", host, err)}
	case n > limit:
		return fmt.Errorf("the download from %s is larger than %d bytes", host, limit)
	}
	return nil
}

// watched sets a timer back whenever something was read.
type watched struct {
	io.Reader
	timer *time.Timer
	time  time.Duration
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 && w.timer.Stop() {
		w.timer.Reset(w.time)
	}
	return n, err
}
