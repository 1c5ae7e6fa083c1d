// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"errors"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

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

// loggedCall is a call that is under way.
type loggedCall struct {
	process *Process
	began   time.Time
	about   []any // names and their values
}

// typed are requests about a resource, a data source or an action.
type typed interface{ GetTypeName() string }

// logCall logs the beginning of a call. Of the request, only its subject is written.
func (p *Process) logCall(method Method, request proto.Message) loggedCall {
	about := []any{"method", method.Name, "program", p.name}
	if one, ok := request.(typed); ok {
		about = append(about, "type", one.GetTypeName())
	}
	if function, ok := request.(*pluginv1.CallRequest); ok {
		about = append(about, "function", function.GetName())
	}
	p.log.Trace("provider call begins", about...)
	return loggedCall{process: p, began: time.Now(), about: about}
}

// diagnosed are responses with diagnostics.
type diagnosed interface{ GetDiagnostics() []*pluginv1.Diagnostic }

// ended logs the duration of the call, and the reason why it failed. Messages of the provider may
// quote values, and are not written.
func (c loggedCall) ended(response proto.Message, err error) {
	about := append(c.about, "duration_ms", float64(time.Since(c.began).Microseconds())/1000)
	if err != nil {
		reason := err.Error()
		if failure := (*Error)(nil); errors.As(err, &failure) {
			reason = failure.Problem
		}
		c.process.log.Debug("provider call failed", append(about, "reason", reason)...)
		return
	}
	if answer, ok := response.(diagnosed); ok && len(answer.GetDiagnostics()) > 0 {
		about = append(about, "diagnostics", len(answer.GetDiagnostics()))
	}
	c.process.log.Debug("provider call", about...)
}
