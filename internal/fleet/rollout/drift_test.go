// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/order"
)

// atWork is a driver of a unit in a directory in which nothing else may be done meanwhile.
type atWork struct {
	driver.Driver
	busy *atomic.Bool
}

func (a atWork) work() error {
	if !a.busy.CompareAndSwap(false, true) {
		return errors.New("something else is done in the directory")
	}
	defer a.busy.Store(false)
	time.Sleep(time.Second) //nolint:forbidigo // virtual time: everything else goes on until it waits
	return nil
}

func (a atWork) Outputs(context.Context) (map[string]cty.Value, bool, error) {
	return map[string]cty.Value{"x": cty.StringVal("x")}, true, a.work()
}

func (a atWork) Drift(_ context.Context, inputs driver.Inputs) (driver.Drift, error) {
	if inputs != nil {
		if _, diags := inputs(); diags.HasErrors() {
			return driver.Drift{}, diags
		}
	}
	return driver.Drift{}, a.work()
}

// Rule R4: outputs of a root module are not read while it is compared.
func TestDriftOfWhatOthersRead(t *testing.T) {
	file, diags := hclsource.Parse([]byte(`inputs = { x = stack.root.output.x }`), "w.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	wired, diags := wiring.Parse(file.Body.(*hclsyntax.Body).Attributes["inputs"].Expr, nil, file)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	inputs := &Inputs{wired, map[wiring.Origin]int{{Stack: "root"}: 0}}
	work := &Work{Units: []Unit{
		{Name: "root", Kind: Root, Dir: "/root"},
		{Name: "user", Kind: Root, Dir: "/user", Inputs: inputs},
		{Name: "blue", Kind: Root, Dir: "/user", Workspace: "blue", Inputs: inputs},
	}}
	var b order.Builder
	for unit := range work.Units {
		b.Add(order.Node{Name: work.Units[unit].Name})
		work.Steps = append(work.Steps, Step{Unit: unit, Phase: Plan})
	}
	var err error
	if work.Graph, err = b.Build(); err != nil {
		t.Fatal(err)
	}
	busy := map[string]*atomic.Bool{"/root": {}, "/user": {}}
	synctest.Test(t, func(t *testing.T) {
		for _, end := range work.Drift(t.Context(), DriftOptions{
			Parallel: 3,
			Open:     func(unit int) driver.Driver { return atWork{busy: busy[work.Units[unit].Dir]} },
		}) {
			if end.State != AsStated {
				t.Errorf("%s: %s (%v)", work.Units[end.Unit].Name, end.State, end.Err)
			}
		}
	})
}
