// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func resourceMove(t *testing.T, text string) ResourceMove {
	t.Helper()
	from, to, _ := strings.Cut(text, " to ")
	var m ResourceMove
	var err, toErr error
	m.From, err = stackaddrs.ParseResourceInstance(from)
	m.To, toErr = stackaddrs.ParseResourceInstance(to)
	if err := errors.Join(err, toErr); err != nil {
		t.Fatal(err)
	}
	return m
}

// objectsOf lists the objects of a component, with their attributes and providers.
func objectsOf(t *testing.T, c *Component) []string {
	t.Helper()
	objects, err := tfstate.ParseObjects(c.Module)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, o := range objects {
		lines = append(lines, strings.Join([]string{o.Addr.String(), string(o.Deposed), string(o.Attributes), o.Provider}, " "))
	}
	return lines
}

func TestMoveResource(t *testing.T) {
	const alone = `{"version":4,"serial":1,"lineage":"other","resources":[{"mode":"managed","type":"fake_thing","name":"own",` +
		`"provider":"provider[\"registry.terraform.io/acme/fake\"].x","instances":[{"schema_version":0,"attributes":{"own":1}}]}]}`
	const provider = `provider["registry.terraform.io/acme/fake"]`
	tests := map[string]struct {
		move    string
		to      string // a document; "same" for a move within the component
		from    []string
		into    []string
		renames int
	}{
		"whole resource": {
			move: `fake_thing.b to fake_thing.z`, to: alone,
			from: []string{`module.m["a,b"].data.fake_thing.a["k,\"1\""]  {} module.m.` + provider},
			into: []string{
				`fake_thing.own  {"own":1} ` + provider + `.x`,
				`fake_thing.z[2]  {} ` + provider, `fake_thing.z[2] 0123abcd {} ` + provider,
				`fake_thing.z[10]  {"n":1.50,"html":"<&>\u003c"} ` + provider,
			},
			renames: 2,
		},
		"one instance with its deposed object": {
			move: `fake_thing.b[2] to module.n["k"].fake_thing.b`, to: "",
			from: []string{
				`fake_thing.b[10]  {"n":1.50,"html":"<&>\u003c"} ` + provider,
				`module.m["a,b"].data.fake_thing.a["k,\"1\""]  {} module.m.` + provider,
			},
			into:    []string{`module.n["k"].fake_thing.b  {} ` + provider, `module.n["k"].fake_thing.b 0123abcd {} ` + provider},
			renames: 1,
		},
		"within a component": {
			move: `fake_thing.b[10] to fake_thing.c["k"]`, to: "same",
			from: []string{
				`fake_thing.b[2]  {} ` + provider, `fake_thing.b[2] 0123abcd {} ` + provider,
				`fake_thing.c["k"]  {"n":1.50,"html":"<&>\u003c"} ` + provider,
				`module.m["a,b"].data.fake_thing.a["k,\"1\""]  {} module.m.` + provider,
			},
			renames: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from := &Component{Addr: componentAddr(t, "component.from"), Module: engine.State(moduleDocument)}
			to := &Component{Addr: componentAddr(t, "component.to"), Module: engine.State(test.to)}
			if test.to == "same" {
				to, test.into = from, test.from
			}
			fromAfter, toAfter, renames, err := MoveResource(from, to, resourceMove(t, test.move))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.from, objectsOf(t, fromAfter)); diff != "" {
				t.Errorf("objects that stay (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.into, objectsOf(t, toAfter)); diff != "" {
				t.Errorf("objects of the component they move to (-want +got):\n%s", diff)
			}
			if len(renames) != test.renames {
				t.Errorf("renames: %v, want %d", renames, test.renames)
			}
			for _, c := range []*Component{fromAfter, toAfter} {
				if _, err := ComponentRecords(nil, c); err != nil {
					t.Errorf("records of %s: %v", c.Addr, err)
				}
			}
			if string(from.Module) != moduleDocument {
				t.Errorf("the component before was changed")
			}
		})
	}
}

func TestMoveResourceErrors(t *testing.T) {
	c := &Component{Addr: componentAddr(t, "component.from"), Module: engine.State(moduleDocument)}
	for _, text := range []string{
		`fake_thing.nothing to fake_thing.z`, `fake_thing.b[3] to fake_thing.z`, `fake_thing.b to fake_thing.z[0]`,
		`fake_thing.alone to fake_thing.z`,
	} {
		if _, _, _, err := MoveResource(c, c, resourceMove(t, text)); !errors.Is(err, ErrNoResource) {
			t.Errorf("MoveResource(%s) = %v, want ErrNoResource", text, err)
		}
	}
	var occupied *ResourceOccupiedError
	for _, text := range []string{`fake_thing.b[2] to fake_thing.b[10]`} {
		if _, _, _, err := MoveResource(c, c, resourceMove(t, text)); !errors.As(err, &occupied) || occupied.To.String() != `fake_thing.b[10]` {
			t.Errorf("MoveResource(%s) = %v, want a *ResourceOccupiedError", text, err)
		}
	}
	other := &Component{Addr: componentAddr(t, "component.to"), Module: engine.State(moduleDocument)}
	if _, _, _, err := MoveResource(c, other, resourceMove(t, `fake_thing.b to fake_thing.b`)); !errors.As(err, &occupied) {
		t.Errorf("MoveResource to an equal component = %v, want a *ResourceOccupiedError", err)
	}
}
