// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Rules of documents about plans:
//
//   - M1. There are no values in them, only addresses, actions and numbers, and the messages of
//     checks and errors, which show nothing that is sensitive: nothing in them is secret.
//   - M2. No text of others ends the place that it is in or means anything: it is code, with all
//     signs that matter written as entities. Outside of code, sites find names of people and of
//     issues behind entities, too.
//   - M3. Lines that do not fit are left out, which a note says: at first, from the end, those that
//     take nothing away, and then the rest. No element is left open.

// Unit is a stack or a root module.
type Unit struct {
	Name    string
	State   string   // how it ended, in words of ours; "" for one that was only planned
	Problem *Problem // the first error of one that failed, nil if none is known
	Parts   []Part   // sorted by name
	Checks  Checks
}

// Part is a component instance, or all of a unit of which no more is known.
type Part struct {
	Name    string // "" for all of the unit
	Counts  Counts
	Changes []Change
}

// Counts are the numbers of resource instances for which a plan has changes. A replacement is none
// of the others.
type Counts struct{ Add, Change, Destroy, Replace, Deferred int }

func (c Counts) plus(o Counts) Counts {
	return Counts{c.Add + o.Add, c.Change + o.Change, c.Destroy + o.Destroy, c.Replace + o.Replace, c.Deferred + o.Deferred}
}

// Change is a planned change of a resource instance.
type Change struct {
	Action  string
	Address string
	rank    int
}

// The ranks of changes: those that take something away come first.
const (
	replaces = iota
	destroys
	forgets
	updates
	creates
	others
	deferred
)

// Summarize summarizes a plan.
func Summarize(name string, plan *stackplan.Plan) Unit {
	unit := Unit{Name: name}
	for _, component := range plan.Components {
		unit.Checks.add(component)
		part := Part{}
		if component.Source != "" { // a root module is none
			part.Name = component.Addr.String()
		}
		for _, change := range component.Changes {
			part.add(change)
		}
		for _, later := range component.Deferred {
			part.Counts.Deferred++
			part.Changes = append(part.Changes, Change{"deferred", address(later.Change), deferred})
		}
		if component.DeferredReason != "" && part.Counts.Deferred == 0 {
			part.Counts.Deferred++
			part.Changes = append(part.Changes, Change{"deferred", component.Addr.String(), deferred})
		}
		slices.SortStableFunc(part.Changes, func(a, b Change) int { return cmp.Or(a.rank-b.rank, cmp.Compare(a.Address, b.Address)) })
		if len(part.Changes) > 0 {
			unit.Parts = append(unit.Parts, part)
		}
	}
	return unit
}

// Counted returns a unit of whose plan only the numbers are known. Of these, replacements are not
// told apart.
func Counted(name string, counts *stackplan.Counts) Unit {
	if counts == nil || counts.Total() == 0 {
		return Unit{Name: name}
	}
	return Unit{Name: name, Parts: []Part{{
		Counts: Counts{Add: counts.Add, Change: counts.Change, Destroy: counts.Remove, Deferred: counts.Defer},
	}}}
}

func address(change *engine.Change) string {
	text := change.Addr.String()
	if change.Deposed != "" {
		text += " (deposed " + string(change.Deposed) + ")"
	}
	return text
}

func (p *Part) add(change *engine.Change) {
	if !stackplan.IsChange(change) {
		return
	}
	one := Change{Action: string(change.Action), Address: address(change), rank: others}
	switch {
	case change.Action.Replaces():
		p.Counts.Replace++
		one.Action, one.rank = "replace", replaces
	case change.Action == engine.ActionDelete:
		p.Counts.Destroy++
		one.Action, one.rank = "destroy", destroys
	case change.Action == engine.ActionForget || change.Action.ForgetsOld():
		if change.Action.ForgetsOld() {
			p.Counts.Add++
		}
		one.Action, one.rank = "forget", forgets
	case change.Action == engine.ActionUpdate:
		p.Counts.Change++
		one.rank = updates
	case change.Action == engine.ActionCreate:
		p.Counts.Add++
		one.rank = creates
	case change.Importing != nil:
		one.Action = "import"
	case change.IsMove():
		one.Action = "move"
	}
	p.Changes = append(p.Changes, one)
}

// counts adds up all parts.
func (u Unit) counts() Counts {
	var sum Counts
	for _, part := range u.Parts {
		sum = sum.plus(part.Counts)
	}
	return sum
}

// takesAway reports whether something is replaced or destroyed.
func (u Unit) takesAway() bool {
	counts := u.counts()
	return counts.Replace+counts.Destroy > 0
}

// Write returns the document: a table of all units, those first that replace or destroy something,
// then those that failed; errors and checks that fail; and folded details.
func Write(options Options, units []Unit) []byte {
	units = slices.Clone(units)
	slices.SortStableFunc(units, func(a, b Unit) int { return a.rank() - b.rank() })
	note := options.note()
	head := "## " + title(options.Title) + "\n\n" + totals(units) + "\n" + options.origin() + "\n" +
		"| stack | component | add | change | destroy | replace | deferred | |\n|---|---|---:|---:|---:|---:|---:|---|\n"
	var table []row
	var folds []*fold
	for _, unit := range units {
		table = append(table, rows(unit)...)
		folds = append(folds, newFold(unit))
	}

	// Rule M3.
	left := roomBeside(cmp.Or(options.Limit, MaxLength), head, note)
	results := ""
	for _, away := range []bool{true, false} {
		for i := range table {
			if table[i].away == away {
				table[i].kept = left.take(table[i].text)
			}
		}
		if away {
			results = errorsOf(units, &left) + checksOf(units, &left)
		}
		for _, fold := range folds {
			fold.keep(away, &left)
		}
		if away {
			results += attachments(options.Attached, &left)
		}
	}

	var b strings.Builder
	b.WriteString(head)
	for _, row := range table {
		if row.kept {
			b.WriteString(row.text)
		}
	}
	b.WriteString(results)
	for _, fold := range folds {
		fold.write(&b)
	}
	if left.full {
		b.WriteString(note)
	}
	return []byte(b.String())
}

// rank is the place of a unit among others: the lower, the more it matters to a reader.
func (u Unit) rank() int {
	switch {
	case u.takesAway():
		return 0
	case u.Problem != nil:
		return 1
	}
	return 2
}

func totals(units []Unit) string {
	var sum Counts
	for _, unit := range units {
		sum = sum.plus(unit.counts())
	}
	line := fmt.Sprintf("%d to add, %d to change, %d to destroy, %d to replace", sum.Add, sum.Change, sum.Destroy, sum.Replace)
	if sum.Deferred > 0 {
		line += fmt.Sprintf(", %d deferred", sum.Deferred)
	}
	stacks := fmt.Sprintf("%d stacks", len(units))
	if len(units) == 1 {
		stacks = "1 stack"
	}
	return line + " in " + stacks + "."
}

// row is a line of the table.
type row struct {
	text string
	away bool // its part replaces or destroys something, or it has failed
	kept bool
}

func rows(unit Unit) []row {
	if len(unit.Parts) == 0 {
		return []row{{
			away: unit.Problem != nil,
			text: fmt.Sprintf("| %s | | | | | | | %s |\n", Code(unit.Name), cmp.Or(unit.end(), "no changes")),
		}}
	}
	var rows []row
	for i, part := range unit.Parts {
		name, state := "", unit.end()
		if part.Name != "" {
			name = Code(part.Name)
		}
		if i > 0 {
			state = ""
		}
		c := part.Counts
		rows = append(rows, row{
			away: c.Replace+c.Destroy > 0 || unit.Problem != nil,
			text: fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |\n",
				Code(unit.Name), name, number(c.Add), number(c.Change), marked(c.Destroy), marked(c.Replace), number(c.Deferred), state),
		})
	}
	return rows
}

// number leaves out zeros, which are most.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// marked stands out: it is the number of objects that are taken away.
func marked(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("**%d**", n)
}

// end says how a unit ended.
func (u Unit) end() string {
	if u.Problem == nil {
		return Text(u.State)
	}
	return Text(u.State) + ": " + Code(u.Problem.Summary)
}

// fold is the folded list of changes of a unit.
type fold struct {
	name  string
	parts []foldedPart
	any   bool // something of it is kept
}

type foldedPart struct {
	head  string
	lines []string
	away  int // how many lines replace or destroy something, which are the first ones
	kept  int // how many lines are kept, from the first one
}

const foldEnd = "\n</details>\n"

func (f *fold) start() string { return "\n<details><summary>" + Code(f.name) + "</summary>\n\n" }

func newFold(unit Unit) *fold {
	f := &fold{name: unit.Name}
	for _, part := range unit.Parts {
		folded := foldedPart{}
		if part.Name != "" {
			folded.head = Code(part.Name) + "\n\n"
		}
		for _, change := range part.Changes {
			action := change.Action
			if change.rank <= destroys {
				action = "**" + action + "**"
				folded.away++
			}
			folded.lines = append(folded.lines, "- "+action+" "+Code(change.Address)+"\n")
		}
		f.parts = append(f.parts, folded)
	}
	return f
}

// keep takes room for the lines that take something away, or for the others, and for the texts
// around them.
func (f *fold) keep(away bool, left *room) {
	for i := range f.parts {
		part := &f.parts[i]
		end := len(part.lines)
		if away {
			end = part.away
		}
		for part.kept < end {
			texts := []string{part.lines[part.kept]}
			if !f.any {
				texts = append(texts, f.start(), foldEnd)
			}
			if part.kept == 0 {
				texts = append(texts, "\n", part.head)
			}
			if !left.take(texts...) {
				return
			}
			f.any = true
			part.kept++
		}
	}
}

func (f *fold) write(b *strings.Builder) {
	if !f.any {
		return
	}
	b.WriteString(f.start())
	apart := ""
	for _, part := range f.parts {
		if part.kept > 0 {
			b.WriteString(apart + part.head + strings.Join(part.lines[:part.kept], ""))
			apart = "\n"
		}
	}
	b.WriteString(foldEnd)
}
