// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// InstalledAddress returns the address by which an engine installs and locks a provider: tofu finds
// those without a host in a registry of its own.
func InstalledAddress(engine string, provider stackaddrs.Provider) stackaddrs.Provider {
	if engine == Tofu && provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
		provider.Hostname = TofuRegistry
	}
	return provider
}

// StackAddress is the reverse of [InstalledAddress].
func StackAddress(engine string, provider stackaddrs.Provider) stackaddrs.Provider {
	if engine == Tofu && provider.Hostname == TofuRegistry {
		provider.Hostname = string(tfaddr.DefaultProviderRegistryHost)
	}
	return provider
}
