// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sarif writes diagnostics in the Static Analysis Results Interchange Format, version
// 2.1.0, which code scanning services and editors read.
//
// Rules:
//
//	F1. There is one run. Its rules are the kinds of problems that were found: by their codes, or else
//	    by their summaries, which are fixed texts.
//	F2. Columns count UTF-16 code units from one, as columnKind says; bytes count from zero. The
//	    columns of diagnostics count what a person takes for a character.
//	F3. Files are named relative to the root of the repository, which services take for the root of
//	    what they show. Nothing of it is known besides: the names say nothing of this machine.
//	F4. No source text is part of it.
package sarif

import (
	"bytes"
	"net/url"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
)

const (
	version = "2.1.0"
	base    = "%SRCROOT%" // the name that services have for the root of the repository
)

// Options are the parts of a log that diagnostics do not say.
type Options struct {
	Version string // of cairn
	Dir     string // in which the names of files start, with forward slashes, seen from the root of the repository
	Sources diagnostic.Sources
}

// Log is a log file with one run.
type Log struct {
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool        tool                `json:"tool"`
	Invocations []invocation        `json:"invocations"`
	Bases       map[string]location `json:"originalUriBaseIds"`
	Results     []result            `json:"results"`
	ColumnKind  string              `json:"columnKind"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Rules   []rule `json:"rules"`
}

type rule struct {
	ID    string  `json:"id"`
	Short message `json:"shortDescription"`
	Help  message `json:"help"`
}

type message struct {
	Text string `json:"text"`
}

type invocation struct {
	Successful bool `json:"executionSuccessful"`
}

type result struct {
	RuleID    string     `json:"ruleId"`
	RuleIndex int        `json:"ruleIndex"`
	Level     string     `json:"level"`
	Message   message    `json:"message"`
	Locations []location `json:"locations,omitempty"`
}

type location struct {
	Physical    *physical `json:"physicalLocation,omitempty"`
	Logical     []logical `json:"logicalLocations,omitempty"`
	Description *message  `json:"description,omitempty"` // of a base, which has nothing else
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
	Region   *region  `json:"region,omitempty"`
}

type artifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type logical struct {
	Name string `json:"fullyQualifiedName"`
}

type region struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
	ByteOffset  int `json:"byteOffset"`
	ByteLength  int `json:"byteLength"`
}

// New returns the log of some diagnostics.
func New(diags hcl.Diagnostics, opts Options) Log {
	made := run{
		Tool: tool{driver{Name: "cairn", Version: opts.Version, Rules: []rule{}}}, Invocations: []invocation{{true}},
		Bases:   map[string]location{base: {Description: &message{"The root of the repository."}}},
		Results: []result{}, ColumnKind: "utf16CodeUnits",
	}
	indexes := map[string]int{}
	for _, diag := range diagnostic.All(diags, opts.Sources) {
		id := ruleID(diag)
		index, ok := indexes[id]
		if !ok {
			index = len(made.Tool.Driver.Rules)
			indexes[id] = index
			made.Tool.Driver.Rules = append(made.Tool.Driver.Rules, rule{id, message{diag.Summary}, message{textOf(diag)}})
		}
		made.Results = append(made.Results, result{
			RuleID: id, RuleIndex: index, Level: diag.Severity, Message: message{textOf(diag)}, Locations: opts.locations(diag),
		})
	}
	return Log{version, []run{made}}
}

// ruleID is the code of a problem, or its summary as one word.
func ruleID(diag diagnostic.Diagnostic) string {
	if diag.Code != "" {
		return diag.Code
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(diag.Summary), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}

// textOf is the detail, which says what to do.
func textOf(diag diagnostic.Diagnostic) string {
	if diag.Detail == "" {
		return diag.Summary + "."
	}
	return diag.Summary + ": " + diag.Detail
}

func (o Options) locations(diag diagnostic.Diagnostic) []location {
	var at location
	for _, address := range []string{diag.Address, diag.Resource} {
		if address != "" {
			at.Logical = append(at.Logical, logical{address})
		}
	}
	if diag.Range != nil {
		if isAddress(diag.Range.Filename) { // of a source package, which is not in the repository
			at.Logical = append(at.Logical, logical{diag.Range.Filename})
		} else {
			name := path.Join(o.Dir, diag.Range.Filename)
			at.Physical = &physical{artifact{(&url.URL{Path: name}).EscapedPath(), base}, o.region(*diag.Range)}
		}
	}
	if at.Physical == nil && at.Logical == nil {
		return nil
	}
	return []location{at}
}

// isAddress reports whether a file is named by its source address.
func isAddress(name string) bool {
	return strings.Contains(name, "::") || strings.Contains(name, "://")
}

// region returns nil for the file as a whole.
func (o Options) region(at diagnostic.Range) *region {
	if at.Start.Line == 0 {
		return nil
	}
	source := o.source(at.Filename)
	return &region{
		StartLine: at.Start.Line, StartColumn: column(source, at.Start),
		EndLine: at.End.Line, EndColumn: column(source, at.End),
		ByteOffset: at.Start.Byte, ByteLength: max(0, at.End.Byte-at.Start.Byte),
	}
}

func (o Options) source(name string) []byte {
	if file := o.Sources.Files[name]; file != nil && file.Bytes != nil {
		return file.Bytes
	}
	if o.Sources.Lookup != nil {
		return o.Sources.Lookup(name)
	}
	return nil
}

// column counts the UTF-16 code units before a place in its line, and one more (rule F2). Of a file
// that cannot be read any more, it is the column of the diagnostic.
func column(source []byte, at diagnostic.Pos) int {
	if at.Byte > len(source) {
		return at.Column
	}
	before := source[bytes.LastIndexByte(source[:at.Byte], '\n')+1 : at.Byte]
	units := 1
	for len(before) > 0 {
		r, size := utf8.DecodeRune(before)
		units += max(1, utf16.RuneLen(r))
		before = before[size:]
	}
	return units
}
