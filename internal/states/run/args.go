// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// kind is the kind of values that an argument accepts.
type kind struct {
	words   string
	accepts func(value any) bool
}

var (
	text        = kind{"a string", converts(compile.Text)}
	precise     = kind{"a string; put it in quotes", converts(preciseText)} // not changed by being read as a number
	boolean     = kind{"true or false", converts(as[bool])}
	seconds     = kind{"a number of seconds greater than 0", isDuration}
	texts       = kind{"a string or a list of strings", converts(textsOf)}
	environment = kind{"a mapping of strings, or a list of them", converts(environmentOf)}
	packages    = kind{"a list of names, each alone or with a version in quotes", converts(packagesOf)}
	exitCodes   = kind{"an exit code from 0 to 255 or a list of them", converts(exitCodesOf)}
	ownState    = kind{`true or false, or a list with "test_name" and a command`, converts(ownStateOf)}
	anything    = kind{"anything", func(any) bool { return true }}
)

// converts returns a check that values can be converted.
func converts[T any](convert func(any) (T, bool)) func(any) bool {
	return func(value any) bool {
		_, ok := convert(value)
		return ok
	}
}

func as[T any](value any) (T, bool) {
	converted, ok := value.(T)
	return converted, ok
}

func isDuration(value any) bool {
	number, ok := asNumber(value)
	return ok && number > 0 && number < 1e9
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
	word, _ := compile.Text(c.Args.Get(name))
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
	all, _ := textsOf(c.Args.Get(name))
	return all
}

func (c *call) environment() []string {
	all, _ := environmentOf(c.Args.Get("env"))
	return all
}
