// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/apparentlymart/go-versions/versions"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// requiredSource returns the provider that an entry of required_providers names.
func requiredSource(entry *syntax.Argument) (provider stackaddrs.Provider, ok bool) {
	group, ok := entry.Value.Map()
	if !ok {
		return provider, false
	}
	item := group.Item("source")
	if item == nil {
		return provider, false
	}
	source := entry.Value.StringAt(item.Value.End.Byte - 1)
	if source == nil {
		return provider, false
	}
	parsed, err := tfaddr.ParseProviderSource(source.Text)
	if err != nil || !parsed.HasKnownNamespace() {
		return provider, false
	}
	return stackaddrs.Provider{Hostname: parsed.Hostname.ForDisplay(), Namespace: parsed.Namespace, Type: parsed.Type}, true
}

// requirement completes a text in an entry of required_providers, from the packages at hand and the
// requirements of modules.
func (c *completer) requirement(entry *syntax.Argument, text *syntax.String) {
	groups := entry.Value.GroupsAt(c.offset)
	if len(groups) != 1 {
		return
	}
	item := groups[0].ItemAt(c.offset)
	switch {
	case item == nil:
	case item.Key == "source":
		c.requiredSources(entry.Name, text)
	case item.Key == "version":
		if provider, ok := requiredSource(entry); ok {
			c.requiredVersions(provider, text)
		}
	}
}

// requiredSources completes addresses, first those of providers that are called like their entry.
func (c *completer) requiredSources(name string, text *syntax.String) {
	details := map[stackaddrs.Provider]string{stackaddrs.BuiltinProvider: "built into the engine"}
	for provider := range c.stack.moduleRequirements(c.file.dir) {
		if !provider.IsBuiltin() {
			details[provider] = "modules require it"
		}
	}
	for _, known := range c.stack.knownProviders() {
		if known.Locked != versions.Unspecified {
			details[known.Provider] = known.Locked.String() + " is locked"
		} else {
			details[known.Provider] = "there is " + known.Versions[0].String()
		}
	}
	rank := func(provider stackaddrs.Provider) int {
		switch {
		case provider.Type == name:
			return 0
		case !provider.IsBuiltin():
			return 1
		}
		return 2
	}
	for _, provider := range slices.SortedFunc(maps.Keys(details), func(a, b stackaddrs.Provider) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), release.CompareProviders(a, b))
	}) {
		c.add(Completion{Label: release.Short(provider), Kind: ValueCompletion, Detail: details[provider], Replace: text.Range})
	}
}

// requiredVersions completes constraints: from the versions that are at hand, first those that
// allow the locked one, and from the requirements of modules.
func (c *completer) requiredVersions(provider stackaddrs.Provider, text *syntax.String) {
	said := map[string]bool{}
	add := func(constraint, detail string) {
		if !said[constraint] {
			c.add(Completion{Label: constraint, Kind: ValueCompletion, Detail: detail, Replace: text.Range})
		}
		said[constraint] = true
	}
	minor := func(version versions.Version) {
		if version.Prerelease == "" {
			add(fmt.Sprintf("~> %d.%d", version.Major, version.Minor), "allows "+version.String())
		}
	}
	all := c.stack.knownProviders()
	i := slices.IndexFunc(all, func(known requirements.Known) bool { return known.Provider == provider })
	if i >= 0 && all[i].Locked != versions.Unspecified {
		minor(all[i].Locked)
		add(all[i].Locked.String(), "locked")
	}
	if i >= 0 {
		for _, version := range all[i].Versions {
			minor(version)
		}
	}
	for _, constraint := range c.stack.moduleRequirements(c.file.dir)[provider] {
		add(constraint, "modules require it")
	}
	if i >= 0 {
		for _, version := range all[i].Versions {
			add(version.String(), "")
		}
	}
}

func (s *Stack) knownProviders() []requirements.Known {
	if s.view.Providers == nil {
		return nil
	}
	return s.view.Providers()
}

// moduleRequirements returns the requirements of the modules of a stack's components, with the
// constraints sorted.
func (s *Stack) moduleRequirements(dir *directory) map[stackaddrs.Provider][]string {
	all := map[stackaddrs.Provider][]string{}
	for _, decl := range dir.all(Component) {
		if module := s.module(s.sourceDir(dir, decl.block)); module != nil {
			for provider, constraints := range module.Requirements {
				all[provider] = append(all[provider], constraints...)
			}
		}
	}
	for provider, constraints := range all {
		slices.Sort(constraints)
		all[provider] = slices.Compact(constraints)
	}
	return all
}
