// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package registry speaks with registries: it finds them by service discovery, gives them the
// tokens that the user has for them, and knows the protocol of those for modules.
//
// Rules:
//
//	G1. A token is given to the host that it is for, and to the services that this host names, and to
//	    nobody else.
//	G2. Locations that a registry gives can have secrets in them. They are in no error.
//	G3. A registry may answer anything: an answer is limited in size, and only decoded by its type.
package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
)

// Client asks registries. It keeps the services of hosts. It is safe for concurrent use.
type Client struct {
	// Pause waits before a request is repeated, for tests. Nil stands for the clock.
	Pause func(context.Context, time.Duration) error

	http   *http.Client
	asking *http.Client // for answers that are small
	tries  int          // of a request that fails for a reason that may pass
	config func() (*cliconfig.Hosts, error)

	mu struct {
		sync.Mutex
		services map[svchost.Hostname]*discovered
		tokens   map[svchost.Hostname]string // that were given, and beat those of the configuration
	}
}

type discovered struct {
	done     chan struct{}
	services map[string]string
	base     *url.URL
	err      error
}

// New returns a client for the CLI configuration that an environment names. A nil HTTP client
// stands for that of [NewHTTPClient].
func New(client *http.Client, env []string) *Client {
	if client == nil {
		client = NewHTTPClient()
	}
	c := &Client{http: client, asking: client, tries: requestTries}
	if retries, ok := number(env, RetryVariable); ok {
		c.tries = 1 + retries
	}
	if seconds, ok := number(env, TimeoutVariable); ok && seconds > 0 {
		limited := *client
		limited.Timeout = time.Duration(seconds) * time.Second
		c.asking = &limited
	}
	c.config = sync.OnceValues(func() (*cliconfig.Hosts, error) { return cliconfig.ReadHosts(env) })
	c.mu.services = map[svchost.Hostname]*discovered{}
	c.mu.tokens = map[svchost.Hostname]string{}
	return c
}

// The variables of terraform that say how often a request is repeated, and how many seconds one may
// take.
const (
	RetryVariable   = "TF_REGISTRY_DISCOVERY_RETRY"
	TimeoutVariable = "TF_REGISTRY_CLIENT_TIMEOUT"
)

// number returns the value of a variable of the environment, if that is a number that is not
// negative, and not absurd.
func number(env []string, name string) (int, bool) {
	n, err := strconv.Atoi(environ.Get(env, name))
	return n, err == nil && n >= 0 && n <= 1000
}

// HTTP returns the client for files that registries only name, such as archives.
func (c *Client) HTTP() *http.Client { return c.http }

// SetToken gives a token for a host, from now on.
func (c *Client) SetToken(host svchost.Hostname, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.tokens[host] = token
	delete(c.mu.services, host) // which may have been refused without it
}

// token returns the token for a host, or "".
func (c *Client) token(ctx context.Context, host svchost.Hostname) (string, error) {
	c.mu.Lock()
	given := c.mu.tokens[host]
	c.mu.Unlock()
	if given != "" {
		return given, nil
	}
	config, err := c.config()
	if err != nil {
		return "", err
	}
	return config.Token(ctx, host)
}

// Request asks a service of a host, such as modules.v1, for something below its address. The caller
// closes the body.
//
// Errors: also for answers that refuse access, and for those that there is nothing; the latter is a
// [*NotFoundError].
func (c *Client) Request(ctx context.Context, host svchost.Hostname, service, below, what string) (*http.Response, error) {
	base, err := c.Service(ctx, host, service)
	if err != nil {
		return nil, err
	}
	location, err := base.Parse(strings.TrimPrefix(path.Join("/", below), "/"))
	if err != nil {
		return nil, err
	}
	token, err := c.token(ctx, host)
	if err != nil {
		return nil, err
	}
	resp, err := c.get(ctx, location, token)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("the registry %s refuses access (%s); give it a token, in a credentials block of the CLI configuration or in %s",
			host.ForDisplay(), resp.Status, tokenVariable(host))
	case http.StatusNotFound:
		err = &NotFoundError{Host: host.ForDisplay(), What: what}
	}
	if err != nil {
		_ = resp.Body.Close() //nolint:errcheck // it was not read
		return nil, err
	}
	return resp, nil
}

// get requests an address until there is an answer that is not about to pass.
func (c *Client) get(ctx context.Context, location *url.URL, token string) (*http.Response, error) {
	return c.retried(ctx, func() (*http.Response, error) {
		resp, err := Get(ctx, c.asking, location, token)
		return resp, passing(err)
	})
}

// Open requests a file that a registry has named, with the token for its host if there is one. The
// caller closes the body.
//
// Errors: also for answers other than 200; a [*NotFoundError] for 404, which names the requested
// file.
func (c *Client) Open(ctx context.Context, location *url.URL, what string) (*http.Response, error) {
	token, err := c.tokenOf(ctx, location, what)
	if err != nil {
		return nil, err
	}
	resp, err := c.get(ctx, location, token)
	return c.opened(resp, err, what)
}

// openOnce is Open with more headers, without repetitions. The answer may be a part if one was
// asked for, or that there is none.
func (c *Client) openOnce(ctx context.Context, location *url.URL, what string, header http.Header) (*http.Response, error) {
	token, err := c.tokenOf(ctx, location, what)
	if err != nil {
		return nil, err
	}
	resp, err := getWith(ctx, c.http, location, token, header)
	if err == nil && header.Get("Range") != "" &&
		(resp.StatusCode == http.StatusPartialContent || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable) {
		return resp, nil
	}
	return c.opened(resp, passing(err), what)
}

// tokenOf returns the token for a location that a registry has named, or "".
func (c *Client) tokenOf(ctx context.Context, location *url.URL, what string) (string, error) {
	if location.Scheme != "https" {
		return "", fmt.Errorf("the address of %s is not an https address", what)
	}
	host, err := svchost.ForComparison(location.Host)
	if err != nil {
		return "", nil //nolint:nilerr // there is none for a text that is not the name of a host
	}
	return c.token(ctx, host)
}

// opened makes an error of an answer other than 200.
func (c *Client) opened(resp *http.Response, err error, what string) (*http.Response, error) {
	if err != nil || resp.StatusCode == http.StatusOK {
		return resp, err
	}
	err = StatusError(resp)
	switch {
	case resp.StatusCode == http.StatusNotFound:
		err = &NotFoundError{Host: resp.Request.URL.Host, What: what}
	case passingStatus(resp.StatusCode):
		err = &passingError{err: err, after: retryAfter(resp)}
	}
	_ = resp.Body.Close() //nolint:errcheck // it was not read
	return nil, err
}

// NotFoundError is the error for a request to which a registry answers 404.
type NotFoundError struct{ Host, What string }

// Error implements error.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("the registry %s has no %s", e.Host, e.What)
}

// tokenVariable returns the name of the variable for the token of a host.
func tokenVariable(host svchost.Hostname) string {
	return cliconfig.TokenPrefix + strings.NewReplacer(".", "_", "-", "__").Replace(host.String())
}

// kinds are the kinds of hosts that services belong to, for errors.
var kinds = map[string]string{
	Providers:  "registry for providers",
	Modules:    "registry for this kind of source",
	Components: "registry for this kind of source",
	Platform:   "API for stacks",
}

// The names of services. That of component registries is not published.
const (
	Providers  = "providers.v1"
	Modules    = "modules.v1"
	Components = "components.v1"
	Platform   = "tfe.v2" // of hosts that run stacks
)

// Service returns the address of a service, which ends in a slash.
func (c *Client) Service(ctx context.Context, host svchost.Hostname, service string) (*url.URL, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	services, base := config.Services[host], &url.URL{Scheme: "https", Host: host.String(), Path: "/"}
	if services == nil {
		if services, base, err = c.discover(ctx, host); err != nil {
			return nil, err
		}
	}
	written, ok := services[service]
	if !ok {
		return nil, fmt.Errorf("the host %s has no %s (%s)", host.ForDisplay(), kinds[service], service)
	}
	if !strings.HasSuffix(written, "/") {
		written += "/"
	}
	address, err := base.Parse(written)
	if err != nil || address.Scheme != "https" {
		return nil, fmt.Errorf("the host %s gives an address for %s that is not an https address", host.ForDisplay(), service)
	}
	return address, nil
}

// discover asks a host for its services, once. A request that fails is repeated by the next caller.
func (c *Client) discover(ctx context.Context, host svchost.Hostname) (map[string]string, *url.URL, error) {
	c.mu.Lock()
	entry := c.mu.services[host]
	first := entry == nil
	if first {
		entry = &discovered{done: make(chan struct{})}
		c.mu.services[host] = entry
	}
	c.mu.Unlock()
	if !first {
		select {
		case <-entry.done:
			return entry.services, entry.base, entry.err
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	defer close(entry.done)
	if entry.services, entry.base, entry.err = c.askForServices(ctx, host); entry.err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.mu.services[host] == entry {
			delete(c.mu.services, host)
		}
	}
	return entry.services, entry.base, entry.err
}

func (c *Client) askForServices(ctx context.Context, host svchost.Hostname) (map[string]string, *url.URL, error) {
	token, err := c.token(ctx, host)
	if err != nil {
		return nil, nil, err
	}
	location := &url.URL{Scheme: "https", Host: host.String(), Path: "/.well-known/terraform.json"}
	resp, err := c.get(ctx, location, token)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode == http.StatusNotFound {
		return nil, nil, fmt.Errorf("the host %s has no registry: it does not offer service discovery", host.ForDisplay())
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, StatusError(resp)
	}
	var answer map[string]any
	if err := Decode(ctx, resp, &answer); err != nil {
		return nil, nil, err
	}
	services := map[string]string{}
	for name, value := range answer {
		if text, ok := value.(string); ok {
			services[name] = text
		}
	}
	return services, resp.Request.URL, nil
}
