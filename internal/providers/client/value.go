// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
)

// null is null in MessagePack, of any type. Nobody changes it.
var null = []byte{0xc0}

// exchange is one request and its answer: it encodes the values of the one, and decodes those of
// the other. After a mistake in the request nothing is sent, and all values of the answer are
// missing.
type exchange struct {
	client *Client
	method plugin.Method
	diags  provider.Diagnostics // those of the provider, and after them the mistakes in its answer
	failed bool                 // there is no answer; diags says why
}

func (c *Client) exchange(method plugin.Method) *exchange {
	return &exchange{client: c, method: method}
}

// fail ends the exchange without an answer.
func (x *exchange) fail(diags provider.Diagnostics) {
	if !x.failed {
		x.diags, x.failed = diags, true
	}
}

// typeOf returns the type of the values of a type with a schema.
func (x *exchange) typeOf(of kind, name string) cty.Type {
	found := of.schemas(x.client.schema)[name]
	if found == nil {
		x.fail(x.client.unsupported(of, name))
		return cty.NilType
	}
	return configType(found)
}

func (c *Client) unsupported(of kind, name string) provider.Diagnostics {
	return provider.Errorf(summaryUnsupported, "Provider %s has no %s %q.", c.address, of.name, name)
}

// encode encodes a value. That it does not have the type that it must have is a mistake of the
// engine.
func (x *exchange) encode(v cty.Value, ty cty.Type) *pluginv1.DynamicValue {
	if v == cty.NilVal || x.failed {
		return &pluginv1.DynamicValue{Msgpack: null}
	}
	encoded, err := ctymsgpack.Marshal(v, ty)
	if err != nil {
		x.fail(provider.Errorf(summaryRequest,
			"Provider %s cannot be asked for %s, as a value of the request cannot be sent: %s. This is a bug in cairn; please report it.",
			x.client.address, x.method.Name, err))
	}
	return &pluginv1.DynamicValue{Msgpack: encoded}
}

// encodeMeta encodes a value of provider_meta, which providers without a schema for it do not get.
func (x *exchange) encodeMeta(v cty.Value) *pluginv1.DynamicValue {
	if x.client.schema.Meta == nil {
		v = cty.NilVal
	}
	return x.encode(v, configType(x.client.schema.Meta))
}

// encodeIdentity encodes the identity of an object; none for a type that has none.
func (x *exchange) encodeIdentity(v cty.Value, typeName string) *pluginv1.IdentityData {
	s := x.client.schema.Identities[typeName]
	if s == nil || v == cty.NilVal || v.IsNull() {
		return nil
	}
	return &pluginv1.IdentityData{IdentityData: x.encode(v, s.Type())}
}

// answer is an answer of a provider.
type answer interface {
	proto.Message
	GetDiagnostics() []*pluginv1.Diagnostic
}

// invoke calls the method, which takes as long as it takes, unless the request has mistakes.
func (x *exchange) invoke(ctx context.Context, request proto.Message, response answer) {
	if x.failed {
		return
	}
	if err := x.client.process.Invoke(ctx, x.method, request, response); err != nil {
		x.fail(x.client.failed(ctx, x.method, err))
		proto.Reset(response) // a part of it may have been decoded
		return
	}
	x.diags = decodeDiagnostics(response.GetDiagnostics())
}

// end returns the diagnostics, once all of the answer is decoded.
func (x *exchange) end() provider.Diagnostics { return x.diags }

// invalid reports that something in the answer breaks the protocol.
func (x *exchange) invalid(what string, err error) {
	x.diags = append(x.diags, provider.Errorf(summaryAnswer,
		"Provider %s was asked for %s, and answered with %s that breaks the provider protocol: %s. "+
			"That is a mistake in the provider, not in the configuration.",
		x.client.address, x.method.Name, what, err)...)
}

// object decodes an object, null if it is absent (rule C1).
func (x *exchange) object(encoded *pluginv1.DynamicValue, ty cty.Type) cty.Value {
	return x.decode("an object", encoded, ty)
}

func (x *exchange) decode(what string, encoded *pluginv1.DynamicValue, ty cty.Type) cty.Value {
	if x.failed {
		return cty.NilVal
	}
	v, err := decodeValue(encoded, ty)
	if err != nil {
		x.invalid(what, err)
		return cty.NilVal
	}
	return v
}

// identity decodes the identity of an object, [cty.NilVal] if it is absent.
func (x *exchange) identity(encoded *pluginv1.IdentityData, typeName string) cty.Value {
	switch s := x.client.schema.Identities[typeName]; {
	case encoded.GetIdentityData() == nil:
		return cty.NilVal
	case s == nil:
		x.invalid("an identity", errors.New("the resource type has none"))
		return cty.NilVal
	default:
		return x.decode("an identity", encoded.GetIdentityData(), s.Type())
	}
}

var deferredReasons = map[pluginv1.Deferred_Reason]provider.DeferredReason{
	pluginv1.Deferred_RESOURCE_CONFIG_UNKNOWN: provider.DeferredResourceConfigUnknown,
	pluginv1.Deferred_PROVIDER_CONFIG_UNKNOWN: provider.DeferredProviderConfigUnknown,
	pluginv1.Deferred_ABSENT_PREREQ:           provider.DeferredAbsentPrerequisite,
}

// deferred decodes why something is deferred, which must be allowed (rule C3).
func (x *exchange) deferred(encoded *pluginv1.Deferred, allowed bool) provider.DeferredReason {
	switch reason, known := deferredReasons[encoded.GetReason()]; {
	case encoded == nil:
		return provider.NotDeferred
	case !allowed:
		x.invalid("a deferral", errors.New("the request did not allow one"))
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
