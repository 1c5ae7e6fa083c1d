// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// publish evaluates what the stack publishes once this deployment has these outputs, nil for none. It returns the changes of records that keep it, if it is not what was published
// last.
func (r *run) publish(ctx context.Context, outputs map[string]cty.Value) (map[string][]byte, hcl.Diagnostics) {
	config := r.deploymentConfig()
	sources, err := r.inputSources(applyName)
	if err != nil {
		return nil, Diagnostics(err)
	}
	evaluator := deployeval.New(config, r.dir, sources)
	own, err := r.stored.Published()
	if err != nil || own.At.IsZero() && !evaluator.MadeOf(r.stored.Deployment) {
		return nil, Diagnostics(err) // which spares reading all others
	}
	newest, err := deployment.NewestPublished(ctx, r.store)
	if err != nil {
		return nil, Diagnostics(err)
	}
	snapshot, diags := evaluator.Published(ctx, func(ctx context.Context, name string) (map[string]cty.Value, error) {
		if name == r.stored.Deployment {
			return outputs, nil
		}
		return r.outputsOf(ctx, name)
	})
	if diags.HasErrors() {
		return nil, diags
	}
	if len(snapshot.Waiting) > 0 && r.name != destroyName {
		diags = diags.Append(failure.Warning("Values not published yet", "These wait for deployments that are not applied, or not in full: %s.", strings.Join(snapshot.Waiting, ", ")))
	}
	if !newest.At.IsZero() && maps.EqualFunc(newest.Values, snapshot.Values, cty.Value.RawEquals) {
		return nil, diags
	}
	records, err := r.stored.PublishedRecords(deployment.Published{At: time.Now().UTC(), Values: snapshot.Values})
	return records, diags.Extend(Diagnostics(err))
}

// outputsOf returns the outputs of another deployment by its last apply, nil if there was none.
func (r *run) outputsOf(ctx context.Context, name string) (map[string]cty.Value, error) {
	snapshot, err := r.store.Read(ctx, name)
	if err != nil || snapshot.Lineage == "" {
		return nil, err
	}
	state, err := deployment.Decode(snapshot.Records)
	if err != nil {
		return nil, err
	}
	return outputsIn(state), nil
}

// outputsIn returns the outputs of a state, nil if nothing was applied or all was destroyed.
func outputsIn(state *stackstate.State) map[string]cty.Value {
	if len(state.Components) == 0 && len(state.Outputs) == 0 {
		return nil
	}
	return state.Outputs
}
