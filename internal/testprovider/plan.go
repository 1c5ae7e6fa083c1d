// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

func (s *server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	prior, err := decode(req.PriorState, t.ty)
	if err != nil {
		return nil, err
	}
	proposed, err := decode(req.ProposedNewState, t.ty)
	if err != nil {
		return nil, err
	}
	config, err := decode(req.Config, t.ty)
	if err != nil {
		return nil, err
	}
	action := actionOf(prior, proposed)
	record(Call{
		RPC: "PlanResourceChange", Type: t.name, Action: action, ID: idOf(prior, proposed),
		values: map[string]cty.Value{
			"prior_state":        prior,
			"config":             config,
			"proposed_new_state": proposed,
			"prior_private":      cty.StringVal(string(req.PriorPrivate)),
		},
	})

	resp := &tfprotov6.PlanResourceChangeResponse{PlannedPrivate: scriptedPrivate(req.PriorPrivate, proposed)}
	args := proposed
	if proposed.IsNull() {
		args = prior
	}
	if err := s.disturb(ctx, phasePlan, args); err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Planning failed", err))
		return resp, nil
	}
	if req.ClientCapabilities != nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = s.deferral(args)
	}
	if action == "delete" {
		resp.PlannedState = req.ProposedNewState
		return resp, nil
	}

	if err := failure(phasePlan, args); err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Planning failed", err))
		return resp, nil
	}
	if msg := stringArgument(args, "warn"); msg != "" {
		resp.Diagnostics = append(resp.Diagnostics, &tfprotov6.Diagnostic{
			Severity: tfprotov6.DiagnosticSeverityWarning,
			Summary:  "Asked to warn",
			Detail:   msg,
		})
	}
	planned, err := fillMade(s.plannedState(t, prior, proposed), cty.UnknownVal(cty.String))
	if err != nil {
		return nil, err
	}
	resp.RequiresReplace = append(requiresReplace(t, prior, planned), scriptedReplacement(prior, planned)...)
	resp.UnsafeToUseLegacyTypeSystem = boolArgument(planned, "legacy") //nolint:staticcheck // legacy providers set it
	if resp.PlannedState, err = encode(planned, t.ty); err != nil {
		return nil, err
	}
	resp.PlannedIdentity, err = t.identityOf(planned)
	return resp, err
}

// plannedState returns the state to expect after applying, from the proposal of core: the arguments
// as written and the computed attributes as they were.
func (s *server) plannedState(t *resourceType, prior, proposed cty.Value) cty.Value {
	creating := prior.IsNull()
	attrs := proposed.AsValueMap()
	if creating && attrs["id"].IsNull() {
		attrs["id"] = cty.UnknownVal(cty.String).RefineNotNull()
	}
	for name, source := range t.echoes {
		switch {
		case attrs[source].IsKnown() && attrs[source].IsNull():
			attrs[name] = attrs[source]
		case creating || !equal(attrs[source], prior.GetAttr(source)):
			attrs[name] = cty.UnknownVal(attrs[name].Type())
		}
	}
	if t.has("revision") && (creating || !equal(proposed, prior)) {
		attrs["revision"] = cty.UnknownVal(cty.Number).RefineNotNull()
	}
	if t.has("region") {
		attrs["region"] = s.config.region
	}
	if wantsDeferral(proposed) {
		attrs["result"] = cty.UnknownVal(cty.String)
	}
	for _, name := range t.writeOnlyNames() {
		attrs[name] = cty.NullVal(attrs[name].Type())
	}
	scriptPlan(attrs)
	return cty.ObjectVal(attrs)
}

// requiresReplace returns the paths of the changes that an update cannot make.
func requiresReplace(t *resourceType, prior, planned cty.Value) []*tftypes.AttributePath {
	if prior.IsNull() {
		return nil
	}
	var paths []*tftypes.AttributePath
	for _, name := range t.replaceOn {
		if !equal(prior.GetAttr(name), planned.GetAttr(name)) {
			paths = append(paths, tftypes.NewAttributePath().WithAttributeName(name))
		}
	}
	return paths
}

// deferral returns why a change to the object with these arguments should be planned later, nil if
// it need not.
func (s *server) deferral(args cty.Value) *tfprotov6.Deferred {
	switch {
	case s.config.unknown:
		return &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonProviderConfigUnknown}
	case wantsDeferral(args) && os.Getenv(DeferralVariable) != "":
		return &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonResourceConfigUnknown}
	default:
		return nil
	}
}

// wantsDeferral reports whether args has an argument deferred that is true or unknown.
func wantsDeferral(args cty.Value) bool {
	if !args.Type().HasAttribute("deferred") {
		return false
	}
	return !args.GetAttr("deferred").IsKnown() || boolArgument(args, "deferred")
}

// actionOf names the action that turns the object prior into next. Replacing is planned as a delete
// and a create.
func actionOf(prior, next cty.Value) string {
	switch {
	case prior.IsNull():
		return "create"
	case next.IsNull():
		return "delete"
	case equal(prior, next):
		return "no-op"
	default:
		return "update"
	}
}

// idOf returns the first id known among those of objs, or the empty string.
func idOf(objs ...cty.Value) string {
	for _, obj := range objs {
		if id := stringArgument(obj, "id"); id != "" {
			return id
		}
	}
	return ""
}
