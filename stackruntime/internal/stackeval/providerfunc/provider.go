// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerfunc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Provider finds the provider by its local name. It is nil if its declaration may be in a part that
// could not be decoded.
func Provider(decl *stackconfig.Stack, call lang.ProviderCall) (*stackconfig.ProviderRequirement, hcl.Diagnostics) {
	localName, name, ok := call.Parts()
	if !ok {
		return nil, hcl.Diagnostics{failure.At(call.Range, "Invalid function name",
			"The name of a function of a provider has three parts, like provider::aws::arn_parse; this one is %s.", call.Name)}
	}
	requirements := decl.RequiredProviders
	if provider := requirements.Named(localName); provider != nil {
		return provider, nil
	}
	if decl.Incomplete || requirements != nil && requirements.Rejected[localName] {
		return nil, nil
	}
	detail := fmt.Sprintf("The required_providers block of this stack has no provider %q. Declare it there to call its functions.", localName)
	if other := declaredByType(requirements, localName); other != "" {
		detail = fmt.Sprintf("This stack calls the provider %q by the local name %[2]q. Write provider::%[2]s::%[3]s.", localName, other, name)
	}
	return nil, hcl.Diagnostics{failure.At(call.Range, "Provider not declared", "%s", detail)}
}

// declaredByType returns the local name of a provider of this type, "" if there is none.
func declaredByType(requirements *stackconfig.ProviderRequirements, providerType string) string {
	if requirements == nil {
		return ""
	}
	for _, localName := range slices.Sorted(maps.Keys(requirements.Providers)) {
		if requirements.Providers[localName].Provider.Type == providerType {
			return localName
		}
	}
	return ""
}
