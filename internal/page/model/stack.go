// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package model

import (
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/operation/blame"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/show/picture"
	"github.com/cairnstacks/cairn/internal/show/stackpicture"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Stack is the page of a deployment of a stack.
type Stack struct {
	Pages
	Unit       Unit
	Picture    bool   // there are few enough components for one
	Source     string // of the graph, in words
	Note       string // why it is not a better one
	Components []Component
}

// Component is a row of the stack.
type Component struct {
	Address  string
	Class    string
	Planned  string
	Requires []string
}

// MostPictured is the number of components up to which a picture is drawn.
const MostPictured = 300

// NewStack returns the page that is asked for.
func NewStack(unit Unit, g graph.Graph, source, note string, q Query) Stack {
	page := Stack{Unit: unit, Source: source, Note: Text(note), Picture: len(g.Components) > 0 && len(g.Components) <= MostPictured}
	var matching []graph.Component
	for _, c := range g.Components {
		if q.matches(c.Addr.String()) {
			matching = append(matching, c)
		}
	}
	var from, to int
	page.Pages, from, to = pageOf(q, len(matching))
	for _, c := range matching[from:to] {
		row := Component{Address: Text(c.Addr.String()), Class: string(stackpicture.ClassOf(c)), Planned: Text(stackpicture.Planned(c))}
		for i, required := range c.Requires {
			if i == mostRequired {
				row.Requires = append(row.Requires, "…")
				break
			}
			row.Requires = append(row.Requires, Text(required.String()))
		}
		page.Components = append(page.Components, row)
	}
	return page
}

const mostRequired = 10

// Objects is the page of the objects of a state.
type Objects struct {
	Pages
	Unit    Unit
	Objects []Object
}

// Object is an object of a state.
type Object struct {
	Address string // for links, as the state has it
	Name    string // as it is shown
}

// NewObjects returns the page that is asked for.
func NewObjects(unit Unit, contents []deployment.Contents, q Query) Objects {
	page := Objects{Unit: unit}
	var matching []string
	for _, component := range contents {
		if address := component.Addr.String(); q.matches(address) {
			matching = append(matching, address)
		}
		for _, object := range component.Objects {
			if address := object.In(component.Addr).String(); object.Deposed == "" && q.matches(address) {
				matching = append(matching, address)
			}
		}
	}
	var from, to int
	page.Pages, from, to = pageOf(q, len(matching))
	for _, address := range matching[from:to] {
		page.Objects = append(page.Objects, Object{address, Text(address)})
	}
	return page
}

// Blame is the page of the past of an object.
type Blame struct {
	Unit    Unit
	Address string
	Objects []BlamedObject
	Problem string
}

// BlamedObject is an object with its attributes.
type BlamedObject struct {
	Name       string
	Gone       *Serial // since when it is not there any more; nil if it is
	Attributes []BlamedAttribute
	More       int
}

// BlamedAttribute is an attribute with the serial that has written it.
type BlamedAttribute struct {
	Path, Value, Before string
	Since               Serial
	Earlier             bool
}

// NewBlame returns the page of some objects.
func NewBlame(unit Unit, address string, objects []blame.Object) Blame {
	page := Blame{Unit: unit, Address: address}
	for _, object := range objects {
		one := BlamedObject{Name: Text(object.Address)}
		if object.Gone != nil {
			gone := NewSerial(*object.Gone)
			one.Gone = &gone
		}
		for i, a := range object.Attributes {
			if i == mostRows {
				one.More = len(object.Attributes) - i
				break
			}
			one.Attributes = append(one.Attributes, BlamedAttribute{
				Text(a.Path), blamedText(a.Value, a.Sensitive), blamedText(a.Before, a.Sensitive), NewSerial(a.Since), a.Earlier,
			})
		}
		page.Objects = append(page.Objects, one)
		if len(page.Objects) == PageSize {
			break
		}
	}
	return page
}

func blamedText(value, sensitive any) string {
	if value == nil {
		return ""
	}
	return valuediff.Line(valuediff.FromJSON(value, sensitive), mostValue)
}

// Change is the page of a serial, with its changes.
type Change struct {
	Pages
	Unit    Unit
	Serial  Serial
	Objects []ChangedObject
}

// ChangedObject is an object, or a component with its outputs, that a serial has changed.
type ChangedObject struct {
	Address, Name, Symbol, Class string
	Rows                         []Row
	More, Unchanged              int
}

// Difference is an object before and after a serial.
type Difference struct {
	Address string
	Values  valuediff.Change
}

// NewChange returns the page that is asked for.
func NewChange(unit Unit, serial Serial, differences []Difference, q Query) Change {
	page := Change{Unit: unit, Serial: serial}
	matching := slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return !q.matches(d.Address) })
	slices.SortFunc(matching, func(a, b Difference) int { return strings.Compare(a.Address, b.Address) })
	var from, to int
	page.Pages, from, to = pageOf(q, len(matching))
	for _, d := range matching[from:to] {
		rows, unchanged := valuediff.Rows(d.Values, mostValue)
		symbol := valuediff.Row{Action: valuediff.ActionOf(d.Values.Before, d.Values.After)}.Symbol()
		one := ChangedObject{Address: d.Address, Name: Text(d.Address), Symbol: symbol, Class: symbolClasses[symbol], Unchanged: unchanged}
		if len(rows) > mostRows {
			one.More, rows = len(rows)-mostRows, rows[:mostRows]
		}
		one.Rows = newRows(rows)
		page.Objects = append(page.Objects, one)
	}
	return page
}

// Progress is the page of the running operation of a deployment.
type Progress struct {
	Unit       Unit
	Pictured   bool // there are few enough components for a picture
	Holders    []Holder
	Serial     *Serial // of the operation that goes on, or was the last one
	Unfinished bool
	Running    bool // somebody is alive who changes something
	Done       int
	Components []WorkedOn
	More       int
}

// Holder is somebody who has locked the state, or parts of it.
type Holder struct {
	Text  string
	Since Time
	Parts []string
}

// WorkedOn is a component that the operation has to do with.
type WorkedOn struct {
	Of                 stackaddrs.AbsComponent
	Name, Stage, Class string
	Objects            int      // that were changed so far
	Touched            []string // that are about to be changed
}

// Changed is the stage of a component of which something was saved, and not known whether all was.
const Changed = "changed"

// Looks returns the look of a component in the picture: that of the least advanced of its
// instances.
func (p Progress) Looks(c graph.Component) picture.Class {
	look := picture.Class("")
	for _, w := range p.Components {
		switch {
		case w.Of != c.Addr:
		case !w.Over() && !p.Running:
			return picture.Failed
		case !w.Over():
			return picture.Working
		case w.Stage != Changed:
			look = picture.Done
		}
	}
	return look
}

// Over reports whether nothing is left to do with the component.
func (w WorkedOn) Over() bool { return w.Class == "good" || w.Class == "quiet" }

// Summary is one sentence about the progress, for those who are told of changes.
func (p Progress) Summary() string {
	switch {
	case len(p.Holders) == 0 && p.Unfinished:
		return "The operation was cut off after " + count(p.Done, "component") + "."
	case len(p.Holders) == 0:
		return "Nothing is running."
	}
	rest, are := len(p.Components)+p.More-p.Done, "changed or in work"
	if !p.Running {
		are = "not done"
	}
	return p.Holders[0].Text + ": " + count(p.Done, "component") + " done, " + count(rest, "component") + " " + are + "."
}
