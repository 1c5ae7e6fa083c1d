// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package diagnostic collects the parts of diagnostics to show: texts, the piece of source code,
// and the values involved.
//
// People see them as text (package diagnostictext), programs as JSON, of which [Diagnostic] has the
// format. It is terraform's.
//
// The rules the compiler cannot check:
//
//	D1. A value that is sensitive or ephemeral is only said to be so. Of a collection only its type
//	    and size are shown, never its elements.
//	D2. Text that came from elsewhere is shown without control characters.
package diagnostic
