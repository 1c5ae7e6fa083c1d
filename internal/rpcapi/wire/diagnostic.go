// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
)

// Diagnostics returns messages for diagnostics; of very many, for those that views show. The
// function gives files the names that clients know them by; nil leaves them as they are.
func Diagnostics(diags hcl.Diagnostics, name func(file string) string) []*terraform1pb.Diagnostic {
	var messages []*terraform1pb.Diagnostic
	for _, diag := range diagnostic.Limited(diags) {
		messages = append(messages, Diagnostic(diag, name))
	}
	return messages
}

// Diagnostic is [Diagnostics] for one.
func Diagnostic(diag *hcl.Diagnostic, name func(file string) string) *terraform1pb.Diagnostic {
	severity := terraform1pb.Diagnostic_ERROR
	if diag.Severity == hcl.DiagWarning {
		severity = terraform1pb.Diagnostic_WARNING
	}
	return &terraform1pb.Diagnostic{
		Severity: severity,
		Summary:  diag.Summary,
		Detail:   diag.Detail,
		Subject:  sourceRange(diag.Subject, name),
		Context:  sourceRange(diag.Context, name),
	}
}

func sourceRange(rng *hcl.Range, name func(file string) string) *terraform1pb.SourceRange {
	if rng == nil {
		return nil
	}
	file := rng.Filename
	if name != nil {
		file = name(file)
	}
	return &terraform1pb.SourceRange{SourceAddr: file, Start: sourcePos(rng.Start), End: sourcePos(rng.End)}
}

func sourcePos(pos hcl.Pos) *terraform1pb.SourcePos {
	return &terraform1pb.SourcePos{Byte: int64(pos.Byte), Line: int64(pos.Line), Column: int64(pos.Column)}
}

// Range returns the range that a client has sent, nil for one without both ends.
func Range(rng *terraform1pb.SourceRange) *hcl.Range {
	if rng.GetStart() == nil || rng.GetEnd() == nil {
		return nil
	}
	return &hcl.Range{Filename: rng.GetSourceAddr(), Start: position(rng.GetStart()), End: position(rng.GetEnd())}
}

func position(pos *terraform1pb.SourcePos) hcl.Pos {
	return hcl.Pos{Byte: int(pos.GetByte()), Line: int(pos.GetLine()), Column: int(pos.GetColumn())}
}
