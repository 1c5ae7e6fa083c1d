// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Runner runs provisioners.
type Runner struct {
	// Dir is the directory that relative paths start from, and that commands run in unless they name
	// another one.
	Dir string

	// Environ is the environment of commands.
	Environ []string
}

var _ applying.Provisioners = (*Runner)(nil)

// decoders are those of the arguments of provisioners, by type.
var decoders = sync.OnceValue(func() map[string]*body.Decoder {
	all := map[string]*body.Decoder{}
	for name, schema := range validate.Provisioners {
		all[name] = body.NewDecoder(schema.Block)
	}
	return all
})

// Provision implements [applying.Provisioners].
func (r *Runner) Provision(ctx context.Context, req *applying.ProvisionRequest) hcl.Diagnostics {
	w := &work{ProvisionRequest: req}
	args, diags := decode(ctx, req, decoders()[req.Config.Type], req.Config.Body, req.Config.Refs)
	if diags.HasErrors() {
		return diags
	}
	w.args = args
	w.out = &output{req: req, hidden: args.hidden}
	run := map[string]func(context.Context, *work) hcl.Diagnostics{
		"local-exec": r.localExec, "remote-exec": r.remoteExec,
		"file": r.file,
	}[req.Config.Type]

	ctx, cancel := context.WithCancelCause(ctx)
	var stopping sync.WaitGroup
	stopping.Go(func() {
		select {
		case <-req.Stop:
			cancel(errStopped)
		case <-ctx.Done():
		}
	})
	w.observe(engine.ProvisionStart)
	if args.hidden {
		w.out.say("(output hidden, because of a sensitive or ephemeral argument)")
	}
	moreDiags := run(ctx, w)
	cancel(nil)
	stopping.Wait()
	w.out.end()
	if moreDiags.HasErrors() {
		w.observe(engine.ProvisionErrored)
	} else {
		w.observe(engine.ProvisionComplete)
	}
	return append(diags, moreDiags...)
}

var errStopped = errors.New("the work was stopped")

// decode evaluates the arguments of a provisioner or a connection.
func decode(ctx context.Context, req *applying.ProvisionRequest, decoder *body.Decoder, written hcl.Body,
	references []refs.Reference,
) (arguments, hcl.Diagnostics) {
	scope, ok := req.Module.Scope(ctx, references, req.Place)
	if !ok {
		return arguments{}, failed(req, "It was not run, because something that its arguments refer to is not there.")
	}
	value, diags := decoder.Decode(ctx, written, scope)
	if diags.HasErrors() {
		return arguments{}, diags
	}
	args := arguments{hidden: marks.Hidden(value), marked: value}
	if args.Value, _ = value.UnmarkDeep(); !args.IsWhollyKnown() {
		return args, append(diags, failed(req, "An argument depends on a value that is not known.")...)
	}
	return args, diags
}

// path returns a path as it is for this program.
func (r *Runner) path(written string) string {
	if filepath.IsAbs(written) {
		return written
	}
	return filepath.Join(r.Dir, written)
}

// fileOf is path for files, whose names may begin with the directory of the user.
func (r *Runner) fileOf(written string) string {
	if rest, ok := strings.CutPrefix(written, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return r.path(written)
}

// arguments are those of a block, without marks.
type arguments struct {
	cty.Value
	marked cty.Value
	hidden bool // one of them is sensitive or ephemeral
}

// text returns an argument, or "" if it is null.
func (a arguments) text(name string) string {
	if value := a.GetAttr(name); !value.IsNull() {
		return value.AsString()
	}
	return ""
}

// work is a request in progress.
type work struct {
	*applying.ProvisionRequest
	args arguments
	out  *output
}

func (w *work) observe(kind engine.EventType) {
	w.Observe.Observe(engine.Event{Type: kind, Resource: w.Place.Resource})
}

// say passes on a line, unless nothing is to be shown.
func (w *work) say(line string) {
	if !w.args.hidden {
		w.out.say(line)
	}
}

func (w *work) failed(detail string) hcl.Diagnostics { return failed(w.ProvisionRequest, detail) }

// commandFailed returns the error about a command, with the end of its output.
func (w *work) commandFailed(detail string) hcl.Diagnostics {
	if w.args.hidden {
		return w.failed("The command has failed. Command and output are not shown, since the provisioner has sensitive or ephemeral arguments.")
	}
	w.out.end()
	if written := strings.TrimSpace(w.out.tail()); written != "" {
		detail += " It has written:\n\n" + written
	}
	return w.failed(detail)
}

func failed(req *applying.ProvisionRequest, detail string) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Failed provisioner", Detail: detail, Subject: req.Config.Range.Ptr(),
		Extra: &engine.DiagnosticData{Resource: req.Place.Resource},
	}}
}
