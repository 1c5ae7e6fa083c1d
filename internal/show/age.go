// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"fmt"
	"time"
)

// Age writes how long ago something was, to the precision that people care about.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d days", d/day)
	}
}

// Ago is [Age] in a sentence.
func Ago(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return Age(d) + " ago"
}
