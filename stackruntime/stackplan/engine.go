// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"github.com/hashicorp/hcl/v2"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ownEngine encodes the engine that planned a component, unless an engine plan and the engine of
// the whole plan say that.
func ownEngine(c *Component, made engine.Info) *planv1.Engine {
	if c.Engine == (engine.Info{}) || c.Engine == made && c.Reason == (engine.Reason{}) && len(c.EnginePlan) > 0 {
		return nil
	}
	return encodeEngine(c.Engine, c.Reason)
}

func encodeEngine(made engine.Info, why engine.Reason) *planv1.Engine {
	encoded := &planv1.Engine{Name: made.Name, Version: made.Version}
	if why == (engine.Reason{}) {
		return encoded
	}
	encoded.Reason = &planv1.Reason{Code: string(why.Code), Text: why.Text}
	if at := why.Subject; at != nil {
		encoded.Reason.Subject = &planv1.SourceRange{
			Filename:  at.Filename,
			StartLine: int64(at.Start.Line), StartColumn: int64(at.Start.Column), StartByte: int64(at.Start.Byte),
			EndLine: int64(at.End.Line), EndColumn: int64(at.End.Column), EndByte: int64(at.End.Byte),
		}
	}
	return encoded
}

func decodeEngine(encoded *planv1.Engine) (engine.Info, engine.Reason) {
	why := engine.Reason{Code: engine.ReasonCode(encoded.GetReason().GetCode()), Text: encoded.GetReason().GetText()}
	if at := encoded.GetReason().GetSubject(); at != nil {
		why.Subject = &hcl.Range{
			Filename: at.GetFilename(),
			Start:    hcl.Pos{Line: int(at.GetStartLine()), Column: int(at.GetStartColumn()), Byte: int(at.GetStartByte())},
			End:      hcl.Pos{Line: int(at.GetEndLine()), Column: int(at.GetEndColumn()), Byte: int(at.GetEndByte())},
		}
	}
	return engine.Info{Name: encoded.GetName(), Version: encoded.GetVersion()}, why
}
