// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package markdown writes summaries as Markdown, for comments on pull requests and job summaries.
// Text from configurations and providers is shown as it is, and can neither format anything nor
// mention anybody. No text is longer than [MaxLength], or than its options allow: the excess is
// left out, and the text says so.
package markdown

// MaxLength is the maximal number of characters of a text: a comment on GitHub may have some more.
const MaxLength = 65_000
