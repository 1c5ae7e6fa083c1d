// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostic

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safetext"
)

// Diagnostic has the parts of a diagnostic to show. Its JSON form is that of terraform, in whose
// own diagnostics the address is one of a resource instance.
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
	LeftOut  int      `json:"-"` // the number of problems it stands for that are not shown
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

// Value is the value of a reference.
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

	// Lookup returns the source of other files, and nil for unknown ones. May be nil.
	Lookup func(filename string) []byte

	// found are the files of Lookup, nil for unknown ones, so that many diagnostics about one file do
	// not read it again and again.
	found map[string]*hcl.File
}

// The Extra of a diagnostic may implement these interfaces and [identity.Addressed], directly or by
// a value it wraps (see [hcl.DiagnosticExtraUnwrapper]).
type (
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

	// WithValues is for diagnostics from an engine that reports the values of references. It maps
	// traversals to statements as in [Value], which show no secrets.
	WithValues interface {
		ReferenceValues() map[string]string
	}

	// InSecret is for diagnostics about source code that holds secrets in clear, and is never shown.
	InSecret interface {
		SourceIsSecret() bool
	}
)

// New collects the parts of a diagnostic to show.
func New(diag *hcl.Diagnostic, sources Sources) Diagnostic {
	d := Diagnostic{
		Severity: severity(diag.Severity),
		Summary:  safetext.Clean(diag.Summary),
		Detail:   safetext.Clean(shorten(diag.Detail)),
	}
	if n, ok := diag.Extra.(leftOut); ok {
		d.LeftOut = int(n)
	}
	d.Address = identity.Address(diag)
	if coded, ok := hcl.DiagnosticExtra[Coded](diag); ok {
		d.Code = coded.DiagnosticCode()
	}
	if inside, ok := hcl.DiagnosticExtra[InResource](diag); ok {
		d.Resource = safetext.Clean(inside.ResourceAddress())
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
	if *diag.Subject != (hcl.Range{Filename: diag.Subject.Filename}) { // the file as a whole
		d.Snippet = sources.snippet(diag, subject)
	}
	return d
}

// shorten bounds a text that may hold a long value of a user.
func shorten(text string) string {
	const most = 64 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// most is the number of diagnostics that are shown at a time. Nobody reads more, and an untrusted
// file can have a hundred thousand mistakes.
const most = 500

// All collects the parts of several diagnostics to show, sorted and without repeats, and not more
// than [Limited] leaves.
func All(diags hcl.Diagnostics, sources Sources) []Diagnostic {
	shown := limited(Sorted(diags))
	list := make([]Diagnostic, 0, len(shown))
	sources.found = map[string]*hcl.File{}
	for _, diag := range shown {
		list = append(list, New(diag, sources))
	}
	return list
}

// Limited returns diagnostics as they are unless they are very many. Of these it returns the first
// as [Sorted] has them, so that warnings are among them only if there is room; the last one says
// then how many are not.
func Limited(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) <= most {
		return diags
	}
	return limited(Sorted(diags))
}

func limited(sorted hcl.Diagnostics) hcl.Diagnostics {
	if len(sorted) <= most {
		return sorted
	}
	left := sorted[most:]
	return append(slices.Clone(sorted[:most]), LeftOut(left[0].Severity, len(left)))
}

// LeftOut says of how many diagnostics, of this severity at most, nothing is said.
func LeftOut(severity hcl.DiagnosticSeverity, n int) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: severity, Summary: "More problems", Extra: leftOut(n),
		Detail: fmt.Sprintf("There are %d more problems, which are not shown. Solve the first ones, and look again.", n),
	}
}

// leftOut is the Extra of the diagnostic of [LeftOut].
type leftOut int

// Sorted returns the diagnostics, errors before warnings, each only once, in the order of package
// identity.
func Sorted(diags hcl.Diagnostics) hcl.Diagnostics {
	sorted := identity.Sort(slices.Clone(diags))
	slices.SortStableFunc(sorted, func(a, b *hcl.Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
	return sorted
}

func severity(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return Warning
	}
	return Error
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

// withBytes fills in the byte offsets of a range that has only lines and columns, as those of other
// languages than HCL may have.
func (s Sources) withBytes(rng hcl.Range) hcl.Range {
	if rng.Start.Byte != 0 || rng.End.Byte != 0 || rng.Start.Line < 1 || (rng.Start.Line == 1 && rng.Start.Column <= 1) {
		return rng
	}
	file := s.file(rng.Filename)
	if file == nil {
		return rng
	}
	rng.Start.Byte, rng.End.Byte = offset(file.Bytes, rng.Start), offset(file.Bytes, rng.End)
	return rng
}

// offset returns where a line and column are, or the end of the line or source if it has not so
// many.
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

// file returns a file with its source, parsed if it has no errors; nil if it is not known.
func (s Sources) file(filename string) *hcl.File {
	if file := s.Files[filename]; file != nil {
		return file
	}
	file, known := s.found[filename]
	if !known {
		file = s.lookUp(filename)
		if s.found != nil {
			s.found[filename] = file
		}
	}
	return file
}

func (s Sources) lookUp(filename string) *hcl.File {
	if s.Lookup == nil {
		return nil
	}
	source := s.Lookup(filename)
	if source == nil {
		return nil
	}
	if !strings.HasSuffix(filename, ".json") {
		if parsed, diags := hclsource.Parse(source, filename); !diags.HasErrors() {
			return parsed
		} // errors are reported elsewhere, or it is not native syntax at all
	}
	return &hcl.File{Bytes: source}
}

// The limits of a snippet.
const (
	maxLines = 20
	maxBytes = 1000
)

// snippet returns the lines of code around the subject, or nil without source.
//
// The subject may be any range with its end behind its start: a part outside of the file is cut
// off. Nothing is shown for one that begins behind the end of the file, which is of another version
// of it.
func (s Sources) snippet(diag *hcl.Diagnostic, subject hcl.Range) *Snippet {
	file := s.file(subject.Filename)
	if file == nil || subject.Start.Byte > len(file.Bytes) {
		return nil
	}
	source := file.Bytes
	start := runeStart(source, clamp(subject.Start.Byte, len(source)))
	end := runeEnd(source, clamp(max(subject.End.Byte, start), len(source)))
	from, to := start, end
	if c := diag.Context; c != nil && c.Filename == subject.Filename && c.Start.Byte <= start && c.End.Byte >= end &&
		c.End.Line-c.Start.Line < maxLines {
		from, to = clamp(c.Start.Byte, len(source)), clamp(c.End.Byte, len(source))
	}
	first := firstLine(source, from)
	code := limitLines(source[first:lastLine(source, from, to)])
	if len(code) > maxBytes { // long lines, of which a piece is enough
		last := first + len(code)
		first = max(first, runeStart(source, start-maxBytes/4))
		code = source[first:max(first, runeStart(source, min(first+maxBytes, last)))]
	}
	text := safetext.Clean(string(code))
	place := func(at int) int { // in the text, where cleaning has moved things
		return min(len(safetext.Clean(string(code[:clamp(at-first, len(code))]))), len(text))
	}
	snippet := &Snippet{
		Code:           text,
		StartLine:      1 + bytes.Count(source[:first], []byte("\n")),
		HighlightStart: place(start),
		HighlightEnd:   place(end),
		Values:         values(diag),
		FunctionCall:   functionCall(diag),
	}
	context := contextOf(file, start)
	if inside, ok := hcl.DiagnosticExtra[InBlock](diag); ok && inside.BlockContext() != "" {
		context = safetext.Clean(inside.BlockContext())
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

// contextOf names the block around a place in a file.
func contextOf(file *hcl.File, offset int) string {
	if file.Nav == nil {
		return ""
	}
	return safetext.Clean(hcled.ContextString(file, offset))
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }
