// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/document/terraformplan"
	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planPart is a part of a saved plan that has a document of its own in terraform's format: a
// component, or a whole root module.
type planPart struct {
	plan      *savedPlan
	component *stackplan.Component
	address   string // "" of a root module
}

// partsOf returns the parts of a plan in the order of their addresses.
func partsOf(p *savedPlan) []planPart {
	if p.IsRoot {
		return []planPart{{p, p.Components[0], ""}}
	}
	var parts []planPart
	for _, component := range p.Components {
		parts = append(parts, planPart{p, component, component.Addr.String()})
	}
	slices.SortFunc(parts, func(a, b planPart) int { return strings.Compare(a.address, b.address) })
	return parts
}

// showTerraform writes the document of one part of a plan or of a set.
func showTerraform(ctx context.Context, s *session.Session, args []string) error {
	plans, _, err := readPlans(ctx, s, args[0])
	if err != nil {
		return err
	}
	var found []planPart
	for i := range plans {
		for _, part := range partsOf(&plans[i]) {
			if len(args) == 1 || part.address == args[1] {
				found = append(found, part)
			}
		}
	}
	switch {
	case len(found) == 0 && len(args) > 1:
		return failure.Error("Component not in the plan", "The plan has no component %s. Name one with its stack and its key, as cairn show "+
			"names it.", args[1])
	case len(found) == 0:
		return failure.Error("Component not in the plan", "The plan has no components: there is nothing to show.")
	case len(found) > 1:
		return failure.Error("Several components", "This format is for one component, and these are %d: %s. Name one of them, or "+
			"write all with -out=DIR.", len(found), someParts(found))
	}
	doc, err := newDocuments(s).of(ctx, found[0])
	if err != nil {
		return err
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

// someParts names some parts of plans.
func someParts(parts []planPart) string {
	const most = 5
	var names []string
	for _, part := range parts[:min(len(parts), most)] {
		name := part.address
		if part.plan.unit != nil || name == "" {
			name = strings.TrimSpace(part.plan.Name + " " + name)
		}
		names = append(names, safetext.Name(name))
	}
	if more := len(parts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// writeTerraform writes the documents of all parts of plans and sets into a directory, a file each.
// All are made before the first is written.
func writeTerraform(ctx context.Context, s *session.Session, paths []string, dir string) error {
	if err := checkEmpty(dir); err != nil {
		return err
	}
	docs, names := newDocuments(s), fileNames{}
	type file struct {
		name string
		doc  *terraformplan.Document
	}
	var files []file
	for _, path := range paths {
		plans, _, err := readPlans(ctx, s, path)
		if err != nil {
			return err
		}
		for i := range plans {
			for _, part := range partsOf(&plans[i]) {
				doc, err := docs.of(ctx, part)
				if err != nil {
					return err
				}
				files = append(files, file{names.of(part), doc})
			}
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unwritable(err)
	}
	for _, one := range files {
		err := durable.Replace(filepath.Join(dir, one.name), func(w io.Writer) error { return document.WriteDocument(w, one.doc, true) })
		if err != nil {
			return unwritable(err)
		}
		s.Line("%s", filepath.Join(dir, one.name))
	}
	return nil
}

func unwritable(err error) error {
	return failure.Error("Documents not written", "%s.", failure.Capitalize(failure.Reason(err)))
}

// checkEmpty refuses a directory that has files: a program that reads all of them would take old
// ones for those of now.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unwritable(err)
	case len(entries) > 0:
		return failure.Error("Directory not empty", "There are files in %s already, and a scanner would take them for documents of these plans. "+
			"Name a directory that is new or empty.", dir)
	}
	return nil
}

// fileNames gives each part of a plan a name of its own.
type fileNames map[string]bool

// of returns the name of the plan and the address, with "_" for all that a shell or a file system
// may take for something else. A name that is taken gets a number.
func (n fileNames) of(part planPart) string {
	name := part.plan.Name
	if part.address != "" {
		name += "." + part.address
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, name)
	plain = strings.TrimLeft(plain, ".-") // no option, and no hidden file
	file := plain
	for i := 2; n[strings.ToLower(file)]; i++ { // some file systems know no case
		file = fmt.Sprintf("%s-%d", plain, i)
	}
	n[strings.ToLower(file)] = true
	return file + ".json"
}

// documents makes the documents of parts. What the parts of a plan have in common is read once.
type documents struct {
	s     *session.Session
	plans map[*savedPlan]*operation.TerraformPlans
}

func newDocuments(s *session.Session) *documents {
	return &documents{s, map[*savedPlan]*operation.TerraformPlans{}}
}

func (d *documents) of(ctx context.Context, part planPart) (*terraformplan.Document, error) {
	plan := part.plan
	if plan.IsRoot {
		return d.ofRoot(ctx, plan)
	}
	if d.plans[plan] == nil {
		stack := d.s.Stack()
		if plan.unit != nil {
			stack = stackOf(d.s, plan.unit)
		}
		of, diags := operation.NewTerraformPlans(ctx, stack, plan.Plan.Plan, plan.Made)
		if diags.HasErrors() {
			return nil, diags
		}
		d.plans[plan] = of
	}
	return d.plans[plan].Document(part.component)
}

// ofRoot makes the document of a root module, which is in the directory that a set names, or else
// in the current one.
func (d *documents) ofRoot(ctx context.Context, plan *savedPlan) (*terraformplan.Document, error) {
	surroundings := d.s.Stack().Env()
	dir := surroundings.Dir
	if plan.unit != nil {
		dir = filepath.Join(surroundings.WorkspaceDir(), filepath.FromSlash(plan.unit.Path))
	}
	return rootmodule.NewDocument(ctx, plan.File, rootmodule.DocumentOptions{
		Dir: env.Absolute(dir), Environ: surroundings.Environ, SchemaDir: engines.SchemaDir(),
	})
}
