// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/module"
)

var connections = sync.OnceValue(func() *body.Decoder { return body.NewDecoder(validate.Connection.Block) })

const defaultTimeout = 5 * time.Minute

// connection is the connection to a machine that connection blocks describe.
type connection struct {
	values  map[string]cty.Value // that are not null
	secrets []string             // texts that are not shown
	windows bool
	options remote.Options
}

// connection evaluates the connection block of a provisioner over that of its resource.
func (r *Runner) connection(ctx context.Context, w *work) (*connection, hcl.Diagnostics) {
	c := &connection{values: map[string]cty.Value{}}
	var diags hcl.Diagnostics
	for _, block := range []*module.Connection{w.Connection, w.Config.Connection} {
		if block == nil {
			continue
		}
		args, moreDiags := decode(ctx, w.ProvisionRequest, connections(), block.Body, block.Refs)
		if diags = append(diags, moreDiags...); moreDiags.HasErrors() {
			return nil, diags
		}
		c.add(args)
	}
	if w.Connection == nil && w.Config.Connection == nil {
		return nil, append(diags, w.failed("There is no connection block, in it or in its resource, that says which machine is meant.")...)
	}
	if problem := c.read(r.Environ); problem != "" {
		return nil, append(diags, w.failed("The connection cannot be made: "+problem+".")...)
	}
	return c, diags
}

// add adds arguments, which win over those that were added before.
func (c *connection) add(args arguments) {
	for name := range args.Type().AttributeTypes() {
		value := args.GetAttr(name)
		if value.IsNull() {
			continue
		}
		c.values[name] = value
		if text := c.text(name); text != "" && len(args.marked.GetAttr(name).Marks()) > 0 {
			c.secrets = append(c.secrets, text)
		}
	}
}

// text returns an argument as text, or "" if there is none.
func (c *connection) text(name string) string {
	value, ok := c.values[name]
	switch {
	case !ok:
		return ""
	case value.Type() == cty.Number:
		return value.AsBigFloat().Text('f', -1)
	case value.Type() == cty.Bool:
		return strconv.FormatBool(value.True())
	default:
		return value.AsString()
	}
}

// or returns the first of the arguments that says something.
func (c *connection) or(names ...string) string {
	for _, name := range names {
		if text := c.text(name); text != "" {
			return text
		}
	}
	return ""
}

// withoutSecrets returns a text without the secrets in it.
func (c *connection) withoutSecrets(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "(sensitive)")
	}
	return text
}

// read finds out how to reach the machine. It returns the error of the connection blocks, or "".
func (c *connection) read(env []string) string {
	if kind := c.text("type"); kind != "" && kind != "ssh" {
		return fmt.Sprintf("it is of type %q, and the native engine has those of type ssh only. An engine with a binary may have others: "+
			"choose terraform or tofu", kind)
	}
	switch platform := c.or("target_platform"); platform {
	case "", "unix":
	case "windows":
		c.windows = true
	default:
		return fmt.Sprintf("the target_platform is unix or windows, not %q", platform)
	}
	o := &c.options
	o.Timeout = defaultTimeout
	if text := c.text("timeout"); text != "" {
		limit, err := time.ParseDuration(text)
		if err != nil || limit <= 0 {
			return fmt.Sprintf("the timeout is a time like 30s or 5m, not %q", text)
		}
		o.Timeout = limit
	}
	if c.text("host") == "" {
		return "it has no host"
	}
	var problems []string
	port := func(fallback int, names ...string) int {
		text := c.or(names...)
		// terraform takes 0 for a port that is not set.
		if text == "" || text == "0" {
			return fallback
		}
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 || number > 65535 {
			problems = append(problems, fmt.Sprintf("%s is not the number of a port: %s", names[0], text))
		}
		return number
	}
	o.Endpoint = remote.Endpoint{
		Host: bare(c.text("host")), Port: port(22, "port"), User: c.or("user"), Password: c.text("password"),
		PrivateKey: c.text("private_key"), Certificate: c.text("certificate"), HostKey: c.text("host_key"),
	}
	if o.User == "" {
		o.User = "root"
	}
	if c.text("bastion_host") != "" {
		o.Bastion = &remote.Endpoint{
			Host: bare(c.text("bastion_host")), Port: port(o.Port, "bastion_port"), User: c.or("bastion_user", "user"),
			Password:   c.or("bastion_password", "password"),
			PrivateKey: c.or("bastion_private_key", "private_key"), Certificate: c.or("bastion_certificate"), HostKey: c.text("bastion_host_key"),
		}
		if o.Bastion.User == "" {
			o.Bastion.User = o.User
		}
	}
	if c.text("proxy_host") != "" {
		o.Proxy = &remote.Proxy{
			Scheme: c.or("proxy_scheme"), Host: bare(c.text("proxy_host")), Port: port(80, "proxy_port"), User: c.text("proxy_user_name"),
			Password: c.text("proxy_user_password"),
		}
		if o.Proxy.Scheme == "" {
			o.Proxy.Scheme = "http"
		}
	}
	if c.text("agent") != "false" {
		o.Agent = environ.Get(env, "SSH_AUTH_SOCK")
	}
	if o.Identity = c.text("agent_identity"); o.Agent == "" && c.text("agent") == "true" {
		problems = append(problems, "it is to use an agent, and there is none: the variable SSH_AUTH_SOCK is not set")
	}
	return strings.Join(problems, ", and ")
}

// bare returns a host without the brackets that may be around an address of IPv6.
func bare(host string) string {
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// name returns how the machine is called in messages.
func (c *connection) name() string {
	address := net.JoinHostPort(c.options.Host, strconv.Itoa(c.options.Port))
	return c.withoutSecrets(c.options.User + "@" + address)
}

// use connects with the machine and does something there. A failure is reported by the error of
// use, or else by the one about the connection.
func (c *connection) use(ctx context.Context, w *work, do func(*remote.Machine) hcl.Diagnostics) hcl.Diagnostics {
	w.say("Connecting by ssh to " + c.name())
	c.options.Failed = func(err error) {
		w.say(c.withoutSecrets(fmt.Sprintf("Not connected yet, trying for %s: %s", c.options.Timeout, err)))
	}
	var diags hcl.Diagnostics
	err := remote.Connect(ctx, c.options, func(m *remote.Machine) error {
		w.say("Connected")
		diags = do(m)
		return nil
	})
	if err == nil {
		return diags
	}
	switch {
	case errors.Is(err, errStopped):
		return w.failed("The work was stopped before there was a connection with the machine.")
	case w.args.hidden:
		return w.failed("There was no connection with the machine. The cause is not shown, since the provisioner has sensitive or ephemeral " +
			"arguments.")
	default:
		return w.failed(c.withoutSecrets(fmt.Sprintf("The machine %s cannot be reached: %s.", c.name(), err)))
	}
}

// texts returns the elements of a list that are not null.
func texts(list cty.Value) []string {
	if list.IsNull() {
		return nil
	}
	return slices.Collect(func(yield func(string) bool) {
		for _, value := range list.AsValueSlice() {
			if !value.IsNull() && !yield(value.AsString()) {
				return
			}
		}
	})
}
