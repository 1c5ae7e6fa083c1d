// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package identitycmd has the commands about the keys that tokens of deployments are signed with.
package identitycmd
