// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
)

// phase is the provider's present activity with an object; the prefix of the arguments that disturb
// it.
type phase string

const (
	phasePlan   phase = "plan"
	phaseRead   phase = "read"
	phaseCreate phase = "create"
	phaseUpdate phase = "update"
	phaseDelete phase = "delete"
)

// gatePoll is how often a gate is looked at. File notification would not be worth another module
// here.
const gatePoll = 5 * time.Millisecond

var errOrphaned = errors.New("the process that started the provider is gone")

// disturb panics or waits before phase p if the arguments in obj or the provider's configuration
// ask for that.
//
// Errors: waiting was interrupted, or cannot be done.
func (s *server) disturb(ctx context.Context, p phase, obj cty.Value) error {
	if wanted := string(p); wanted == s.config.panicOn || wanted == stringArgument(obj, "panic_on") {
		panic("panic_on = \"" + wanted + "\": the fake provider was asked to crash here")
	}
	gate := stringArgument(obj, string(p)+"_gate")
	if boolArgument(obj, "ignore_stop") {
		if gate != "" {
			defer context.AfterFunc(ctx, func() {
				_ = os.WriteFile(gate+".stopped", nil, 0o600) //nolint:errcheck // a test that waits for it reports that it is not there
			})()
		}
		ctx = context.WithoutCancel(ctx)
	}
	if err := delay(ctx, stringArgument(obj, string(p)+"_delay")); err != nil {
		return err
	}
	return passGate(ctx, gate)
}

// failure returns the error that the arguments in obj ask for in phase p.
func failure(p phase, obj cty.Value) error {
	argument := "fail_" + string(p)
	if p == phaseCreate || p == phaseUpdate {
		argument = "fail_apply"
	}
	if boolArgument(obj, argument) {
		return fmt.Errorf("%s is true", argument)
	}
	return nil
}

// delay waits for the duration written in text, if any.
func delay(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("reading a delay: %w", err)
	}
	return waitFor(ctx, time.After(d), func() (bool, error) { return false, nil })
}

// passGate creates path.reached and waits until path exists. An empty path is not a gate.
func passGate(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	if err := os.WriteFile(path+".reached", nil, 0o600); err != nil {
		return fmt.Errorf("reaching a gate: %w", err)
	}
	return waitFor(ctx, nil, func() (bool, error) {
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
}

// waitFor returns when timer fires or open says so; with an error when ctx ends, or when the
// process that started this one does: killing Terraform must not leave providers behind that wait
// forever.
func waitFor(ctx context.Context, timer <-chan time.Time, open func() (bool, error)) error {
	parent := os.Getppid()
	tick := time.NewTicker(gatePoll)
	defer tick.Stop()
	for {
		if done, err := open(); done || err != nil {
			return err
		}
		select {
		case <-timer:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", context.Cause(ctx))
		case <-tick.C:
			if os.Getppid() != parent {
				return errOrphaned
			}
		}
	}
}

// checkRequired returns an error unless all objects exist whose ids obj lists in
// required_resources.
func (s *server) checkRequired(obj cty.Value) error {
	ids, ok := knownArgument(obj, "required_resources")
	if !ok {
		return nil
	}
	if s.config.store == nil {
		return errNoStore
	}
	var missing []string
	for _, id := range ids.AsValueSlice() {
		_, err := s.config.store.Get(id.AsString())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, id.AsString())
		case err != nil:
			return err
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("required objects do not exist: %q", missing)
	}
	return nil
}

func errorDiagnostic(summary string, err error) *tfprotov6.Diagnostic {
	return &tfprotov6.Diagnostic{
		Severity: tfprotov6.DiagnosticSeverityError,
		Summary:  summary,
		Detail:   err.Error(),
	}
}
