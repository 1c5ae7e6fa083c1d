// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"regexp"
	"strings"
	"time"
)

// MinLimit is the least limit of a document, which leaves room for a head and some lines.
const MinLimit = 2_000

// Options are the head of a document about plans, and its greatest length. The zero value has no
// title.
type Options struct {
	Title    string
	Link     string       // URL of the run that made it, for which IsLink holds; "" for none
	Commit   string       // that was planned; "" if it is not said
	Made     time.Time    // zero if it is not said
	Limit    int          // characters; 0 is MaxLength, others are at least MinLimit
	Attached []Attachment // output of other programs, such as checks of policies
}

// Attachment is a text of another program.
type Attachment struct{ Name, Text string }

var link = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+$`)

// IsLink reports whether a document can have a link to a URL.
func IsLink(url string) bool { return link.MatchString(url) }

var plain = regexp.MustCompile(`^[A-Za-z0-9 ]*$`)

// title is code only where a sign of it may mean something.
func title(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return Code(s)
}

// origin is a line that says where a document is from, "" if nothing is known of that.
func (o Options) origin() string {
	var parts []string
	if o.Commit != "" {
		parts = append(parts, "commit "+Code(o.Commit))
	}
	if !o.Made.IsZero() {
		parts = append(parts, o.Made.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if o.Link != "" {
		parts = append(parts, "[run]("+o.Link+")")
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + strings.Join(parts, " · ") + "\n"
}

// note says that something is missing, and where it is.
func (o Options) note() string {
	const cut = "\n\n*Cut: there is more than fits, and replacements and destructions are kept first. See the whole plan "
	if o.Link != "" {
		return cut + "[where it was made](" + o.Link + ").*\n"
	}
	return cut + "where it was made.*\n"
}
