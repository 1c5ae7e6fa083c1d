// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package plugin runs the processes of provider plugins, and calls the methods of the provider
// protocol in versions 5 and 6 over go-plugin.
//
// Messages are those of proto/cairn/plugin/v1, which serve both versions; their contents are for
// the packages above.
//
// Rules:
//
//	L1. A process ends when it is told to, when its start fails, or with this program. One that
//	    somebody else has started stays.
//	L2. A process that has crashed answers every further call with the same error, which has its last
//	    words.
//	L3. The output of a provider is not shown, as it may hold secrets, but for its last words when it
//	    crashes. It is in the log if the user asks for one.
package plugin
