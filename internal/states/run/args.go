// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// kind is the kind of values that an argument accepts.
type kind int

const (
	text    kind = iota // anything that has a text
	precise             // a text that is not changed by being read as a number
	boolean
	seconds
	texts       // one text or a list of them
	environment // a mapping of texts, or a list of such mappings
	packages    // a list of names, or of mappings from names to versions
	exitCodes   // a number from 0 to 255, or a list of them
	ownState    // true or false, or a list with a mapping that has "test_name"
	anything
)

func (k kind) words() string {
	return [...]string{
		"a string", "a string; put it in quotes", "true or false", "a number of seconds greater than 0", "a string or a list of strings",
		"a mapping of strings, or a list of them", "a list of names, each alone or with a version in quotes",
		"an exit code from 0 to 255 or a list of them", "true or false, or a list with \"test_name\" and a command", "anything",
	}[k]
}

func (k kind) accepts(value any) bool {
	switch k {
	case text:
		_, ok := compile.Text(value)
		return ok
	case precise:
		_, ok := preciseText(value)
		return ok
	case boolean:
		_, ok := value.(bool)
		return ok
	case seconds:
		number, ok := asNumber(value)
		return ok && number > 0 && number < 1e9
	case texts:
		_, ok := textsOf(value)
		return ok
	case environment:
		_, ok := environmentOf(value)
		return ok
	case packages:
		_, ok := packagesOf(value)
		return ok
	case exitCodes:
		_, ok := exitCodesOf(value)
		return ok
	case ownState:
		_, ok := ownStateOf(value)
		return ok
	}
	return true
}

// preciseText refuses fractions: "1.10" without quotes is a number that has lost its zero.
func preciseText(value any) (string, bool) {
	if _, isFloat := value.(float64); isFloat {
		return "", false
	}
	if _, isBool := value.(bool); isBool {
		return "", false
	}
	return compile.Text(value)
}

func asNumber(value any) (float64, bool) {
	switch number := value.(type) {
	case int64:
		return float64(number), true
	case float64:
		return number, true
	}
	return 0, false
}

func textsOf(value any) ([]string, bool) {
	if one, ok := compile.Text(value); ok {
		return []string{one}, true
	}
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	all := make([]string, len(list))
	for i, element := range list {
		if all[i], ok = compile.Text(element); !ok {
			return nil, false
		}
	}
	return all, true
}

// mappingsOf returns the entries of a mapping, or of a list of mappings.
func mappingsOf(value any) ([]compile.Entry, bool) {
	switch value := value.(type) {
	case *compile.Map:
		return value.Entries, true
	case []any:
		var all []compile.Entry
		for _, element := range value {
			m, ok := element.(*compile.Map)
			if !ok {
				return nil, false
			}
			all = append(all, m.Entries...)
		}
		return all, true
	}
	return nil, false
}

// environmentOf returns variables as "name=value".
func environmentOf(value any) ([]string, bool) {
	entries, ok := mappingsOf(value)
	var all []string
	for _, entry := range entries {
		word, isText := compile.Text(entry.Value)
		if entry.Value == nil {
			word, isText = "", true
		}
		if !isText || entry.Key == "" {
			return nil, false
		}
		all = append(all, entry.Key+"="+word)
	}
	return all, ok
}

// packageVersion is a package; of any version if that is empty.
type packageVersion struct{ name, version string }

func packagesOf(value any) ([]packageVersion, bool) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	var all []packageVersion
	for _, element := range list {
		if name, ok := compile.Text(element); ok {
			all = append(all, packageVersion{name: name})
			continue
		}
		m, ok := element.(*compile.Map)
		if !ok || m.Len() == 0 {
			return nil, false
		}
		for _, entry := range m.Entries {
			version, ok := preciseText(entry.Value)
			if !ok {
				return nil, false
			}
			all = append(all, packageVersion{entry.Key, version})
		}
	}
	return all, true
}

func exitCodesOf(value any) ([]int, bool) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var all []int
	for _, element := range list {
		code, ok := element.(int64)
		if !ok || code < 0 || code > 255 {
			return nil, false
		}
		all = append(all, int(code))
	}
	return all, true
}

// text returns an argument, "" if it is not given.
func (c *call) text(name string) string {
	word, ok := compile.Text(c.Args.Get(name))
	if !ok {
		return ""
	}
	return word
}

func (c *call) given(name string) bool {
	_, ok := c.Args.Lookup(name)
	return ok
}

func (c *call) boolean(name string, otherwise bool) bool {
	if value, ok := c.Args.Get(name).(bool); ok {
		return value
	}
	return otherwise
}

func (c *call) texts(name string) []string {
	all, ok := textsOf(c.Args.Get(name))
	if !ok {
		return nil
	}
	return all
}

func (c *call) environment() []string {
	all, ok := environmentOf(c.Args.Get("env"))
	if !ok {
		return nil
	}
	return all
}
