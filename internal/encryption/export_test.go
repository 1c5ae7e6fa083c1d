// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import "gocloud.dev/secrets/localsecrets"

// A key in a URL is for tests: it is in clear wherever the URL is.
func init() { services[localsecrets.Scheme] = openCloud }
