// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestElements(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	state := exampleState(t)
	state.Preserved = nil
	records, err := state.Records()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for key, record := range records {
		element, err := EncodeElement(key, record)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeElement(key, element)
		if err != nil || !bytes.Equal(got, record) {
			t.Errorf("%s: got %q, %v; want %q", key, got, err, record)
		}
		kinds[key[:4]] = true
	}
	if len(kinds) != 4 {
		t.Errorf("the state has records of the kinds %v only", kinds)
	}
	text, err := anypb.New(wrapperspb.String("x"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key     string
		element *anypb.Any
	}{
		"other type": {"VRBLvar.a", text},
		"nothing":    {"VRBLvar.a", nil},
		"no key":     {"VRBL", text},
	} {
		if got, err := DecodeElement(test.key, test.element); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
	if _, err := EncodeElement("newTx", nil); !errors.As(err, new(*UnknownKindError)) {
		t.Errorf("unknown kind: got %v", err)
	}
}
