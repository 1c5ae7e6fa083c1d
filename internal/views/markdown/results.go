// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Problem is the first error of a unit that failed.
type Problem struct {
	Summary string
	Place   string // a file and a line; "" if it has none
	Detail  string
}

// Checks are the results of the checks and conditions of a plan.
type Checks struct {
	Passed, Unknown int
	Failed          []Check
}

// Check is a checked object whose conditions do not hold or could not be evaluated.
type Check struct {
	Component string
	Address   string
	Messages  []string
}

func (c *Checks) add(component *stackplan.Component) {
	for _, result := range component.Checks {
		for _, object := range result.Objects {
			switch {
			case object.Status.Failed():
				c.Failed = append(c.Failed, Check{Address: object.Address, Messages: object.Messages})
				if component.Source != "" {
					c.Failed[len(c.Failed)-1].Component = component.Addr.String()
				}
			case object.Status == engine.CheckUnknown:
				c.Unknown++
			default:
				c.Passed++
			}
		}
	}
}

// maxMessage is the greatest number of characters of a message: the whole is in the log.
const maxMessage = 1_000

// message is a text of several lines in one.
func message(whole string) string {
	whole = strings.Join(strings.Fields(whole), " ")
	if runes := []rune(whole); len(runes) > maxMessage {
		whole = string(runes[:maxMessage]) + "…"
	}
	return Code(whole)
}

// section writes a head and as many lines below it as there is room for, or nothing.
func section(head string, lines []string, left *room) string {
	if len(lines) == 0 || !left.take(head) {
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	for _, line := range lines {
		if left.take(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// errorsOf lists the first error of each unit that failed.
func errorsOf(units []Unit, left *room) string {
	var lines []string
	for _, unit := range units {
		if unit.Problem == nil {
			continue
		}
		line := "- " + Code(unit.Name) + ": **" + Code(unit.Problem.Summary) + "**"
		if unit.Problem.Place != "" {
			line += " at " + Code(unit.Problem.Place)
		}
		if unit.Problem.Detail != "" {
			line += ": " + message(unit.Problem.Detail)
		}
		lines = append(lines, line+"\n")
	}
	return section("\n### Errors\n\n", lines, left)
}

// checksOf counts the checks, and lists those that fail.
func checksOf(units []Unit, left *room) string {
	var passed, unknown int
	var lines []string
	for _, unit := range units {
		passed += unit.Checks.Passed
		unknown += unit.Checks.Unknown
		for _, check := range unit.Checks.Failed {
			line := "- " + Code(unit.Name)
			if check.Component != "" {
				line += " " + Code(check.Component)
			}
			line += " **" + Code(check.Address) + "**"
			for _, text := range check.Messages {
				line += " " + message(text)
			}
			lines = append(lines, line+"\n")
		}
	}
	if passed+unknown+len(lines) == 0 {
		return ""
	}
	counts := fmt.Sprintf("\nChecks: **%d failed**, %d passed, %d known after apply.\n\n", len(lines), passed, unknown)
	if len(lines) == 0 {
		counts = strings.ReplaceAll(counts, "**", "")
		lines = []string{""}
	}
	return section(counts, lines, left)
}

// attachments folds texts of other programs. None takes more than a quarter of the room.
func attachments(all []Attachment, left *room) string {
	var b strings.Builder
	for _, attached := range all {
		head := "\n<details><summary>" + Code(attached.Name) + "</summary>\n\n<pre>\n"
		const end, cut = "</pre>\n\n</details>\n", "…\n"
		own := room{left: left.left / 4}
		if !own.take(head, cut, end) {
			left.full = true
			continue
		}
		body := head
		for line := range strings.Lines(strings.TrimRight(attached.Text, "\n") + "\n") {
			// A blank line would be one of Markdown again, where a site ends HTML with it.
			line = Text(strings.TrimRight(line, "\r\n"))
			if line == "" {
				line = " "
			}
			if !own.take(line, "\n") {
				body += cut
				break
			}
			body += line + "\n"
		}
		if left.take(body, end) {
			b.WriteString(body + end)
		}
	}
	return b.String()
}
