// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"encoding/xml"
	"fmt"
	"time"
)

// Case is one test of a report in the format of JUnit: an action and its outcome.
type Case struct {
	Name, Class string
	Took        time.Duration
	Failure     string // the error; "" if it has not failed
	Skipped     string // why it was not done; "" if it was
	Type        string // the kind of the failure, or the reason for skipping it, in a word; "" for no more than that
	Properties  []Property
}

// Property is something else that is known of a [Case].
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// suite is a report in the format of JUnit.
type suite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []suiteCase `xml:"testcase"`
}

type suiteCase struct {
	Name    string `xml:"name,attr"`
	Class   string `xml:"classname,attr"`
	Seconds string `xml:"time,attr"`

	Failure    *message        `xml:"failure"`
	Skipped    *message        `xml:"skipped"`
	Properties *caseProperties `xml:"properties"`
}

type caseProperties struct {
	Properties []Property `xml:"property"`
}

type message struct {
	Text string `xml:"message,attr"`
	Type string `xml:"type,attr,omitempty"`
}

// JUnit returns a report in the XML format of JUnit.
func JUnit(name string, cases []Case) ([]byte, error) {
	all := suite{Name: name, Tests: len(cases)}
	for _, c := range cases {
		one := suiteCase{Name: c.Name, Class: c.Class, Seconds: fmt.Sprintf("%.3f", c.Took.Seconds())}
		if len(c.Properties) > 0 {
			one.Properties = &caseProperties{c.Properties}
		}
		switch {
		case c.Failure != "":
			all.Failures++
			one.Failure = &message{c.Failure, c.Type}
		case c.Skipped != "":
			all.Skipped++
			one.Skipped = &message{c.Skipped, c.Type}
		}
		all.Cases = append(all.Cases, one)
	}
	content, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(content, '\n')...), nil
}
