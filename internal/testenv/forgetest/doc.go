// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package forgetest is GitHub and GitLab as far as the CI kit needs them: their REST APIs on
// loopback, and runners that play jobs with real repositories.
//
// The server serves comments in pages of two, whatever is asked for, knows permissions, and fails
// on demand. It demands the token in the header of its service, and counts each request without it.
package forgetest
