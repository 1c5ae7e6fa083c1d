// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// publish evaluates the published values of the stack once this deployment has these outputs, nil
// for none. It returns the changes of records of its stored state that keep them, if they are not
// those published last.
func (r *run) publish(ctx context.Context, stored *deployment.Stored, outputs map[string]cty.Value) (map[string][]byte, hcl.Diagnostics) {
	evaluator, _, err := r.values.evaluator(applyName)
	if err != nil {
		return nil, Diagnostics(err)
	}
	published, err := stored.PublishedAt()
	if err != nil || published.IsZero() && !evaluator.MadeOf(stored.Deployment) {
		return nil, Diagnostics(err) // which spares reading all others
	}
	readings, err := r.stack.states.Readings(ctx)
	if err != nil {
		return nil, Diagnostics(err)
	}
	snapshot, diags := evaluator.Published(ctx, func(ctx context.Context, name string) (map[string]cty.Value, error) {
		if name == stored.Deployment {
			return outputs, nil
		}
		return readings.Outputs(ctx, name)
	})
	if diags.HasErrors() {
		return nil, diags
	}
	maps.DeleteFunc(snapshot.Waiting, func(_ string, awaited []string) bool { return !slices.ContainsFunc(awaited, r.isLeftOut) })
	if len(snapshot.Waiting) > 0 && r.name != destroyName {
		diags = diags.Append(failure.Warning("Values not published yet", "These wait for deployments that are not applied, or not in full: %s.",
			strings.Join(slices.Sorted(maps.Keys(snapshot.Waiting)), ", ")))
	}
	records, err := readings.Publish(ctx, stored, time.Now().UTC(), snapshot.Values)
	return records, diags.Extend(Diagnostics(err))
}

// isLeftOut reports whether a deployment is none of those that are worked on together with this
// one.
func (r *run) isLeftOut(deployment string) bool {
	return deployment == r.stored.Deployment || !r.req.Together[deployment]
}

// publishing lets operations of this process on deployments of one stack publish one after the
// other, until the function that it returns is called: a value made of two deployments would have
// the old output of one, if these published at the same time.
func (r *run) publishing() (done func()) {
	if !r.stack.sources.Publishes() {
		return func() {}
	}
	r.stack.opts.Shared.publishing.Lock()
	return r.stack.opts.Shared.publishing.Unlock
}

// PlannedOutputs are the outputs that a deployment has by a plan that is not applied yet.
type PlannedOutputs struct {
	Deployment string // empty stands for each
	Outputs    map[string]cty.Value
	Err        error // the reason why they cannot be known
}

// PublishedBy returns the values that the stack publishes when plans of its deployments are
// applied, and false if there are none. Values from other deployments are those of their last
// apply.
func (s *Stack) PublishedBy(ctx context.Context, plans []PlannedOutputs) (upstream.Published, bool) {
	config, diags := s.sources.Deployments()
	if config == nil || diags.HasErrors() {
		return upstream.Published{}, false // which its own plan reports
	}
	planned := map[string]map[string]cty.Value{}
	for _, name := range config.Order {
		at := slices.IndexFunc(plans, func(plan PlannedOutputs) bool { return plan.Deployment == name || plan.Deployment == "" })
		if at < 0 {
			continue
		}
		if err := plans[at].Err; err != nil {
			return upstream.Published{Err: err}, true
		}
		planned[name] = plans[at].Outputs
	}
	if len(planned) == 0 {
		return upstream.Published{}, false
	}
	values, err := publishedBy(ctx, s, config, planned)
	return upstream.Published{Values: values, Err: err}, true
}

// publishedBy returns the values that a stack publishes with the planned outputs of some
// deployments.
func publishedBy(ctx context.Context, s *Stack, config *deployconfig.Config,
	planned map[string]map[string]cty.Value,
) (map[string]cty.Value, error) {
	sources, err := s.inputSources(inputSources{deployment: config.Order[0], phase: planName}, nil)
	if err != nil {
		return nil, err
	}
	readings, err := s.states.Readings(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, diags := deployeval.New(config, s.env.Dir, sources).Published(ctx,
		func(ctx context.Context, name string) (map[string]cty.Value, error) {
			if of, ok := planned[name]; ok {
				return of, nil
			}
			return readings.Outputs(ctx, name)
		})
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError {
			at := ""
			if diag.Subject != nil {
				at = fmt.Sprintf(" at %s:%d", filepath.Join(s.env.Dir, diag.Subject.Filename), diag.Subject.Start.Line)
			}
			return nil, failure.Error("Unusable upstream output", "The published outputs of the stack in %s cannot be evaluated%s: %s. %s",
				s.env.Dir, at, diag.Summary, diag.Detail)
		}
	}
	maps.Copy(snapshot.Values, snapshot.Unknown)
	return snapshot.Values, nil
}

// Taken is a value that a deployment has from another stack, which publishes it.
type Taken struct {
	Reference string
	Value     cty.Value // Marks: sensitive
	Range     hcl.Range // of the reference
}

// TakenNow returns the values that the inputs of a deployment have from other stacks now, in the
// order in which they are written. Unpublished values are left out.
func (s *Stack) TakenNow(ctx context.Context, deployment string) ([]Taken, hcl.Diagnostics) {
	config, diags := s.sources.Deployments()
	if config == nil || diags.HasErrors() || config.Deployments[deployment] == nil {
		return nil, diags
	}
	stacks := upstream.Of(s.env, s.sources, &s.opts.Shared.states, nil)
	published := map[*deployconfig.UpstreamInput]map[string]cty.Value{}
	var now []Taken
	for _, taken := range config.Taken(config.Deployments[deployment]) {
		if _, known := published[taken.Input]; !known {
			values, err := stacks.Values(ctx, taken.Input.Source.String())
			if err != nil {
				return nil, diags.Extend(Diagnostics(err))
			}
			published[taken.Input] = values
		}
		if value, ok := published[taken.Input][taken.Output]; ok {
			now = append(now, Taken{taken.String(), value, taken.Range})
		}
	}
	return now, diags
}

// keptRecords returns the changes of records of the deployment's stored state besides those of
// components, once it has this state: stable values of stores, and published values of the stack.
func (r *run) keptRecords(ctx context.Context, stored *deployment.Stored, state *stackstate.State) (map[string][]byte, hcl.Diagnostics) {
	if r.values.block == nil {
		return nil, nil
	}
	var stable map[string]cty.Value
	if r.values.inputs != nil {
		stable = r.values.inputs.stable
	}
	records, err := stored.StableRecords(stable)
	if err != nil {
		return nil, Diagnostics(err)
	}
	published, diags := r.publish(ctx, stored, deployment.Outputs(state))
	maps.Copy(records, published)
	return records, diags
}

// Publish keeps the values that the stack publishes by the last apply of the deployment, if they
// are not those published last, as after an edit of publish_output blocks.
func (s *Stack) Publish(ctx context.Context, req Request) hcl.Diagnostics {
	if !s.sources.Publishes() {
		return nil
	}
	r := s.newRun(task{name: nameOf(req.Mode), req: req})
	diags := r.loadDeployment(ctx)
	if diags.HasErrors() || r.values.block == nil {
		return diags
	}
	stored, err := s.states.Read(ctx)
	if err != nil {
		return Diagnostics(err)
	}
	r.stored = stored
	if records, diags := r.publish(ctx, stored, deployment.Outputs(stored.State)); diags.HasErrors() || len(records) == 0 {
		return diags
	}
	return r.withLock(ctx, nil, func() hcl.Diagnostics {
		defer r.publishing()()
		records, diags := r.publish(ctx, r.stored, deployment.Outputs(r.stored.State))
		if diags.HasErrors() || len(records) == 0 {
			return diags
		}
		return diags.Extend(Diagnostics(r.stored.Write(ctx, publishName, records)))
	})
}
