// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// supplied returns the providers, of those that are required, that need no package and no entry in
// the lock file, sorted: those in development, and those that somebody else has started.
func (i *Installer) supplied(config *cliconfig.Installation, requirements map[stackaddrs.Provider][]string) []stackaddrs.Provider {
	var supplied []stackaddrs.Provider
	for _, provider := range slices.SortedFunc(maps.Keys(requirements), release.CompareProviders) {
		if _, overridden := config.Overrides[provider]; overridden || i.opts.Unmanaged(provider) {
			supplied = append(supplied, provider)
		}
	}
	return supplied
}

// overridden warns of the providers that are in development, of those that are supplied.
func (i *Installer) overridden(config *cliconfig.Installation, supplied []stackaddrs.Provider) hcl.Diagnostics {
	var lines []string
	for _, provider := range supplied {
		if dir, ok := config.Overrides[provider]; ok && !i.opts.Unmanaged(provider) {
			lines = append(lines, fmt.Sprintf("\n  - %s is the one in %s", release.Short(provider), dir))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return hcl.Diagnostics{failure.Warning("Provider development overrides",
		"Providers are in development (dev_overrides), as your CLI configuration says:%s\n\nThey may behave as no released version does, and a "+
			"state that they have written may be one that released versions cannot read.", strings.Join(lines, ""))}
}
