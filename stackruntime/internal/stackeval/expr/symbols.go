// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package expr

import (
	"strings"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// pathOf returns the names by which an expression refers to an object.
func pathOf(target stackaddrs.Referenceable) []string {
	switch target := target.(type) {
	case stackaddrs.InputVariable:
		return []string{"var", target.Name}
	case stackaddrs.LocalValue:
		return []string{"local", target.Name}
	case stackaddrs.Component:
		return []string{"component", target.Name}
	case stackaddrs.StackCall:
		return []string{"stack", target.Name}
	case stackaddrs.ProviderConfigRef:
		return []string{"provider", target.LocalName, target.Name}
	case stackaddrs.ContextualRef:
		return strings.Split(string(target), ".")
	}
	return nil
}
