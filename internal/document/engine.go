// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Engine names the engine that runs the modules.
type Engine struct {
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Reason  *EngineReason `json:"reason,omitempty"` // missing where nobody has said it
}

// EngineReason is the reason for using an engine.
type EngineReason struct {
	Code  engine.ReasonCode `json:"code"`
	Text  string            `json:"text"`
	Range *diagnostic.Range `json:"range,omitempty"` // of its cause in a module
}

// String returns the reason as a text with its place; empty for none.
func (r *EngineReason) String() string {
	if r == nil {
		return ""
	}
	why := engine.Reason{Text: r.Text}
	if r.Range != nil {
		why.Subject = &hcl.Range{Filename: r.Range.Filename, Start: hcl.Pos(r.Range.Start)}
	}
	return why.String()
}

// NewEngine returns an engine with the reason why it is used.
func NewEngine(info engine.Info, why engine.Reason) Engine {
	shown := Engine{Name: info.Name, Version: info.Version}
	if why != (engine.Reason{}) {
		shown.Reason = &EngineReason{Code: why.Code, Text: why.Text, Range: rangeOf(why.Subject)}
	}
	return shown
}

func rangeOf(at *hcl.Range) *diagnostic.Range {
	if at == nil {
		return nil
	}
	return &diagnostic.Range{Filename: at.Filename, Start: diagnostic.Pos(at.Start), End: diagnostic.Pos(at.End)}
}

// EngineOf returns the engine that planned a component. Where that has no reason of its own, it has
// that of the whole plan.
func EngineOf(c *stackplan.Component, whole engine.Reason) Engine {
	if c.Reason == (engine.Reason{}) {
		return NewEngine(c.Engine, whole)
	}
	return NewEngine(c.Engine, c.Reason)
}
