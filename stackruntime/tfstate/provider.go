// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// ProviderConfig is a provider configuration that objects were made with.
type ProviderConfig struct {
	Provider string // source address
	Alias    string // "" for a default configuration
}

// providerConfigPattern is the form of a provider configuration in a state
// document. One of a child module (in states that old versions wrote) stands for
// that of the root.
var providerConfigPattern = regexp.MustCompile(`provider\["([^"]+)"\](?:\.(.+))?$`)

// ParseProviderConfig parses the address of a provider configuration as engines write it, like
// provider["registry.terraform.io/hashicorp/aws"].west.
func ParseProviderConfig(addr string) (config ProviderConfig, ok bool) {
	m := providerConfigPattern.FindStringSubmatch(addr)
	if m == nil {
		return ProviderConfig{}, false
	}
	return ProviderConfig{m[1], m[2]}, true
}

// String returns the address as engines write it, of a configuration in the root module.
func (c ProviderConfig) String() string {
	address := fmt.Sprintf("provider[%q]", c.Provider)
	if c.Alias != "" {
		address += "." + c.Alias
	}
	return address
}

// IsOf reports whether the configuration is one of a provider. Each engine has its own default
// registry, and writes that one.
func (c ProviderConfig) IsOf(provider stackaddrs.Provider) bool {
	if provider.Hostname == "registry.terraform.io" && c.Provider == "registry.opentofu.org/"+provider.Namespace+"/"+provider.Type {
		return true
	}
	return c.Provider == provider.String()
}

// ProviderConfigs returns the provider configurations that the objects need, each once, sorted.
func (d *Document) ProviderConfigs() ([]ProviderConfig, error) {
	var configs []ProviderConfig
	for i, e := range d.entries {
		if i > 0 && bytes.Equal(d.entries[i-1].resource, e.resource) {
			continue
		}
		var address string
		for name, value := range members(e.resource) {
			if name != "provider" {
				continue
			}
			if err := stringMember(&address, name, value); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Addr, err)
			}
		}
		config, ok := ParseProviderConfig(address)
		if !ok {
			return nil, fmt.Errorf("%q is not the address of a provider configuration", address)
		}
		if !slices.Contains(configs, config) {
			configs = append(configs, config)
		}
	}
	slices.SortFunc(configs, func(a, b ProviderConfig) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Alias, b.Alias))
	})
	return configs, nil
}
