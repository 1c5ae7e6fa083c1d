// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statescmd

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// resultText shows the outcome of a call: a line, and with all also the comment and the changes.
func resultText(result schedule.Result, status string, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s  %s\n", status, safetext.Name(result.Call.String()))
	if !all {
		return b.String()
	}
	if result.Comment != "" {
		writeIndented(&b, "    ", result.Comment)
	}
	if result.Changes != nil {
		for _, entry := range result.Changes.Entries {
			if text, ok := entry.Value.(string); !ok || !isOutputSaid(entry.Key, text, result) {
				writeChange(&b, "    ", entry.Key, entry.Value)
			}
		}
	}
	return b.String()
}

// isOutputSaid reports whether there is nothing to show of the output of a command: it is empty, or
// the comment on a failure has it.
func isOutputSaid(key, text string, result schedule.Result) bool {
	if key != "stdout" && key != "stderr" {
		return false
	}
	text = strings.TrimSpace(text)
	return text == "" || result.Status == schedule.Failed && strings.Contains(result.Comment, text)
}

// writeChange shows one change, texts of several lines below its name as they are.
func writeChange(b *strings.Builder, indent, key string, value any) {
	b.WriteString(indent + safetext.Name(key) + ":")
	switch value := value.(type) {
	case *compile.Map:
		b.WriteByte('\n')
		for _, entry := range value.Entries {
			writeChange(b, indent+"  ", entry.Key, entry.Value)
		}
	case []any:
		b.WriteByte('\n')
		for _, element := range value {
			writeChange(b, indent+"  ", "-", element)
		}
	case string:
		switch text := strings.TrimSuffix(value, "\n"); {
		case strings.Contains(text, "\n"):
			b.WriteByte('\n')
			writeIndented(b, indent+"  ", text)
		case text == "":
			b.WriteString(" \"\"\n")
		default:
			b.WriteString(" " + safetext.Clean(text) + "\n")
		}
	case nil:
		b.WriteString(" null\n")
	default:
		text, _ := compile.Text(value)
		b.WriteString(" " + text + "\n")
	}
}

func writeIndented(b *strings.Builder, indent, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString(indent + safetext.Clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
}
