// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// key has the conditions for sharing an instance (rule S1). It has a hash in place of the
// configuration, which may be secret.
type key struct {
	address     stackaddrs.Provider
	program     string
	configured  bool
	config      [sha256.Size]byte
	version     string
	deferral    bool
	name, phase string // empty where they do not matter
	dir         string // empty for a process that works nowhere (rule S7)
}

// unconfiguredKey returns the key for a provider without a configuration.
func unconfiguredKey(pkg Package, workDir string) key {
	return key{address: pkg.Address, program: pkg.Program, dir: workDir}
}

// keyOf returns the configuration without marks, and the key for it.
func keyOf(pkg Package, config Configuration) (cty.Value, key, error) {
	if config.Value == cty.NilVal {
		return cty.NilVal, key{}, errors.New("there is none")
	}
	ephemeral := marks.Contains(config.Value, marks.Ephemeral)
	value, _ := config.Value.UnmarkDeep()
	encoded, err := ctymsgpack.Marshal(value, cty.DynamicPseudoType)
	if err != nil {
		return cty.NilVal, key{}, err
	}
	k := key{
		address: pkg.Address, program: pkg.Program, configured: true,
		config: sha256.Sum256(encoded), version: config.TerraformVersion, deferral: config.DeferralAllowed,
		dir: config.WorkDir,
	}
	if ephemeral || !value.IsWhollyKnown() {
		k.name, k.phase = config.Name, config.Phase
	}
	return value, k, nil
}

// parseAddress parses the address of a provider, in which the host, and the namespace, may be left
// out.
func parseAddress(written string) (stackaddrs.Provider, error) {
	switch strings.Count(written, "/") {
	case 0:
		written = "registry.terraform.io/hashicorp/" + written
	case 1:
		written = "registry.terraform.io/" + written
	}
	return stackaddrs.ParseProvider(written)
}
