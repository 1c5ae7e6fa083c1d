// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package compatibility tests the promise of docs/compatibility.md with files that older versions
// have written. It has tests only.
//
// Files and expectations are in testdata/compatibility, a directory a version; its README says how
// those of the next version are made. The rules:
//
//	C1. files are recorded once. They are evidence of the past: if today's code wrote them again,
//	    it would be compared with itself. So UPDATE_GOLDEN does nothing here, and a recording that
//	    exists is never replaced.
//	C2. a test works on copies.
//	C3. JSON documents may gain fields, and keep all others with their values.
package compatibility
