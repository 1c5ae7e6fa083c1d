// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostic

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Diagnostic is a diagnostic as it is shown. Its JSON form has the shape of
// terraform's.
type Diagnostic struct {
	Severity string   `json:"severity"` // "error" or "warning"
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail"`
	Code     string   `json:"code,omitempty"`    // of the kind of problem, where there is one
	Address  string   `json:"address,omitempty"` // of the component instance that it is about
	Resource string   `json:"-"`                 // the resource in it, for people only
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
	Hidden   bool     `json:"-"` // there is no snippet because it might show secrets
}

// Range is a piece of a file.
type Range struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// Pos is a place in a file. Lines and columns count from one, bytes from zero.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Snippet is the source code around a range.
type Snippet struct {
	Context   *string `json:"context"` // the block, as in `component "db"`
	Code      string  `json:"code"`    // whole lines
	StartLine int     `json:"start_line"`

	// The highlighted part of Code, in bytes.
	HighlightStart int `json:"highlight_start_offset"`
	HighlightEnd   int `json:"highlight_end_offset"`

	Values       []Value       `json:"values"` // sorted by traversal
	FunctionCall *FunctionCall `json:"function_call,omitempty"`
}

// Value says what a reference stood for.
type Value struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"` // as in `is "x"`
}

// FunctionCall is the call in which an error occurred.
type FunctionCall struct {
	Name       string   `json:"name"`
	Parameters []string `json:"parameters"`
}

// Sources finds the source code of files.
type Sources struct {
	// Files are the files of a parser, by the names that ranges have.
	Files map[string]*hcl.File

	// Lookup returns the source of other files, and nil for what it does not
	// know. May be nil.
	Lookup func(filename string) []byte
}

// The Extra of a diagnostic may implement these interfaces, directly or by what
// it wraps (see [hcl.DiagnosticExtraUnwrapper]).
type (
	// Addressed is for diagnostics about one component instance.
	Addressed interface {
		Address() string
	}

	// Coded is for diagnostics of a kind that programs can know.
	Coded interface {
		DiagnosticCode() string
	}

	// InResource is for diagnostics about one resource instance of a module.
	InResource interface {
		ResourceAddress() string
	}

	// InBlock is for diagnostics from an engine that names the block, as in
	// `resource "a" "b"`, of a file that may have been no native syntax.
	InBlock interface {
		BlockContext() string
	}

	// WithValues is for diagnostics from an engine that says what references stood
	// for. It maps traversals to statements as in [Value], which show no secrets.
	WithValues interface {
		ReferenceValues() map[string]string
	}

	// InSecret is for diagnostics about source code that holds secrets in clear, and is never shown.
	InSecret interface {
		SourceIsSecret() bool
	}
)

// New collects what is shown of a diagnostic.
func New(diag *hcl.Diagnostic, sources Sources) Diagnostic {
	d := Diagnostic{
		Severity: severity(diag.Severity),
		Summary:  textstyle.Clean(diag.Summary),
		Detail:   textstyle.Clean(diag.Detail),
	}
	d.Address = addressOf(diag)
	if coded, ok := hcl.DiagnosticExtra[Coded](diag); ok {
		d.Code = coded.DiagnosticCode()
	}
	if inside, ok := hcl.DiagnosticExtra[InResource](diag); ok {
		d.Resource = textstyle.Clean(inside.ResourceAddress())
	}
	if diag.Subject == nil || diag.Subject.Filename == "" {
		return d
	}
	subject := nonEmpty(sources.withBytes(*diag.Subject))
	d.Range = &Range{Filename: subject.Filename, Start: Pos(subject.Start), End: Pos(subject.End)}
	if secret, ok := hcl.DiagnosticExtra[InSecret](diag); ok && secret.SourceIsSecret() {
		d.Hidden = true
		return d
	}
	d.Snippet = sources.snippet(diag, subject)
	return d
}

// All collects what is shown of several diagnostics, sorted and without repeats.
func All(diags hcl.Diagnostics, sources Sources) []Diagnostic {
	list := make([]Diagnostic, 0, len(diags))
	for _, diag := range Sorted(diags) {
		list = append(list, New(diag, sources))
	}
	return list
}

// Sorted returns the diagnostics by file, line, column, severity and summary,
// each only once. Those without a place come first.
func Sorted(diags hcl.Diagnostics) hcl.Diagnostics {
	sorted := slices.SortedStableFunc(slices.Values(diags), compare)
	return slices.CompactFunc(sorted, func(a, b *hcl.Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b *hcl.Diagnostic) int {
	return cmp.Or(
		compareSubjects(a.Subject, b.Subject),
		cmp.Compare(a.Severity, b.Severity),
		strings.Compare(a.Summary, b.Summary),
		strings.Compare(a.Detail, b.Detail),
		strings.Compare(addressOf(a), addressOf(b)),
	)
}

func compareSubjects(a, b *hcl.Range) int {
	if a == nil || b == nil {
		switch {
		case a != nil:
			return 1
		case b != nil:
			return -1
		}
		return 0
	}
	return cmp.Or(
		strings.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Start.Line, b.Start.Line),
		cmp.Compare(a.Start.Column, b.Start.Column),
		cmp.Compare(a.End.Byte, b.End.Byte),
	)
}

func addressOf(diag *hcl.Diagnostic) string {
	if addressed, ok := hcl.DiagnosticExtra[Addressed](diag); ok {
		return addressed.Address()
	}
	return ""
}

func severity(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return "warning"
	}
	return "error"
}

// nonEmpty widens a range without any extent to one character, so that it can be
// seen. One whose end is before its start counts as such.
func nonEmpty(rng hcl.Range) hcl.Range {
	if rng.End.Byte <= rng.Start.Byte {
		rng.End = rng.Start
		rng.End.Byte++
		rng.End.Column++
	}
	return rng
}

// withBytes fills in the byte offsets of a range that has only lines and columns, as those of other languages than HCL may have.
func (s Sources) withBytes(rng hcl.Range) hcl.Range {
	if rng.Start.Byte != 0 || rng.End.Byte != 0 || rng.Start.Line < 1 || (rng.Start.Line == 1 && rng.Start.Column <= 1) {
		return rng
	}
	source, ok := s.source(rng.Filename)
	if !ok {
		return rng
	}
	rng.Start.Byte, rng.End.Byte = offset(source, rng.Start), offset(source, rng.End)
	return rng
}

// offset returns where a line and column are, or the end of the line or source if it has not so many.
func offset(source []byte, pos hcl.Pos) int {
	at := 0
	for range pos.Line - 1 {
		next := bytes.IndexByte(source[at:], '\n')
		if next < 0 {
			return len(source)
		}
		at += next + 1
	}
	for column := 1; column < pos.Column && at < len(source) && source[at] != '\n'; column++ {
		_, size := utf8.DecodeRune(source[at:])
		at += size
	}
	return at
}

// source returns the source of a file, which may be empty; ok is false for one
// that is not known.
func (s Sources) source(filename string) (source []byte, ok bool) {
	if file := s.Files[filename]; file != nil {
		return file.Bytes, true
	}
	if s.Lookup != nil {
		source = s.Lookup(filename)
	}
	return source, source != nil
}

// maxLines bounds the lines of a snippet.
const maxLines = 20

// snippet returns the lines of code around the subject, or nil without source.
//
// The subject may be any range with its end behind its start: what lies outside of
// the file is cut off. Nothing is shown for one that begins behind the end of the
// file, which is of another version of it.
func (s Sources) snippet(diag *hcl.Diagnostic, subject hcl.Range) *Snippet {
	source, ok := s.source(subject.Filename)
	if !ok || subject.Start.Byte > len(source) {
		return nil
	}
	start := runeStart(source, clamp(subject.Start.Byte, len(source)))
	end := runeEnd(source, clamp(max(subject.End.Byte, start), len(source)))
	from, to := start, end
	if c := diag.Context; c != nil && c.Filename == subject.Filename && c.Start.Byte <= start && c.End.Byte >= end &&
		c.End.Line-c.Start.Line < maxLines {
		from, to = clamp(c.Start.Byte, len(source)), clamp(c.End.Byte, len(source))
	}
	first := firstLine(source, from)
	code := limitLines(source[first:lastLine(source, from, to)])
	text := textstyle.Clean(string(code))
	place := func(at int) int { // in the text, where cleaning has moved things
		return min(len(textstyle.Clean(string(code[:clamp(at-first, len(code))]))), len(text))
	}
	snippet := &Snippet{
		Code:           text,
		StartLine:      1 + bytes.Count(source[:first], []byte("\n")),
		HighlightStart: place(start),
		HighlightEnd:   place(end),
		Values:         values(diag),
		FunctionCall:   functionCall(diag),
	}
	context := s.context(hcl.Range{Filename: subject.Filename, Start: hcl.Pos{Byte: start}}, source)
	if inside, ok := hcl.DiagnosticExtra[InBlock](diag); ok && inside.BlockContext() != "" {
		context = textstyle.Clean(inside.BlockContext())
	}
	if context != "" {
		snippet.Context = &context
	}
	return snippet
}

// runeStart moves a place inside a character to its start.
func runeStart(source []byte, at int) int {
	for at > 0 && at < len(source) && !utf8.RuneStart(source[at]) {
		at--
	}
	return at
}

// runeEnd moves a place inside a character behind its end.
func runeEnd(source []byte, at int) int {
	for at < len(source) && !utf8.RuneStart(source[at]) {
		at++
	}
	return at
}

// firstLine returns the start of the line at a place. The end of a file whose
// last line is complete is shown together with that line.
func firstLine(source []byte, at int) int {
	if at > 0 && at == len(source) && source[at-1] == '\n' {
		at--
	}
	return bytes.LastIndexByte(source[:at], '\n') + 1
}

// lastLine returns the end of the last line of a range, without its line feed.
func lastLine(source []byte, start, end int) int {
	if end > start && source[end-1] == '\n' {
		return end - 1 // a range that ends with its line
	}
	if n := bytes.IndexByte(source[end:], '\n'); n >= 0 {
		return end + n
	}
	return len(source)
}

func limitLines(code []byte) []byte {
	end := 0
	for range maxLines {
		n := bytes.IndexByte(code[end:], '\n')
		if n < 0 {
			return code
		}
		end += n + 1
	}
	return code[:end-1]
}

// context names the block that the subject is in.
func (s Sources) context(subject hcl.Range, source []byte) string {
	file := s.Files[subject.Filename]
	if file == nil {
		if strings.HasSuffix(subject.Filename, ".json") {
			return ""
		}
		parsed, diags := hclsyntax.ParseConfig(source, subject.Filename, hcl.InitialPos)
		if diags.HasErrors() {
			return "" // reported elsewhere, or no native syntax at all
		}
		file = parsed
	}
	if file == nil || file.Nav == nil {
		return ""
	}
	return textstyle.Clean(hcled.ContextString(file, subject.Start.Byte))
}
