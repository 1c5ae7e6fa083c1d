// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

func (s *server) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	c := change{resourceType: t}
	if c.prior, err = decode(req.PriorState, t.ty); err != nil {
		return nil, err
	}
	if c.planned, err = decode(req.PlannedState, t.ty); err != nil {
		return nil, err
	}
	if c.config, err = decode(req.Config, t.ty); err != nil {
		return nil, err
	}
	call := Call{RPC: "ApplyResourceChange", Type: t.name, Action: actionOf(c.prior, c.planned), ID: idOf(c.prior, c.planned)}
	call.values = map[string]cty.Value{
		"prior_state": c.prior, "config": c.config, "planned_state": c.planned, "planned_private": cty.StringVal(string(req.PlannedPrivate)),
	}
	if call.WriteOnly, err = c.writeOnlyValues(); err != nil {
		return nil, err
	}
	record(call)
	next, applyErr := s.apply(ctx, c)
	next, applyErr = scriptApply(c, next, applyErr)
	call.Finished, call.WriteOnly, call.values = true, nil, nil
	call.ID = idOf(c.prior, next)
	record(call)

	resp := &tfprotov6.ApplyResourceChangeResponse{
		Private:                     req.PlannedPrivate,
		UnsafeToUseLegacyTypeSystem: boolArgument(c.planned, "legacy"), //nolint:staticcheck // legacy providers set it
	}
	if applyErr != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Applying failed", applyErr))
	}
	if resp.NewState, err = encode(next, t.ty); err != nil {
		return nil, err
	}
	resp.NewIdentity, err = t.identityOf(next)
	return resp, err
}

// change is one request to apply: all values are of the resource's type, null where there is none.
type change struct {
	*resourceType
	prior, planned, config cty.Value
}

// writeOnlyValues returns the write-only attributes that are set.
func (c change) writeOnlyValues() (map[string]json.RawMessage, error) {
	values := make(map[string]json.RawMessage)
	for _, name := range c.writeOnlyNames() {
		value, ok := knownArgument(c.config, name)
		if !ok {
			continue
		}
		raw, err := ctyjson.Marshal(value, value.Type())
		if err != nil {
			return nil, err
		}
		values[name] = raw
	}
	return values, nil
}

// apply makes the change and returns the object as it then is, also after an error.
func (s *server) apply(ctx context.Context, c change) (cty.Value, error) {
	if s.config.unknown {
		return c.prior, errConfigUnknown
	}
	p, args := phaseUpdate, c.planned
	switch {
	case c.prior.IsNull():
		p = phaseCreate
	case c.planned.IsNull():
		p, args = phaseDelete, c.prior
	}
	if err := s.disturb(ctx, p, args); err != nil {
		return c.prior, err
	}
	if err := failure(p, args); err != nil {
		return c.prior, err
	}
	if p != phaseUpdate {
		if err := s.checkRequired(args); err != nil {
			return c.prior, err
		}
	}
	if p == phaseDelete {
		if err := applyFile(c.resourceType, c.prior, c.planned); err != nil {
			return c.prior, err
		}
		return s.remove(c)
	}
	next, err := s.appliedState(c)
	if err != nil {
		return c.prior, err
	}
	if err := applyFile(c.resourceType, c.prior, next); err != nil {
		return c.prior, err
	}
	if err := s.save(c, next); err != nil {
		return c.prior, err
	}
	if p == phaseCreate && boolArgument(args, "fail_after_create") {
		return next, errors.New("fail_after_create is true: the object exists but is not ready")
	}
	return next, nil
}

func (s *server) remove(c change) (cty.Value, error) {
	if s.config.store != nil && !boolArgument(c.prior, "delete_keeps") {
		err := s.config.store.Delete(stringArgument(c.prior, "id"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c.prior, err
		}
	}
	return cty.NullVal(c.ty), nil
}

// appliedState returns the planned state with everything filled in that was to become known.
func (s *server) appliedState(c change) (cty.Value, error) {
	attrs := c.planned.AsValueMap()
	if !attrs["id"].IsKnown() {
		id, err := newID(c.name, c.planned)
		if err != nil {
			return cty.NilVal, err
		}
		attrs["id"] = cty.StringVal(id)
	}
	for name, source := range c.echoes {
		if !attrs[name].IsKnown() {
			attrs[name] = attrs[source]
		}
	}
	if c.has("revision") && !attrs["revision"].IsKnown() {
		attrs["revision"] = cty.NumberIntVal(1)
		if last, ok := knownArgument(c.prior, "revision"); ok {
			attrs["revision"] = last.Add(cty.NumberIntVal(1))
		}
	}
	if c.has("region") && !attrs["region"].IsKnown() {
		attrs["region"] = s.config.region
	}
	next, err := fillMade(cty.ObjectVal(attrs), cty.StringVal(madeName))
	if err != nil {
		return cty.NilVal, err
	}
	if !next.IsWhollyKnown() {
		return cty.NilVal, errors.New("the planned state has unknown values in arguments")
	}
	return next, nil
}

// newID returns an id that no other object has. In a directory for ids, it is made of the value of
// the object, or else of its type, and a number, which has a file there.
func newID(typeName string, planned cty.Value) (string, error) {
	dir := os.Getenv(IDsVariable)
	if dir == "" {
		var raw [8]byte
		rand.Read(raw[:]) // never fails
		return "fake-" + hex.EncodeToString(raw[:]), nil
	}
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-%d", cmp.Or(stringArgument(planned, "value"), typeName), n)
		f, err := os.OpenFile(filepath.Join(dir, url.PathEscape(id)), os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("choosing an id: %w", err)
		}
		return id, f.Close()
	}
}

// save stores the object, if there is a store.
func (s *server) save(c change, next cty.Value) error {
	if s.config.store == nil {
		return nil
	}
	obj := &Object{
		Type:   c.name,
		ID:     stringArgument(next, "id"),
		Values: make(map[string]json.RawMessage),
	}
	if region := s.config.region; !region.IsNull() {
		obj.Region = region.AsString()
	}
	for name, ty := range c.ty.AttributeTypes() {
		raw, err := ctyjson.Marshal(next.GetAttr(name), ty)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", name, err)
		}
		obj.Values[name] = raw
	}
	for _, name := range c.writeOnlyNames() {
		raw, err := ctyjson.Marshal(c.config.GetAttr(name), c.ty.AttributeType(name))
		if err != nil {
			return fmt.Errorf("encoding %s: %w", name, err)
		}
		delete(obj.Values, name)
		if obj.WriteOnly == nil {
			obj.WriteOnly = make(map[string]json.RawMessage)
		}
		obj.WriteOnly[name] = raw
	}
	if c.prior.IsNull() {
		return s.config.store.Create(obj)
	}
	return s.config.store.Put(obj)
}
