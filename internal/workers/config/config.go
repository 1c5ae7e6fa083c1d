// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package config reads a block "workers": the queue that brings work to workers, the records that
// runs keep, the pools, and which work goes to which of them.
package config

import (
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// CodeNoKey says that the environment has no key.
const CodeNoKey fault.Code = "workers/no-key"

// BlockType is the type of the block.
const BlockType = "workers"

// Variable names a file with the block, in place of the one in a workspace file.
const Variable = "CAIRN_WORKERS"

// The variables with keys: the text of a key, or the name of a file with it.
const (
	RunKeyVariable  = "CAIRN_RUN_KEY"
	PoolKeyVariable = "CAIRN_POOL_KEY"
)

// kind is the only kind of queue.
const kind = "temporal"

// Config is a block.
type Config struct {
	Address   string // HOST:PORT of the queue
	Namespace string
	TLS       *TLS // nil for none

	// Records is the location of the records of runs.
	Records string

	// Trusted is the public key of those who may start work.
	Trusted envelope.RunPublic

	Pools []Pool // in the order of the file
}

// TLS are the files of a connection. Absolute paths.
type TLS struct{ Cert, Key, CA, ServerName string }

// Pool is a pool of workers.
type Pool struct {
	Name        string
	Namespace   string // of its queue
	Recipient   envelope.PoolRecipient
	Deployments []glob.Pattern
	Tags        []string
	Range       hcl.Range
}

// DefaultPool is the pool for work that no other one is for.
const DefaultPool = "default"

// For returns the pool for the work on a deployment of a unit with tags; nil if there is none.
func (c *Config) For(deployment string, tags []string) *Pool {
	for i := range c.Pools {
		p := &c.Pools[i]
		if slices.ContainsFunc(p.Deployments, func(pattern glob.Pattern) bool { return pattern.Match(deployment) }) ||
			slices.ContainsFunc(p.Tags, func(tag string) bool { return slices.Contains(tags, tag) }) {
			return p
		}
	}
	return c.Pool(DefaultPool)
}

// Pool returns the pool with a name, nil if there is none.
func (c *Config) Pool(name string) *Pool {
	i := slices.IndexFunc(c.Pools, func(p Pool) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Pools[i]
}

// written is the block as it is written.
type written struct {
	Address   string        `hcl:"address"`
	Namespace string        `hcl:"namespace,optional"`
	Records   string        `hcl:"records"`
	Trusted   string        `hcl:"trusted"`
	TLS       *writtenTLS   `hcl:"tls,block"`
	Pools     []writtenPool `hcl:"pool,block"`
}

type writtenTLS struct {
	Cert       string `hcl:"cert,optional"`
	Key        string `hcl:"key,optional"`
	CA         string `hcl:"ca,optional"`
	ServerName string `hcl:"server_name,optional"`
}

type writtenPool struct {
	Name        string   `hcl:"name,label"`
	Namespace   string   `hcl:"namespace,optional"`
	Recipient   string   `hcl:"recipient"`
	Deployments []string `hcl:"deployments,optional"`
	Tags        []string `hcl:"tags,optional"`
}

// usualNamespace is the namespace that a queue has if nothing is said.
const usualNamespace = "cairn"

// Decode reads a block. Paths in it are relative to a directory.
func Decode(block *hclsyntax.Block, dir string) (*Config, hcl.Diagnostics) {
	at := block.DefRange()
	if len(block.Labels) != 1 || block.Labels[0] != kind {
		return nil, hcl.Diagnostics{failure.At(at, "Invalid workers",
			`The block names the queue that brings work to workers: write workers "temporal" { … }.`)}
	}
	var w written
	diags := gohcl.DecodeBody(block.Body, nil, &w)
	if diags.HasErrors() {
		return nil, diags
	}
	c := &Config{Address: w.Address, Namespace: w.Namespace, Records: w.Records}
	if c.Namespace == "" {
		c.Namespace = usualNamespace
	}
	if w.TLS != nil {
		within := func(name string) string {
			if name == "" || filepath.IsAbs(name) {
				return name
			}
			return filepath.Join(dir, name)
		}
		c.TLS = &TLS{within(w.TLS.Cert), within(w.TLS.Key), within(w.TLS.CA), w.TLS.ServerName}
	}
	if _, _, err := net.SplitHostPort(w.Address); err != nil {
		return nil, hcl.Diagnostics{failure.At(attribute(block, "address"), "Invalid address",
			"The argument \"address\" is where the queue listens: HOST:PORT.")}
	}
	var err error
	if c.Trusted, err = envelope.ParseRunPublic(w.Trusted); err != nil {
		return nil, hcl.Diagnostics{failure.At(attribute(block, "trusted"), "Invalid key",
			"The argument \"trusted\" is the public key of those who may start work: cairn-run1…")}
	}
	if diags := c.addPools(block, w.Pools); diags.HasErrors() {
		return nil, diags
	}
	return c, nil
}

func attribute(block *hclsyntax.Block, name string) hcl.Range {
	if found := block.Body.Attributes[name]; found != nil {
		return found.Expr.Range()
	}
	return block.DefRange()
}

// addPools reads the pools. Those that have been written are in the order of their blocks.
func (c *Config) addPools(block *hclsyntax.Block, pools []writtenPool) (diags hcl.Diagnostics) {
	var blocks []*hclsyntax.Block
	for _, inner := range block.Body.Blocks {
		if inner.Type == "pool" {
			blocks = append(blocks, inner)
		}
	}
	for i, w := range pools {
		at := blocks[i].DefRange()
		p := Pool{Name: w.Name, Namespace: w.Namespace, Tags: w.Tags, Range: at}
		if p.Namespace == "" {
			p.Namespace = c.Namespace
		}
		if other := c.Pool(w.Name); other != nil {
			diags = diags.Append(failure.At(at, "Pool declared twice", "There is another block for the pool %q.", w.Name))
		}
		var err error
		if p.Recipient, err = envelope.ParsePoolRecipient(w.Recipient); err != nil {
			diags = diags.Append(failure.At(attribute(blocks[i], "recipient"), "Invalid key",
				"The argument \"recipient\" is the public key of the pool: age1…"))
		}
		for _, text := range w.Deployments {
			pattern, err := glob.Compile(text)
			if err != nil {
				diags = diags.Append(failure.At(attribute(blocks[i], "deployments"), "Invalid pattern", "%q is not a pattern of names: %s.",
					text, failure.Reason(err)))
				continue
			}
			p.Deployments = append(p.Deployments, pattern)
		}
		c.Pools = append(c.Pools, p)
	}
	if len(pools) == 0 {
		diags = diags.Append(failure.At(block.DefRange(), "No pool", `The block has no pool of workers, such as pool "default" { … }.`))
	}
	return diags
}

// largest is the size of a file with the block, in bytes, that is read.
const largest = 1 << 20

// ReadFile reads the block in a file, which is added to those that diagnostics are about.
func ReadFile(name string, files map[string]*hcl.File) (*Config, hcl.Diagnostics) {
	read, diags := ReadDeclared(name, files)
	if read == nil && !diags.HasErrors() {
		diags = diags.Extend(failure.Diagnostics(failure.Error("Workers not read", "The file %s has no block workers \"temporal\".", name)))
	}
	return read, diags
}

// ReadDeclared is [ReadFile] for a file that may have no such block; then the result is nil.
func ReadDeclared(name string, files map[string]*hcl.File) (*Config, hcl.Diagnostics) {
	content, err := safefile.Read(safefile.OS{}, name, largest)
	if err != nil {
		return nil, failure.Diagnostics(failure.Error("Workers not read", "The file %s, which says where workers are, cannot be read: %s.",
			name, failure.Reason(err)))
	}
	file, diags := hclsource.Parse(content, name)
	if file != nil {
		files[name] = file
	}
	if diags.HasErrors() {
		return nil, diags
	}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks { //nolint:forcetypeassert // the parser's type
		if block.Type == BlockType {
			return Decode(block, filepath.Dir(name))
		}
	}
	return nil, nil
}

// RunKey returns the key of those who may start work, which workers trust, from the environment.
func (c *Config) RunKey(env []string) (envelope.RunKey, error) {
	text, err := keyText(env, RunKeyVariable, "starts work on workers")
	if err != nil {
		return envelope.RunKey{}, err
	}
	key, err := envelope.ParseRunKey(text)
	if err == nil && key.Public() != c.Trusted {
		return key, failure.Error("Key not trusted", "The key in %s is not the one that workers trust: the argument \"trusted\" of the "+
			"block %q has the public half of another key.", RunKeyVariable, BlockType)
	}
	return key, unusable(err, RunKeyVariable)
}

// Recipients returns the public keys of the pools, by their names.
func (c *Config) Recipients() map[string]envelope.PoolRecipient {
	recipients := map[string]envelope.PoolRecipient{}
	for _, pool := range c.Pools {
		recipients[pool.Name] = pool.Recipient
	}
	return recipients
}

// PoolKey returns the key of a worker's pool, from the environment.
func PoolKey(env []string) (envelope.PoolKey, error) {
	text, err := keyText(env, PoolKeyVariable, "works for a pool")
	if err != nil {
		return envelope.PoolKey{}, err
	}
	key, err := envelope.ParsePoolKey(text)
	return key, unusable(err, PoolKeyVariable)
}

// unusable explains that a variable has no usable key; nil for nil.
func unusable(err error, variable string) error {
	if err == nil {
		return nil
	}
	return failure.Error("Key not usable", "%s. The variable %s has the text of a key, or the name of a file with it.",
		failure.Capitalize(failure.Reason(err)), variable)
}

// keyText returns the text of a key, which a variable has or names the file of.
func keyText(env []string, variable, who string) ([]byte, error) {
	value := environ.Get(env, variable)
	if value == "" {
		return nil, hcl.Diagnostics{failure.With(CodeNoKey,
			failure.New("No key", "The variable %s has no key. Who %s has one: its text, or the name of a file with it.", variable, who))}
	}
	content, err := os.ReadFile(value)
	if err != nil {
		return []byte(value), nil //nolint:nilerr // the text itself, of which no message says anything
	}
	return content, nil
}
