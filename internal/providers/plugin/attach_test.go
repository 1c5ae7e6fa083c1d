// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin_test

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
)

func TestParseReattach(t *testing.T) {
	const entry = `{"Protocol":"grpc","ProtocolVersion":6,"Pid":7,"Test":true,"Addr":{"Network":"unix","String":"/tmp/s"}}`
	found, err := plugin.ParseReattach(`{"hashicorp/x":` + entry + `}`)
	if got := found["hashicorp/x"]; err != nil || got.ProtocolVersion != 6 || got.Pid != 7 || !got.Test || got.Addr.String != "/tmp/s" {
		t.Errorf("ParseReattach: got %+v, error %v", found, err)
	}
	if found, err := plugin.ParseReattach(""); err != nil || len(found) > 0 {
		t.Errorf("ParseReattach of nothing: got %+v, error %v", found, err)
	}
	for text, want := range map[string]string{
		"{":                                    "not the JSON",
		`{"x":{"Addr":{"Network":"carrier"}}}`: "unix or tcp",
	} {
		if _, err := plugin.ParseReattach(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseReattach(%s): error %v, want %q", text, err, want)
		}
	}
}

func TestAttachRefuses(t *testing.T) {
	for name, to := range map[string]plugin.Reattach{
		"net/rpc":   {Protocol: "netrpc", ProtocolVersion: 5},
		"version 4": {Protocol: "grpc", ProtocolVersion: 4},
	} {
		if _, err := plugin.Attach(to, nil); err == nil || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("Attach with %s: error %v", name, err)
		}
	}
}
