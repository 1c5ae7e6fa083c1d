// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Object is a resource instance object in the state of a module.
type Object struct {
	Addr    stackaddrs.ResourceInstance
	Deposed stackaddrs.DeposedKey

	Provider      string // provider configuration address as in the state document
	SchemaVersion uint64
	Tainted       bool

	// Attributes is a JSON object in the form of the provider's schema.
	Attributes json.RawMessage

	// SensitiveAttributes is the list of paths as in the state document.
	SensitiveAttributes json.RawMessage

	Dependencies []string // resource addresses, in the order of the document
}

// ProviderName returns the source address of the object's provider.
func (o Object) ProviderName() string {
	_, rest, found := strings.Cut(o.Provider, `provider["`)
	if !found {
		return o.Provider
	}
	name, _, _ := strings.Cut(rest, `"]`)
	return name
}

// Objects returns the resource instance objects of a module's state, sorted by
// address. The current object comes before the deposed ones.
func Objects(state engine.State) ([]Object, error) {
	_, parts, err := splitModule(state)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(parts, object.compare)
	list := make([]Object, len(parts))
	for i, part := range parts {
		if list[i], err = decodeObject(part); err != nil {
			return nil, fmt.Errorf("%s: %w", part.addr, err)
		}
	}
	return list, nil
}

// HasObjects tells whether a module's state holds any resource instance object.
func HasObjects(state engine.State) (bool, error) {
	if len(state) == 0 {
		return false, nil
	}
	var doc struct {
		Resources []struct{ Instances []struct{} }
	}
	if err := json.Unmarshal(state, &doc); err != nil {
		return false, fmt.Errorf("not a state document: %w", err)
	}
	for _, resource := range doc.Resources {
		if len(resource.Instances) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// ProviderConfig is a provider configuration that objects of a state were made with.
type ProviderConfig struct {
	Provider string // source address
	Alias    string // "" for a default configuration
}

// providerConfigPattern is the form of a provider configuration in a state
// document. One of a child module (in states that old versions wrote) stands for
// that of the root.
var providerConfigPattern = regexp.MustCompile(`provider\["([^"]+)"\](?:\.(.+))?$`)

// IsOf reports whether the configuration is one of a provider. Each engine has its own default registry, and writes
// that one.
func (c ProviderConfig) IsOf(provider stackaddrs.Provider) bool {
	if provider.Hostname == "registry.terraform.io" && c.Provider == "registry.opentofu.org/"+provider.Namespace+"/"+provider.Type {
		return true
	}
	return c.Provider == provider.String()
}

// ParseProviderConfig parses the address of a provider configuration as engines write it, like
// provider["registry.terraform.io/hashicorp/aws"].west.
func ParseProviderConfig(addr string) (config ProviderConfig, ok bool) {
	m := providerConfigPattern.FindStringSubmatch(addr)
	if m == nil {
		return ProviderConfig{}, false
	}
	return ProviderConfig{m[1], m[2]}, true
}

// ProviderConfigs returns the provider configurations that the objects of a
// module's state need, each once, sorted.
func ProviderConfigs(state engine.State) ([]ProviderConfig, error) {
	if len(state) == 0 {
		return nil, nil
	}
	var doc struct {
		Resources []struct{ Provider string }
	}
	if err := json.Unmarshal(state, &doc); err != nil {
		return nil, fmt.Errorf("not a state document: %w", err)
	}
	var configs []ProviderConfig
	for _, resource := range doc.Resources {
		config, ok := ParseProviderConfig(resource.Provider)
		if !ok {
			return nil, fmt.Errorf("%q is not the address of a provider configuration", resource.Provider)
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

func decodeObject(part object) (Object, error) {
	var resource struct{ Provider string }
	if err := json.Unmarshal(part.resource, &resource); err != nil {
		return Object{}, err
	}
	var instance struct {
		Provider            string          `json:"provider"` // OpenTofu, where it differs between instances
		SchemaVersion       uint64          `json:"schema_version"`
		Status              string          `json:"status"`
		Attributes          json.RawMessage `json:"attributes"`
		SensitiveAttributes json.RawMessage `json:"sensitive_attributes"`
		Dependencies        []string        `json:"dependencies"`
	}
	if err := json.Unmarshal(part.instance, &instance); err != nil {
		return Object{}, err
	}
	if instance.Provider != "" {
		resource.Provider = instance.Provider
	}
	return Object{
		Addr:                part.addr,
		Deposed:             part.deposed,
		Provider:            resource.Provider,
		SchemaVersion:       instance.SchemaVersion,
		Tainted:             instance.Status == "tainted",
		Attributes:          instance.Attributes,
		SensitiveAttributes: instance.SensitiveAttributes,
		Dependencies:        instance.Dependencies,
	}, nil
}
