// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	statev1 "github.com/cairnstacks/cairn/proto/cairn/state/v1"
)

// EncodeElement returns a record as a message, for a caller that keeps states elsewhere by sending
// them. Of kinds that this version does not know, there is none.
//
// Errors: the key is none, or [*UnknownKindError].
func EncodeElement(key string, record []byte) (*anypb.Any, error) {
	message, err := elementOf(key)
	if err != nil {
		return nil, err
	}
	if object, ok := message.(*statev1.ResourceInstanceObject); ok {
		object.Entry = record
		return anypb.New(object)
	}
	element := &anypb.Any{Value: record}
	element.TypeUrl = typeURL(message)
	return element, nil
}

// DecodeElement is the reverse of [EncodeElement].
//
// Errors: also that the message is of another kind than the key says.
func DecodeElement(key string, element *anypb.Any) ([]byte, error) {
	message, err := elementOf(key)
	if err != nil {
		return nil, err
	}
	if !element.MessageIs(message) {
		return nil, fmt.Errorf("state record %q: it is of the type %q", key, element.GetTypeUrl())
	}
	if err := element.UnmarshalTo(message); err != nil {
		return nil, fmt.Errorf("state record %q: %w", key, err)
	}
	if object, ok := message.(*statev1.ResourceInstanceObject); ok {
		return object.GetEntry(), nil
	}
	return element.GetValue(), nil
}

// elementOf returns an empty message for a record.
func elementOf(key string) (proto.Message, error) {
	parsed, err := ParseKey(key)
	if err != nil {
		return nil, err
	}
	switch parsed.Kind {
	case ComponentKind:
		return &statev1.ComponentInstance{}, nil
	case ResourceKind:
		return &statev1.ResourceInstanceObject{}, nil
	default:
		return &statev1.RootValue{}, nil
	}
}

func typeURL(message proto.Message) string {
	return "type.googleapis.com/" + string(message.ProtoReflect().Descriptor().FullName())
}

// FromElements is [FromRecords] for records that were sent. A record of a kind that this version
// does not know is kept by its sender, and only its key is known.
//
// Errors: as of [FromRecords], and of [DecodeElement].
func FromElements(elements map[string]*anypb.Any) (*State, error) {
	records := make(map[string][]byte, len(elements))
	for key, element := range elements {
		record, err := DecodeElement(key, element)
		if unknown, ok := errors.AsType[*UnknownKindError](err); ok && unknown.Handling != Fail {
			record, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		if record == nil { // of no bytes, which is a message, too
			record = []byte{}
		}
		records[key] = record
	}
	return FromRecords(records)
}
