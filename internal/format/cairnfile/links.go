// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/settings"
)

// upstreamType is the type of blocks that say where stacks are kept which publish outputs.
const upstreamType = "upstream"

// linkName is the name of rules that follow from deployment files.
const linkName = "upstream_input"

// Link is an output that deployment files of a stack have from another one, which publishes it.
type Link struct {
	Text   string    // the reference
	Source string    // the address of the other stack
	Range  hcl.Range // of the reference

	Dir         string   // of the other stack, as in [Stack]; "" if it is kept elsewhere
	Deployments []string // of which the output is made; nil for all
}

// upstream reads a block as the settings of a stack have it.
func (d *decoder) upstream(block *hclsyntax.Block) {
	if len(block.Labels) != 1 {
		d.problem(problem.BadValue, block.DefRange(), "Invalid block labels",
			"A block of this type has the address of a stack: upstream \"HOST/ORGANIZATION/PROJECT/STACK\" { … }.")
		return
	}
	for _, diag := range d.workspace.Upstreams.Decode(block.AsHCLBlock()) {
		switch {
		case diag.Extra != nil:
		case strings.HasPrefix(diag.Summary, "Unsupported "): // arguments and blocks, as the library says it
			diag.Extra = problem.UnknownKey
		default:
			diag.Extra = problem.BadValue
		}
		d.diags = d.diags.Append(diag)
	}
}

// finder reads deployment files of stacks, those of each directory once.
type finder struct {
	root      string // an absolute path
	shown     string // the same as users see it
	workspace *Workspace
	configs   map[string]*deployconfig.Config // by directory; nil for none
	diags     hcl.Diagnostics
}

// findLinks finds the links of stacks to others whose published values they have. Mistakes in their
// files are not reported here, but by the work on the stacks.
func findLinks(root string, w *Workspace) hcl.Diagnostics {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil //nolint:nilerr // nothing can be compared with it
	}
	f := &finder{root: abs, shown: root, workspace: w, configs: map[string]*deployconfig.Config{}}
	f.missingUpstreams()
	upstreams := map[string]settings.Upstreams{} // by directory
	for _, block := range w.Blocks {
		if block.Stack == nil || block.Stack.outline == nil || !block.Stack.outline.Takes {
			continue
		}
		dir := block.Stack.Dir
		config := f.config(dir)
		if config == nil || len(config.Upstreams) == 0 {
			continue
		}
		if _, known := upstreams[dir]; !known {
			upstreams[dir] = f.upstreams(dir)
		}
		block.Stack.Links = f.linksOf(block.Stack, config, upstreams[dir])
	}
	return f.diags
}

// missingUpstreams warns of upstream blocks that name a directory which is not there, so that they
// order nothing.
func (f *finder) missingUpstreams() {
	for _, source := range slices.Sorted(maps.Keys(f.workspace.Upstreams)) {
		mapped := f.workspace.Upstreams[source]
		if mapped.Stack == "" {
			continue
		}
		if info, err := os.Stat(mapped.Below(f.root).Stack); err != nil || !info.IsDir() {
			f.diags = f.diags.Append(problem.Warning(problem.BadPath, &mapped.Range, "Upstream stack not found",
				"There is no directory %q, so nothing is ordered by stack %s. Correct the path, which is relative to the root of the repository.",
				mapped.Stack, source))
		}
	}
}

// config returns the declarations of the deployment files in a directory, as far as they can be
// understood.
func (f *finder) config(dir string) *deployconfig.Config {
	config, known := f.configs[dir]
	if !known {
		config, _ = deployconfig.Load(f.path(dir)) //nolint:errcheck // see findLinks
		f.configs[dir] = config
	}
	return config
}

func (f *finder) path(dir string) string { return filepath.Join(f.root, filepath.FromSlash(dir)) }

// upstreams says where the stacks are kept from which the one in a directory may have something, by
// its settings and by this file. Paths are absolute.
func (f *finder) upstreams(dir string) settings.Upstreams {
	read, diags := settings.Read(f.path(dir), map[string]*hcl.File{})
	if diags.HasErrors() {
		read.Upstreams = nil // see findLinks
	}
	all := settings.Upstreams{}
	for source, shared := range f.workspace.Upstreams {
		all[source] = shared.Below(f.root)
	}
	for source, own := range read.Upstreams {
		own = own.Below(f.path(dir))
		if shared, both := all[source]; both && !shared.Same(own) {
			own.Range.Filename = filepath.Join(f.shown, filepath.FromSlash(dir), own.Range.Filename)
			f.diags = f.diags.Append(problem.New(problem.DuplicateID, &shared.Range, "Conflicting upstream mappings",
				"This block says that the stack %s is kept elsewhere than the block at %s does. Remove one of the two.",
				source, problem.PlaceOf(own.Range)))
		}
		all[source] = own
	}
	return all
}

// linksOf returns the links of the deployment of a stack to other stacks, or those of all its
// deployments if none is named.
func (f *finder) linksOf(stack *Stack, config *deployconfig.Config, upstreams settings.Upstreams) []Link {
	names := config.Order
	if stack.Deployment != "" {
		names = []string{stack.Deployment}
	}
	var links []Link
	for _, name := range names {
		declared := config.Deployments[name]
		if declared == nil {
			continue
		}
		for _, taken := range config.Taken(declared) {
			link := Link{Text: taken.String(), Source: taken.Input.Source.String(), Range: taken.Range}
			link.Range.Filename = filepath.Join(f.shown, filepath.FromSlash(stack.Dir), link.Range.Filename)
			if mapped := upstreams[link.Source].Stack; mapped != "" {
				if rel, err := filepath.Rel(f.root, mapped); err == nil && filepath.IsLocal(rel) {
					link.Dir = path.Clean(filepath.ToSlash(rel))
				}
			}
			if link.Dir != "" && f.config(link.Dir) != nil {
				link.Deployments = f.config(link.Dir).Publishers(taken.Output)
			}
			links = append(links, link)
		}
	}
	return links
}

// linksOf makes rules of the links of a stack's deployment files to other stacks. A stack in the
// same directory is none of these.
func (r *resolver) linksOf(block *Block) {
	if block.Stack == nil || len(block.Stack.Links) == 0 {
		return
	}
	if r.inDir == nil {
		r.inDir = map[string][]*Block{}
		for _, other := range r.model.Blocks {
			if other.Stack != nil {
				r.inDir[other.Stack.Dir] = append(r.inDir[other.Stack.Dir], other)
			}
		}
	}
	known := map[*Block]bool{}
	for _, link := range block.Stack.Links {
		if link.Dir == "" || link.Dir == block.Stack.Dir {
			continue
		}
		made := rule{of: block, rel: Input, origin: &Rule{Name: linkName, Rel: Input, Range: link.Range}, writer: block}
		for _, other := range r.inDir[link.Dir] {
			if known[other] || !link.isOf(other.Stack) {
				continue
			}
			if !r.spend(link.Range, order.StepsPerReferenced) {
				return
			}
			known[other] = true
			made.targets = append(made.targets, target{other, Reference{Text: link.Text, Range: link.Range}})
			r.model.publishers[block] = append(r.model.publishers[block], other)
		}
		if len(made.targets) > 0 {
			r.model.rules = append(r.model.rules, made)
		}
	}
}

// isOf reports whether the output is made of a deployment of a stack.
func (l *Link) isOf(stack *Stack) bool {
	return stack.Deployment == "" || l.Deployments == nil || slices.Contains(l.Deployments, stack.Deployment)
}
