// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"fmt"
	"strings"
)

// ParseProvider parses a fully qualified source address, like
// registry.terraform.io/hashicorp/aws.
func ParseProvider(s string) (Provider, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Provider{}, fmt.Errorf("not a provider address: %q is not a host, a namespace and a type", s)
	}
	return Provider{parts[0], parts[1], parts[2]}, nil
}
