// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
)

// null is null in MessagePack, of any type. Nobody changes it.
var null = []byte{0xc0}

// encoder encodes values and keeps the first error. The zero value is ready for use.
type encoder struct{ err error }

func (e *encoder) value(v cty.Value, ty cty.Type) *pluginv1.DynamicValue {
	if v == cty.NilVal {
		return &pluginv1.DynamicValue{Msgpack: null}
	}
	encoded, err := ctymsgpack.Marshal(v, ty)
	if err != nil && e.err == nil {
		e.err = err
	}
	return &pluginv1.DynamicValue{Msgpack: encoded}
}

// meta encodes a value of provider_meta, which providers without a schema for it do not get.
func (e *encoder) meta(v cty.Value, s *schema.Schema) *pluginv1.DynamicValue {
	if s == nil {
		return e.value(cty.NilVal, cty.NilType)
	}
	return e.value(v, configType(s))
}

// identity encodes an identity; none for a type that has none.
func (e *encoder) identity(v cty.Value, s *schema.Identity) *pluginv1.IdentityData {
	if s == nil || v == cty.NilVal || v.IsNull() {
		return nil
	}
	return &pluginv1.IdentityData{IdentityData: e.value(v, s.Type())}
}

// unsendable returns the diagnostic for a value that does not have the type that it must have: the
// engine has made a mistake.
func (c *Client) unsendable(method plugin.Method, err error) provider.Diagnostics {
	return provider.Errorf(summaryRequest,
		"Provider %s cannot be asked for %s, as a value of the request cannot be sent: %s. This is a bug in cairn; please report it.",
		c.address, method.Name, err)
}

// decoder decodes one answer, and collects its mistakes after the diagnostics of the provider
// itself.
type decoder struct {
	client *Client
	method plugin.Method
	diags  provider.Diagnostics
}

func (c *Client) decoder(method plugin.Method, diags []*pluginv1.Diagnostic) *decoder {
	return &decoder{client: c, method: method, diags: decodeDiagnostics(diags)}
}

// invalid reports that something in the answer breaks the protocol.
func (d *decoder) invalid(what string, err error) {
	d.diags = append(d.diags, provider.Errorf(summaryAnswer,
		"Provider %s was asked for %s, and answered with %s that breaks the provider protocol: %s. "+
			"That is a mistake in the provider, not in the configuration.",
		d.client.address, d.method.Name, what, err)...)
}

// value decodes an object, null if it is absent (rule C1).
func (d *decoder) value(what string, encoded *pluginv1.DynamicValue, ty cty.Type) cty.Value {
	v, err := decodeValue(encoded, ty)
	if err != nil {
		d.invalid(what, err)
		return cty.NilVal
	}
	return v
}

// identity decodes an identity, [cty.NilVal] if it is absent.
func (d *decoder) identity(encoded *pluginv1.IdentityData, s *schema.Identity) cty.Value {
	switch {
	case encoded.GetIdentityData() == nil:
		return cty.NilVal
	case s == nil:
		d.invalid("an identity", fmt.Errorf("the resource type has none"))
		return cty.NilVal
	default:
		return d.value("an identity", encoded.GetIdentityData(), s.Type())
	}
}

var deferredReasons = map[pluginv1.Deferred_Reason]provider.DeferredReason{
	pluginv1.Deferred_RESOURCE_CONFIG_UNKNOWN: provider.DeferredResourceConfigUnknown,
	pluginv1.Deferred_PROVIDER_CONFIG_UNKNOWN: provider.DeferredProviderConfigUnknown,
	pluginv1.Deferred_ABSENT_PREREQ:           provider.DeferredAbsentPrerequisite,
}

// deferred decodes why something is deferred, which must be allowed (rule C3).
func (d *decoder) deferred(encoded *pluginv1.Deferred, allowed bool) provider.DeferredReason {
	switch reason, known := deferredReasons[encoded.GetReason()]; {
	case encoded == nil:
		return provider.NotDeferred
	case !allowed:
		d.invalid("a deferral", fmt.Errorf("the request did not allow one"))
		return provider.NotDeferred
	case known:
		return reason
	default:
		return provider.DeferredUnknownReason
	}
}

// decodeValue decodes a value of a type, null if it is absent (rule C1).
func decodeValue(encoded *pluginv1.DynamicValue, ty cty.Type) (v cty.Value, err error) {
	if data := encoded.GetMsgpack(); len(data) > 0 {
		return safevalue.Unmarshal(data, ty)
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			v, err = cty.NilVal, fmt.Errorf("inconsistent value: %v", panicked)
		}
	}()
	if data := encoded.GetJson(); len(data) > 0 {
		if v, err = ctyjson.Unmarshal(data, ty); err != nil {
			return cty.NilVal, err
		}
		return v, nil
	}
	return cty.NullVal(ty), nil
}
