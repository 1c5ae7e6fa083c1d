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
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// publish evaluates the published values of the stack once this deployment has these outputs, nil
// for none. It returns the changes of records that keep them, if they are not those published last.
func (r *run) publish(ctx context.Context, outputs map[string]cty.Value) (map[string][]byte, hcl.Diagnostics) {
	config := r.deploymentConfig()
	sources, err := r.inputSources(applyName)
	if err != nil {
		return nil, Diagnostics(err)
	}
	evaluator := deployeval.New(config, r.dir, sources)
	published, err := r.stored.PublishedAt()
	if err != nil || published.IsZero() && !evaluator.MadeOf(r.stored.Deployment) {
		return nil, Diagnostics(err) // which spares reading all others
	}
	readings, err := r.readings(r.store)
	if err != nil {
		return nil, Diagnostics(err)
	}
	snapshot, diags := evaluator.Published(ctx, func(ctx context.Context, name string) (map[string]cty.Value, error) {
		if name == r.stored.Deployment {
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
	records, err := readings.Publish(ctx, r.stored, time.Now().UTC(), snapshot.Values)
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
	if r.opts.Shared == nil || !r.Publishes() {
		return func() {}
	}
	r.opts.Shared.publishing.Lock()
	return r.opts.Shared.publishing.Unlock
}

// readings are those in the store of the stack.
func (s *Stack) readings(store statestore.Store) (*deployment.Readings, error) {
	location, err := s.stateLocation()
	if err != nil {
		return nil, err
	}
	return deployment.NewReadings(store, location, s.opts.Shared.ofReadings()), nil
}

// publishedByPlan returns the values that the stack publishes when plans of its deployments are
// applied, and false if there are none. Values from other deployments are those of their last
// apply.
//
// Unknown: in whole or in part, where it is not known before the apply.
func (s *Stack) publishedByPlan(ctx context.Context, outputs func(ctx context.Context, dir, deployment string) (map[string]cty.Value, bool, error)) (map[string]cty.Value, bool, error) {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() {
		return nil, false, nil // which its own plan reports
	}
	planned := map[string]map[string]cty.Value{}
	for _, name := range config.Order {
		of, ok, err := outputs(ctx, absolute(s.dir), name)
		if err != nil {
			return nil, false, err
		}
		if ok {
			planned[name] = of
		}
	}
	if len(planned) == 0 {
		return nil, false, nil
	}
	r := &run{Stack: s, inputs: &inputs{block: config.Deployments[config.Order[0]]}}
	sources, err := r.inputSources(planName)
	if err != nil {
		return nil, false, err
	}
	store, err := s.openStore(ctx)
	if err != nil {
		return nil, false, err
	}
	defer s.Close() //nolint:errcheck // nothing was written
	readings, err := s.readings(store)
	if err != nil {
		return nil, false, err
	}
	snapshot, diags := deployeval.New(config, s.dir, sources).Published(ctx, func(ctx context.Context, name string) (map[string]cty.Value, error) {
		if of, ok := planned[name]; ok {
			return of, nil
		}
		return readings.Outputs(ctx, name)
	})
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError {
			at := ""
			if diag.Subject != nil {
				at = fmt.Sprintf(" at %s:%d", filepath.Join(s.dir, diag.Subject.Filename), diag.Subject.Start.Line)
			}
			return nil, false, failure.Error("Unusable upstream output", "What the stack in %s publishes cannot be evaluated%s: %s. %s", s.dir, at, diag.Summary, diag.Detail)
		}
	}
	maps.Copy(snapshot.Values, snapshot.Unknown)
	return snapshot.Values, true, nil
}

// Taken is a value that a deployment has from another stack, which publishes it.
type Taken struct {
	Reference string
	Value     cty.Value // Marks: sensitive
	Range     hcl.Range // of the reference
}

// Taken returns the published values of other stacks that the latest operation has used, by
// references. Unknown: values that are only planned there.
func (s *Stack) Taken() map[string]cty.Value { return s.taken }

// TakenNow returns the values that the inputs of a deployment have from other stacks now, in the
// order in which they are written. Unpublished values are left out.
func (s *Stack) TakenNow(ctx context.Context, deployment string) ([]Taken, hcl.Diagnostics) {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() || config.Deployments[deployment] == nil {
		return nil, diags
	}
	published := map[*deployconfig.UpstreamInput]map[string]cty.Value{}
	var now []Taken
	for _, taken := range config.Taken(config.Deployments[deployment]) {
		if _, known := published[taken.Input]; !known {
			values, err := s.upstream(ctx, taken.Input)
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

// Publishes reports whether the deployment files have publish_output blocks.
func (s *Stack) Publishes() bool {
	config := s.deploymentConfig()
	return config != nil && len(config.Published) > 0
}

// Publish keeps the values that the stack publishes by the last apply of the deployment, if they
// are not those published last, as after an edit of publish_output blocks.
func (s *Stack) Publish(ctx context.Context, req Request) hcl.Diagnostics {
	if !s.Publishes() {
		return nil
	}
	name := applyName
	if req.Mode == engine.Destroy {
		name = destroyName
	}
	r := s.newRun(name, req, Caller{})
	diags := r.loadDeployment(ctx)
	if diags.HasErrors() || r.inputs == nil {
		return diags
	}
	stored, err := s.ReadState(ctx)
	if err != nil {
		return Diagnostics(err)
	}
	r.stored = stored
	if records, diags := r.publish(ctx, deployment.Outputs(stored.State)); diags.HasErrors() || len(records) == 0 {
		return diags
	}
	return r.withLock(ctx, func() hcl.Diagnostics {
		defer r.publishing()()
		records, diags := r.publish(ctx, deployment.Outputs(r.stored.State))
		if diags.HasErrors() || len(records) == 0 {
			return diags
		}
		return diags.Extend(Diagnostics(r.stored.Write(ctx, publishName, records)))
	})
}
