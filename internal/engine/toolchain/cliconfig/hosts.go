// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	svchost "github.com/hashicorp/terraform-svchost"
	"github.com/zclconf/go-cty/cty"
)

// Hosts is the settings of the configuration, and of the environment, for the hosts of registries.
type Hosts struct {
	Tokens   map[svchost.Hostname]string
	Services map[svchost.Hostname]map[string]string // addresses, by service
	Helper   *Helper                                // nil if none is configured

	written map[svchost.Hostname]string // the file that has a token, for those that are in files
}

// TokenPrefix starts the names of variables with tokens: TF_TOKEN_app_example_com.
const TokenPrefix = "TF_TOKEN_"

// ReadHosts reads the configuration that the engine would read, and the tokens in the environment,
// which beat it.
func ReadHosts(environ []string) (*Hosts, error) {
	config := &Hosts{
		Tokens:   map[svchost.Hostname]string{},
		Services: map[svchost.Hostname]map[string]string{},
		written:  map[svchost.Hostname]string{},
	}
	var problems error
	for _, path := range Files(environ) {
		if err := config.addFile(path, environ); err != nil {
			problems = errors.Join(problems, fmt.Errorf("the CLI configuration %s cannot be used: %w", path, err))
		}
	}
	for _, entry := range environ {
		name, token, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, TokenPrefix)
		if !ok || token == "" {
			continue
		}
		host := strings.ReplaceAll(strings.ReplaceAll(encoded, "__", "-"), "_", ".")
		if hostname, err := svchost.ForComparison(host); err == nil {
			config.Tokens[hostname] = token
		}
	}
	return config, problems
}

// Token returns the token for a host, or "".
func (c *Hosts) Token(ctx context.Context, host svchost.Hostname) (string, error) {
	if token := c.Tokens[host]; token != "" || c.Helper == nil {
		return token, nil
	}
	return c.Helper.get(ctx, host)
}

var hostsSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "credentials_helper", LabelNames: []string{"type"}},
	{Type: "credentials", LabelNames: []string{"host"}},
	{Type: "host", LabelNames: []string{"host"}},
}}

func (c *Hosts) addFile(path string, environ []string) error {
	file, _, err := parseFile(path)
	if err != nil || file == nil {
		return err
	}
	content, _, diags := file.Body.PartialContent(hostsSchema)
	if diags.HasErrors() {
		return diags
	}
	for _, block := range content.Blocks {
		if block.Type == "credentials_helper" {
			if err := c.addHelper(block, environ); err != nil {
				return err
			}
			continue
		}
		host, err := svchost.ForComparison(block.Labels[0])
		if err != nil {
			return fmt.Errorf("%q is not a host name: %w", block.Labels[0], err)
		}
		if err := c.addBlock(host, block); err != nil {
			return err
		}
		if block.Type == "credentials" {
			c.written[host] = path
		}
	}
	return nil
}

func (c *Hosts) addBlock(host svchost.Hostname, block *hcl.Block) error {
	attrs, diags := block.Body.JustAttributes()
	if diags.HasErrors() {
		return diags
	}
	value := func(name string) cty.Value {
		attr := attrs[name]
		if attr == nil {
			return cty.NilVal
		}
		v, moreDiags := attr.Expr.Value(nil)
		diags = diags.Extend(moreDiags)
		return v
	}
	if block.Type == "credentials" {
		if token := value("token"); isText(token) {
			c.Tokens[host] = token.AsString()
		}
	} else if services := value("services"); services != cty.NilVal && services.CanIterateElements() {
		c.Services[host] = map[string]string{}
		for name, address := range services.AsValueMap() {
			if isText(address) {
				c.Services[host][name] = address.AsString()
			}
		}
	}
	if diags.HasErrors() {
		return diags
	}
	return nil
}

func isText(v cty.Value) bool {
	return v != cty.NilVal && v.Type() == cty.String && v.IsKnown() && !v.IsNull()
}
