// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"testing"

	"google.golang.org/grpc/codes"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCHandles(t *testing.T) {
	t.Run("H-01 handles of another kind", testOtherKinds)
	t.Run("H-02 handles of nothing", func(t *testing.T) {
		c := open(t, options{})
		for name, closer := range c.closers() {
			for _, handle := range []int64{0, -1, 1, 1 << 62} {
				if err := closer(handle); err == nil {
					t.Errorf("%s %d was closed", name, handle)
				} else {
					wantCode(t, err, codes.InvalidArgument)
				}
			}
		}
	})
	t.Run("H-03 handles that are closed", func(t *testing.T) {
		s := openStack(t, emptyStack)
		closers := s.closers()
		for name, handle := range s.handles() {
			if name == "bundle" {
				continue // it is in use
			}
			wantCode(t, closers[name](handle), codes.OK)
			wantCode(t, closers[name](handle), codes.InvalidArgument)
		}
	})
	t.Run("H-04 locks do not hold their bundle", func(t *testing.T) {
		dir := writeFiles(t, "-- lock.hcl --\n"+lockFile)
		c := open(t, options{dir: dir})
		bundle := c.openBundle("")
		locks := must[*dependenciespb.OpenDependencyLockFile_Response](t)(c.openLockFile(bundle, "./lock.hcl", "")).GetDependencyLocksHandle()
		wantCode(t, c.closeBundle(bundle), codes.OK)
		if got := c.locked(locks); len(got) != 1 {
			t.Errorf("the locks have %v", got)
		}
	})
	t.Run("H-05 handles outlive their connection", func(t *testing.T) {
		s := openStack(t, emptyStack)
		_ = s.conn.Close()
		other := &stack{client: s.process.connect(), config: s.config}
		other.find()
		wantCode(t, other.closeConfiguration(s.config), codes.OK)
		wantCode(t, other.closeBundle(s.bundle), codes.OK)
	})
}

// closers close handles, by their kinds.
func (c *client) closers() map[string]func(int64) error {
	ctx := c.t.Context()
	return map[string]func(int64) error{
		"bundle": c.closeBundle, "locks": c.closeLocks, "configuration": c.closeConfiguration, "state": c.closeState, "plan": c.closePlan,
		"cache": func(handle int64) error {
			_, err := c.dependencies.CloseProviderPluginCache(ctx, &dependenciespb.CloseProviderPluginCache_Request{ProviderCacheHandle: handle})
			return err
		},
		"terraform state": func(handle int64) error {
			_, err := c.stacks.CloseTerraformState(ctx, &stackspb.CloseTerraformState_Request{StateHandle: handle})
			return err
		},
	}
}

func (c *client) closeState(handle int64) error {
	_, err := c.stacks.CloseState(c.t.Context(), &stackspb.CloseStackState_Request{StateHandle: handle})
	return err
}

func (c *client) closePlan(handle int64) error {
	_, err := c.stacks.ClosePlan(c.t.Context(), &stackspb.CloseStackPlan_Request{PlanHandle: handle})
	return err
}

// handles opens one handle of each kind, by their kinds.
func (s *stack) handles() map[string]int64 {
	s.t.Helper()
	events := must[[]*stackspb.PlanStackChanges_Event](s.t)(s.plan(&stackspb.PlanStackChanges_Request{}))
	return map[string]int64{
		"bundle": s.bundle, "configuration": s.config,
		"locks": must[int64](s.t)(s.createLocks()),
		"cache": must[*dependenciespb.OpenProviderPluginCache_Response](s.t)(s.dependencies.OpenProviderPluginCache(s.t.Context(),
			&dependenciespb.OpenProviderPluginCache_Request{CacheDir: s.dir})).GetProviderCacheHandle(),
		"state": must[int64](s.t)(s.openState(nil)),
		"plan":  must[int64](s.t)(s.openPlan(rawPlan(events))),
		"terraform state": must[*stackspb.OpenTerraformState_Response](s.t)(s.stacks.OpenTerraformState(s.t.Context(),
			&stackspb.OpenTerraformState_Request{State: &stackspb.OpenTerraformState_Request_ConfigPath{ConfigPath: s.dir}})).GetStateHandle(),
	}
}

// A handle of another kind is one of nothing.
func testOtherKinds(t *testing.T) {
	s := openStack(t, emptyStack)
	handles, closers := s.handles(), s.closers()
	for kind, closer := range closers {
		for other, handle := range handles {
			if handle == 0 {
				t.Errorf("the handle of a %s is 0", other)
			}
			if other == kind {
				continue
			}
			if err := closer(handle); err == nil {
				t.Errorf("a %s was closed as a %s", other, kind)
			} else {
				wantCode(t, err, codes.InvalidArgument)
			}
		}
	}
	response := must[*stackspb.OpenStackConfiguration_Response](t)(s.openConfiguration(s.bundle, &terraform1.SourceAddress{Source: "./stack"}))
	for other, handle := range handles {
		if handle == response.GetStackConfigHandle() {
			t.Errorf("the handle of a %s was used again", other)
		}
	}
}
