// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// reporter makes diagnostics of a stack those of the protocol.
type reporter struct {
	server  *server
	snap    *snapshot.Snapshot
	related bool
	texts   map[string]*position.Text
}

func newReporter(s *server, snap *snapshot.Snapshot) *reporter {
	return &reporter{server: s, snap: snap, related: s.abilities().related, texts: map[string]*position.Text{}}
}

// divide returns the diagnostics by the files that they are about: those of syntax, and all others.
func (r *reporter) divide(diags hcl.Diagnostics) (syntax, semantic found) {
	ofSyntax := map[*hcl.Diagnostic]bool{}
	for _, file := range r.snap.Files {
		for _, diag := range file.Diagnostics {
			ofSyntax[diag] = true
		}
	}
	ofFiles := [2]map[string]hcl.Diagnostics{{}, {}} // the first those of syntax
	for _, diag := range diags {
		kind := 1
		if ofSyntax[diag] {
			kind = 0
		}
		if path := r.path(diag); path != "" {
			ofFiles[kind][path] = append(ofFiles[kind][path], diag)
		}
	}
	reported := [2]found{{}, {}}
	for kind, files := range ofFiles {
		for path, diags := range files {
			reported[kind][path] = r.report(path, diags)
		}
	}
	return reported[0], reported[1]
}

// path returns the file that a diagnostic is reported in, "" if there is none. A diagnostic without
// a place is reported at the beginning of the first file.
func (r *reporter) path(diag *hcl.Diagnostic) string {
	if diag.Subject == nil || diag.Subject.Filename == "" {
		paths := r.snap.Paths()
		if len(paths) == 0 {
			return ""
		}
		return paths[0]
	}
	return r.snap.Path(diag.Subject.Filename)
}

// report converts the diagnostics of one file for the client.
func (r *reporter) report(path string, diags hcl.Diagnostics) []protocol.Diagnostic {
	return limited(diags, func(diag *hcl.Diagnostic) protocol.Diagnostic {
		if diag.Subject == nil || diag.Subject.Filename == "" {
			return reportIn(diag, nil)
		}
		reported := reportIn(diag, r.text(path))
		if r.related {
			reported.RelatedInformation = r.mentioned(diag)
		}
		return reported
	})
}

// limited converts diagnostics for the client, sorted, each once. Of very many in a file, its
// beginning tells the number of those left out.
func limited(diags hcl.Diagnostics, report func(*hcl.Diagnostic) protocol.Diagnostic) []protocol.Diagnostic {
	var reported []protocol.Diagnostic
	for _, diag := range diagnostic.Limited(diagnostic.Sorted(diags)) {
		reported = append(reported, report(diag))
	}
	return reported
}

func (r *reporter) text(path string) *position.Text {
	text, known := r.texts[path]
	if !known {
		text = r.snap.Text(path)
		r.texts[path] = text
	}
	return text
}

// mentionPattern matches places as messages write them.
var mentionPattern = regexp.MustCompile(`([^\s"]+\.(?:hcl|json|tf|tofu)) line (\d+)`)

// mentioned returns the places in other lines that the text of a diagnostic names, as that of a
// second declaration names the first.
func (r *reporter) mentioned(diag *hcl.Diagnostic) []protocol.DiagnosticRelatedInformation {
	var related []protocol.DiagnosticRelatedInformation
	for _, match := range mentionPattern.FindAllStringSubmatch(diag.Detail, -1) {
		line, err := strconv.Atoi(match[2])
		if err != nil || (match[1] == diag.Subject.Filename && line == diag.Subject.Start.Line) {
			continue
		}
		path := r.snap.Path(match[1])
		text := r.text(path)
		if text == nil || line > text.Lines() {
			continue
		}
		related = append(related, protocol.DiagnosticRelatedInformation{
			Location: protocol.Location{URI: r.server.uriOf(path), Range: text.Span(text.LineStart(line-1), text.LineEnd(line-1))},
			Message:  "The place that the message names.",
		})
	}
	return related
}

// reportsIn converts diagnostics that are all about one file for the client.
func reportsIn(diags hcl.Diagnostics, text *position.Text) []protocol.Diagnostic {
	return limited(diags, func(diag *hcl.Diagnostic) protocol.Diagnostic { return reportIn(diag, text) })
}

// reportIn converts a diagnostic about a file with a text for the client. A file that is not there
// has none.
func reportIn(diag *hcl.Diagnostic, text *position.Text) protocol.Diagnostic {
	reported := protocol.Diagnostic{
		Severity: protocol.DiagnosticSeverityError,
		Source:   protocol.NewOptional("cairn"),
		Message:  protocol.String(message(diag)),
	}
	if diag.Severity == hcl.DiagWarning {
		reported.Severity = protocol.DiagnosticSeverityWarning
	}
	if coded, ok := hcl.DiagnosticExtra[diagnostic.Coded](diag); ok {
		reported.Code = protocol.String(coded.DiagnosticCode())
	}
	if meant, ok := hcl.DiagnosticExtra[fault.Meant](diag); ok {
		if data, err := json.Marshal(diagnosticData{meant.Text}); err == nil {
			reported.Data = data
		}
	}
	if strings.HasPrefix(diag.Summary, "Deprecated") {
		reported.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagDeprecated)
	}
	if diag.Subject != nil && text != nil {
		reported.Range = rangeOf(*diag.Subject, text)
	}
	return reported
}

// rangeOf returns a range of a diagnostic, which may have only lines and columns.
func rangeOf(rng hcl.Range, text *position.Text) protocol.Range {
	start, end := rng.Start.Byte, rng.End.Byte
	if start == 0 && end == 0 && rng.Start.Line > 1 {
		start = text.LineStart(rng.Start.Line-1) + max(0, rng.Start.Column-1)
		end = max(start, text.LineStart(rng.End.Line-1)+max(0, rng.End.Column-1))
	}
	if end <= start && end < text.LineEnd(text.Line(start)) {
		end = start + 1 // so that it can be seen
	}
	return text.Span(start, end)
}

// message is the text of a diagnostic. Its details are in a paragraph of their own, as editors show
// the first line where there is room for one.
func message(diag *hcl.Diagnostic) string {
	if diag.Detail == "" {
		return diag.Summary
	}
	return diag.Summary + "\n" + diag.Detail
}

func sameDiagnostic(a, b *protocol.Diagnostic) bool {
	return a.Range == b.Range && a.Severity == b.Severity && a.Message == b.Message
}

// logPanic logs a problem that was recovered in work that no request waits for.
func (s *server) logPanic(what string, problem any) {
	if problem != nil {
		s.log.Error("panic", "while", what, "problem", fmt.Sprint(problem), "stack", string(debug.Stack()))
	}
}
