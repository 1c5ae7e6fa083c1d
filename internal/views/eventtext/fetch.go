// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eventtext

import "fmt"

// ProviderFetch says that the package of a provider is fetched, and how many of its bytes are
// there; -1 for an unknown number.
func ProviderFetch(provider, platform string, done, total int64) string {
	return fmt.Sprintf("Fetching provider %s for %s", provider, platform) + arrived(done, total)
}

// ProviderFetches says that several packages are fetched.
func ProviderFetches(count int, done, total int64) string {
	return fmt.Sprintf("Fetching %d packages of providers", count) + arrived(done, total)
}

// ProviderFetched says that the package of a provider was fetched.
func ProviderFetched(provider, platform string) string {
	return fmt.Sprintf("Fetched provider %s for %s", provider, platform)
}

func arrived(done, total int64) string {
	const megabyte = 1e6
	switch {
	case done < 0:
		return ""
	case total < 0:
		return fmt.Sprintf(": %.1f MB", float64(done)/megabyte)
	default:
		return fmt.Sprintf(": %.1f of %.1f MB", float64(done)/megabyte, float64(total)/megabyte)
	}
}
