// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// known returns an object with values for its unknown parts. Each depends on its path only, since
// attributes are visited in any order.
func known(seed uint64, block *schema.Block, object cty.Value) cty.Value {
	settled, _ := cty.Transform(schematest.Settle(block, object), func(path cty.Path, part cty.Value) (cty.Value, error) {
		if !part.IsKnown() {
			hash := fnv.New64a()
			fmt.Fprintf(hash, "%#v", path)
			return schematest.NewRandom(seed^hash.Sum64()).Value(part.Type(), schematest.Known), nil
		}
		return part, nil
	})
	return settled
}

// trials are resources of random schemas, with configurations and prior objects that have something
// to do with each other.
type trials struct {
	seed    uint64
	random  *schematest.Random
	echo    *schematest.Echo
	config  strings.Builder
	objects map[string]cty.Value
	settled bool     // configurations have no unknown parts
	answers sync.Map // objects that were answered, by type
}

func newTrials(t *testing.T, count int, settled bool) *trials {
	t.Helper()
	seed := testenv.Seed(t)
	all := &trials{
		seed:    seed,
		random:  schematest.NewRandom(seed),
		echo:    &schematest.Echo{Resources: map[string]*schema.Block{}},
		objects: map[string]cty.Value{},
		settled: settled,
	}
	all.config.WriteString(schematest.Requirement)
	if !settled {
		all.config.WriteString(schematest.UnknownResource)
	}
	for i := range count {
		all.add(i, fmt.Sprintf("echo_%d", i))
	}
	return all
}

func (all *trials) add(i int, name string) {
	random := all.random
	random.Dynamic, random.Unchanged = i%4 == 0, 3+random.IntN(20)
	block := random.Block(2)
	config := random.Object(block, schematest.Config)
	if all.settled {
		config = known(random.Uint64(), block, config)
	}
	all.echo.Resources[name] = block
	fmt.Fprintf(&all.config, "resource %q \"it\" {\n%s}\n", name, schematest.Syntax(block, config))
	switch i % 10 {
	case 0: // it is created
	case 1:
		all.objects[name] = random.Object(block, schematest.Known)
	default:
		prior := random.Mutate(random.Fill(block, known(random.Uint64(), block, config), schematest.Known), schematest.Known)
		if !prior.IsNull() {
			all.objects[name] = schematest.Settle(block, prior)
		}
	}
}

// once returns the first result of answer for a method and a type.
func (all *trials) once(answer func(call schematest.Call) cty.Value) func(call schematest.Call) cty.Value {
	return func(call schematest.Call) cty.Value {
		key := call.Method + call.Type
		if value, ok := all.answers.Load(key); ok {
			return value.(cty.Value)
		}
		value, _ := all.answers.LoadOrStore(key, answer(call))
		return value.(cty.Value)
	}
}

// nearly returns an object with values for computed attributes, and sometimes others, different
// ones for each name.
func (all *trials) nearly(name string, object cty.Value, what schematest.What) cty.Value {
	number, _ := strconv.Atoi(strings.TrimPrefix(name, "echo_"))
	random := schematest.NewRandom(all.seed + uint64(number)) //nolint:gosec // a small number
	object = random.Fill(all.echo.Resources[name], object, what)
	if number%3 > 0 {
		random.Unchanged = 2 + random.IntN(20)
		object = random.Mutate(object, what)
	}
	return object
}

func (all *trials) start(t *testing.T) *schematest.Workspace {
	return all.echo.Start(t, map[string]string{"main.tf": all.config.String(), "terraform.tfstate": all.echo.StateFile(t, all.objects)})
}

// inDetail finds the type of the resource that a diagnostic is about.
var inDetail = regexp.MustCompile(`echo_[0-9]+`)

// byAddress returns the diagnostics with a summary, by type of resource, and reports others.
func byAddress(t *testing.T, diags []schematest.Diagnostic, summary string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, diag := range diags {
		if diag.Summary != summary {
			t.Errorf("terraform reports: %s: %s: %s", diag.Address, diag.Summary, diag.Detail)
		}
		found[inDetail.FindString(diag.Detail)] += diag.Detail
	}
	return found
}

// The objects that terraform proposes to a provider, and the provider's plans that terraform
// accepts, for random schemas, states, configurations and plans.
func TestPlansAgreeWithTerraform(t *testing.T) {
	all := newTrials(t, 150, false)
	plan := all.once(func(call schematest.Call) cty.Value { return all.nearly(call.Type, call.Proposed, schematest.Config) })
	all.echo.Plan = plan
	w := all.start(t)
	diags, _ := w.Terraform(t, "plan", "-json")
	refused := byAddress(t, diags, "Provider produced invalid plan")
	calls := w.Calls("plan")
	var accepted int
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		call, block := calls[name], all.echo.Resources[name]
		if got := change.ProposedNew(block, call.Prior, call.Config); !got.RawEquals(call.Proposed) {
			t.Errorf("ProposedNew for %s\n%s", name, schematest.Differences(got, call.Proposed))
		}
		errs := change.CheckPlanned(block, call.Prior, call.Config, plan(call))
		if (len(errs) > 0) != (refused[name] != "") {
			t.Errorf("CheckPlanned for %s\n got %v\nwant %s\nchanged %s",
				name, paths(errs), refused[name], schematest.Differences(plan(call), call.Proposed))
		}
		if len(errs) == 0 {
			accepted++
		}
	}
	if len(calls) < 150 || accepted < 15 || accepted > 140 {
		t.Errorf("%d of %d plans are accepted, want neither all nor none", accepted, len(calls))
	}
}

// paths describes errors with their paths.
func paths(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, fmt.Sprintf("%#v: %v", err.(cty.PathError).Path, err))
	}
	return all
}

// Which results of an apply terraform accepts, for random plans.
func TestResultsAgreeWithTerraform(t *testing.T) {
	all := newTrials(t, 150, true)
	all.echo.Plan = func(call schematest.Call) cty.Value {
		number, _ := strconv.Atoi(strings.TrimPrefix(call.Type, "echo_"))
		random, block := schematest.NewRandom(all.seed+uint64(number)), all.echo.Resources[call.Type] //nolint:gosec // a small number
		planned := call.Proposed
		for range 100 { // elements of a set may become equal, which makes the plan invalid
			planned = random.Fill(block, call.Proposed, schematest.Config)
			if len(change.CheckPlanned(block, call.Prior, call.Config, planned)) == 0 {
				break
			}
		}
		return planned
	}
	apply := all.once(func(call schematest.Call) cty.Value {
		block := all.echo.Resources[call.Type]
		actual := known(all.seed, block, call.Planned)
		if changed := all.nearly(call.Type, actual, schematest.Known); !changed.IsNull() {
			return schematest.Settle(block, changed) // terraform itself panics for some null blocks
		}
		return actual
	})
	all.echo.Apply = apply
	w := all.start(t)
	diags, _ := w.Terraform(t, "apply", "-auto-approve", "-json")
	refused := byAddress(t, diags, "Provider produced inconsistent result after apply")
	calls := w.Calls("apply")
	var accepted int
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		call := calls[name]
		actual := apply(call)
		errs := change.CheckResult(all.echo.Resources[name], call.Planned, actual)
		if (len(errs) > 0) != (refused[name] != "") {
			t.Errorf("CheckResult for %s\n got %v\nwant %s\nchanged %s",
				name, paths(errs), refused[name], schematest.Differences(actual, call.Planned))
		}
		if len(errs) == 0 {
			accepted++
		}
	}
	if len(calls) < 60 || accepted < 20 || accepted > len(calls)-20 {
		t.Errorf("%d of %d results are accepted, want about half", accepted, len(calls))
	}
}
