// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// ownStateOf reads the argument "stateful" and returns the command that is run in test mode, "" if
// there is none.
func ownStateOf(value any) (question string, ok bool) {
	if _, ok := value.(bool); ok {
		return "", true
	}
	entries, ok := mappingsOf(value)
	if !ok || len(entries) != 1 || entries[0].Key != "test_name" {
		return "", false
	}
	question, ok = compile.Text(entries[0].Value)
	return question, ok && question != ""
}

// tellsState reports whether a command reports its changes itself.
func (c *call) tellsState() bool {
	value, given := c.Args.Lookup("stateful")
	return given && value != false
}

// readState changes the outcome of a command to the command's own report: nothing at all, a JSON
// object, or words "key=value" on its last line. Any other text is not repeated where the output is
// not to be seen.
func (c *call) readState(output Output, outcome schedule.Outcome) schedule.Outcome {
	text := strings.TrimSpace(output.Stdout)
	if text == "" {
		outcome.Changed = false
		outcome.Comment = "The command says nothing, so that nothing has changed."
		return outcome
	}
	said, err := readPairs(text)
	switch {
	case output.Cut:
		err = fmt.Errorf("it is longer than %d bytes, of which no more are read", maxOutput)
	case err != nil && c.boolean("hide_output", false):
		err = errors.New("it is neither")
	}
	if err != nil {
		return schedule.Outcome{Failed: true, Changes: outcome.Changes, Comment: fmt.Sprintf(
			"The command is \"stateful\", but its output says nothing about its state: %s. "+
				"It must write a JSON object, or a last line such as: changed=yes comment='It was done.'", err)}
	}
	changed, err := truth(said.Get("changed"))
	if err != nil && c.boolean("hide_output", false) {
		return failed("The command is \"stateful\", but of \"changed\" it says something else than yes or no.")
	}
	if err != nil {
		return failed("The command is \"stateful\", but it says changed=%v: %s.", said.Get("changed"), err)
	}
	outcome.Changed = changed
	if comment, ok := compile.Text(said.Get("comment")); ok && comment != "" {
		outcome.Comment = comment
	}
	changes := &compile.Map{}
	if outcome.Changes != nil {
		changes.Entries = append(changes.Entries, outcome.Changes.Entries...)
	}
	for _, entry := range said.Entries {
		if entry.Key != "changed" && entry.Key != "comment" {
			changes.Set(entry.Key, entry.Value)
		}
	}
	outcome.Changes = changes
	return outcome
}

func truth(value any) (bool, error) {
	if value, ok := value.(bool); ok {
		return value, nil
	}
	word, _ := value.(string)
	switch strings.ToLower(word) {
	case "yes", "true", "on", "y", "t", "1":
		return true, nil
	case "no", "false", "off", "n", "f", "0":
		return false, nil
	}
	return false, errors.New("it must be yes or no")
}

func readPairs(text string) (*compile.Map, error) {
	said := &compile.Map{}
	if strings.HasPrefix(text, "{") {
		err := json.Unmarshal([]byte(text), said)
		return said, err
	}
	lines := strings.Split(text, "\n")
	words, err := splitWords(lines[len(lines)-1])
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", word)
		}
		said.Set(key, value)
	}
	return said, nil
}

// splitWords splits a line at spaces, as shells do: quotes keep spaces, and a backslash the
// character after it.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	escaped, inWord := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'': // in single quotes it stands for itself
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			// Quotes with nothing between them are a word, too.
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
