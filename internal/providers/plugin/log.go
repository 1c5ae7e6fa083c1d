// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/telemetry"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// listeners are the readers of the standard error of the process.
func (p *Process) listeners(log io.Writer) io.Writer {
	if log == nil {
		return p.words
	}
	return io.MultiWriter(p.words, log)
}

func (p *Process) logStart(program string, failure *Error) {
	switch {
	case p.log == nil:
	case failure != nil:
		p.log.Error("provider process not started", "program", program, "reason", failure.Problem)
	default:
		p.pid = p.client.ID()
		p.log.Debug("provider process started", "program", program, "pid", p.pid, "protocol", p.version)
	}
}

func (p *Process) logEnd() {
	if p.log != nil && p.pid != "" { // else it has not started
		p.log.Debug("provider process ended", "program", p.name, "pid", p.pid)
	}
}

// followed is a call that is under way, for the log and for traces. Nil is one that neither of them
// is to have.
type followed struct {
	process *Process
	began   time.Time
	about   []any           // names and their values, for the log; nil if that is not asked for
	span    *telemetry.Span // nil likewise
}

// typed are requests about a resource, a data source or an action.
type typed interface{ GetTypeName() string }

// follow follows a call, and returns the context that carries its span to the provider. Of the
// request, only its subject is written.
func (p *Process) follow(ctx context.Context, method Method, request proto.Message) (context.Context, *followed) {
	traced := telemetry.From(ctx) != nil
	if p.log == nil && !traced {
		return ctx, nil
	}
	call := &followed{process: p, began: time.Now()}
	typeName := ""
	if one, ok := request.(typed); ok {
		typeName = one.GetTypeName()
	}
	if traced {
		ctx, call.span = telemetry.Call{Provider: p.name, Method: method.Name, Type: typeName}.Begin(ctx)
		ctx = telemetry.Outgoing(ctx)
	}
	if p.log == nil {
		return ctx, call
	}
	call.about = []any{"method", method.Name, "program", p.name}
	if typeName != "" {
		call.about = append(call.about, "type", typeName)
	}
	if function, ok := request.(*pluginv1.CallRequest); ok {
		call.about = append(call.about, "function", function.GetName())
	}
	p.log.Trace("provider call begins", call.about...)
	return ctx, call
}

// diagnosed are responses with diagnostics.
type diagnosed interface{ GetDiagnostics() []*pluginv1.Diagnostic }

func diagnosticsOf(response proto.Message) []*pluginv1.Diagnostic {
	if answer, ok := response.(diagnosed); ok {
		return answer.GetDiagnostics()
	}
	return nil
}

func isError(diag *pluginv1.Diagnostic) bool { return diag.GetSeverity() == pluginv1.Diagnostic_ERROR }

// ended ends the span of the call, and logs the duration of the call, and the reason why it failed.
// Messages of the provider may quote values, and are not written.
func (c *followed) ended(response proto.Message, err error) {
	if c == nil {
		return
	}
	diagnostics := diagnosticsOf(response)
	switch {
	case err != nil:
		c.span.Fail("call failed")
	case slices.ContainsFunc(diagnostics, isError):
		c.span.Fail("provider reported errors")
	}
	c.span.End()
	if c.about == nil {
		return
	}
	about := append(c.about, "duration_ms", float64(time.Since(c.began).Microseconds())/1000)
	if err != nil {
		reason := err.Error()
		if failure := (*Error)(nil); errors.As(err, &failure) {
			reason = failure.Problem
		}
		c.process.log.Debug("provider call failed", append(about, "reason", reason)...)
		return
	}
	if len(diagnostics) > 0 {
		about = append(about, "diagnostics", len(diagnostics))
	}
	c.process.log.Debug("provider call", about...)
}
