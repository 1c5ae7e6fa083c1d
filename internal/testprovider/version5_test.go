// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
)

// All that version 6 has is there, but for nested attributes.
func TestVersion5(t *testing.T) {
	s, err := New5(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.GetProviderSchema(t.Context(), &tfprotov5.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for name := range resourceTypes() {
		if resp.ResourceSchemas[name] == nil {
			t.Errorf("there is no resource type %s", name)
		}
	}
	for _, attr := range resp.ResourceSchemas["fake_everything"].Block.Attributes {
		if attr.Name == "nested_list" {
			t.Error("fake_everything has nested attributes")
		}
	}
	if !resp.ServerCapabilities.MoveResourceState || !resp.ServerCapabilities.PlanDestroy {
		t.Errorf("capabilities: %+v, want those of version 6", resp.ServerCapabilities)
	}
}
