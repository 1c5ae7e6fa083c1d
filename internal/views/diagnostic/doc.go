// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package diagnostic shows diagnostics: to people with the piece of source code
// and the values involved, to programs as JSON.
//
// [New] collects the parts to show, so that both forms agree; [Write] and encoding/json show them.
//
// The rules the compiler cannot check:
//
//	D1. A value that is sensitive or ephemeral is only said to be so. Of a collection only its type
//	    and size are shown, never its elements.
//	D2. Text that came from elsewhere is shown without control characters.
package diagnostic
