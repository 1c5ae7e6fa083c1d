// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"golang.org/x/crypto/ssh"
	"golang.org/x/net/proxy"
)

// Proxy is a server through which connections are made.
type Proxy struct {
	Scheme   string // http, https or socks5
	Host     string
	Port     int
	User     string // "" for none
	Password string
}

func (p *Proxy) address() string { return net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) }

// dialer makes connections.
type dialer struct {
	*Options
	keys   *keys
	target *ssh.ClientConfig
	via    *ssh.ClientConfig // for the bastion; nil without one
}

func newDialer(opts *Options) (*dialer, error) {
	d := &dialer{Options: opts}
	if opts.Proxy != nil {
		switch opts.Proxy.Scheme {
		case "http", "https", "socks5":
		default:
			return nil, &SettingsError{fmt.Sprintf("there are no proxies of scheme %q, but http, https and socks5", opts.Proxy.Scheme)}
		}
	}
	d.keys = openAgent(opts.Agent, opts.Identity)
	var err error
	if d.target, err = d.keys.config(&opts.Endpoint); err == nil && opts.Bastion != nil {
		d.via, err = d.keys.config(opts.Bastion)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *dialer) close() { d.keys.close() }

// connect tries to connect once.
func (d *dialer) connect(ctx context.Context) (*connection, error) {
	first, config := &d.Endpoint, d.target
	if d.Bastion != nil {
		first, config = d.Bastion, d.via
	}
	conn, err := d.dial(ctx, first.address())
	if err != nil {
		return nil, shortened(ctx, err)
	}
	client, err := login(ctx, conn, first.address(), config)
	if err != nil || d.Bastion == nil {
		return &connection{client: client}, err
	}
	c, err := d.behind(ctx, client)
	if err != nil {
		hangUp(client)
		return nil, err
	}
	return c, nil
}

// behind connects from the bastion to the machine.
func (d *dialer) behind(ctx context.Context, bastion *ssh.Client) (*connection, error) {
	conn, err := bastion.DialContext(ctx, "tcp", d.Endpoint.address())
	if err != nil {
		return nil, fmt.Errorf("from the bastion: %w", shortened(ctx, err))
	}
	client, err := login(ctx, conn, d.Endpoint.address(), d.target)
	if err != nil {
		return nil, err
	}
	return &connection{client, bastion}, nil
}

// login begins a connection of ssh over another one, which is closed if that fails.
func login(ctx context.Context, conn net.Conn, address string, config *ssh.ClientConfig) (*ssh.Client, error) {
	stop := context.AfterFunc(ctx, func() { hangUp(conn) })
	c, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		hangUp(conn)
		return nil, shortened(ctx, err)
	}
	return ssh.NewClient(c, channels, requests), nil
}

// shortened returns an error without the addresses, which the caller knows.
func shortened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the machine has not answered: %w", ctx.Err())
	}
	if inner, ok := errors.AsType[*net.OpError](err); ok {
		return inner.Err
	}
	return err
}

// dial makes a connection through the proxy, if there is one.
func (d *dialer) dial(ctx context.Context, address string) (net.Conn, error) {
	var direct net.Dialer
	if d.Proxy == nil {
		return direct.DialContext(ctx, "tcp", address)
	}
	if d.Proxy.Scheme == "socks5" {
		var auth *proxy.Auth
		if d.Proxy.User != "" {
			auth = &proxy.Auth{User: d.Proxy.User, Password: d.Proxy.Password}
		}
		through, err := proxy.SOCKS5("tcp", d.Proxy.address(), auth, &direct)
		if err != nil {
			return nil, err
		}
		return through.(proxy.ContextDialer).DialContext(ctx, "tcp", address)
	}
	conn, err := direct.DialContext(ctx, "tcp", d.Proxy.address())
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", shortened(ctx, err))
	}
	if d.Proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: d.Proxy.Host, MinVersion: tls.VersionTLS12})
	}
	return d.tunnel(ctx, conn, address)
}

// tunnel asks a proxy to connect a connection with an address.
func (d *dialer) tunnel(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { hangUp(conn) })
	defer stop()
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if d.Proxy.User != "" {
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(d.Proxy.User+":"+d.Proxy.Password)))
	}
	buffered := bufio.NewReader(conn)
	err := request.Write(conn)
	var response *http.Response
	if err == nil {
		response, err = http.ReadResponse(buffered, request) //nolint:bodyclose // the bytes after the head are the tunnel's
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	if err != nil {
		hangUp(conn)
		return nil, fmt.Errorf("proxy: %w", shortened(ctx, err))
	}
	return &tunneled{conn, buffered}, nil
}

// tunneled is a connection of which some was read already.
type tunneled struct {
	net.Conn
	buffered *bufio.Reader
}

func (t *tunneled) Read(data []byte) (int, error) { return t.buffered.Read(data) }
