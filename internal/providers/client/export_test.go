// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

// DecodeValue is decodeValue, for tests.
var DecodeValue = decodeValue
