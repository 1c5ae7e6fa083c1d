// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/problem"
)

const dirVariable = "${DIR}"

// defaultPatterns are the files that make a directory part of a change, if nothing else is
// configured: those of the format, and those of the Terraform Stacks language.
var defaultPatterns = []FilePattern{
	{Text: dirVariable + "/*.tf"},
	{Text: dirVariable + "/*.tfvars"},
	{Text: dirVariable + "/*.tfcomponent.hcl"},
	{Text: dirVariable + "/*.tfcomponent.json"},
	{Text: dirVariable + "/*.tfstack.hcl"},
	{Text: dirVariable + "/*.tfstack.json"},
}

// Dirspace is a directory together with a workspace.
type Dirspace struct {
	Dir       string // with slashes, from the root of the repository, which is "."
	Workspace string
	Tags      []string // as configured, without those that every dirspace has
	IsStack   bool     // of the Terraform Stacks language, rather than a root module; known of those that [Load] finds

	DependsOn *DependsOn // with a query that is resolved against the directory; nil for none

	patterns patterns
}

// Name is the directory, with the workspace if it is not the default one.
func (d *Dirspace) Name() string {
	if d.Workspace == rollout.DefaultWorkspace {
		return d.Dir
	}
	return d.Dir + " (" + d.Workspace + ")"
}

// ownTags are the tags that are known before stacks are.
func (d *Dirspace) ownTags() []string {
	return append(slices.Clone(d.Tags), "dir:"+d.Dir, "workspace:"+d.Workspace)
}

// Watches reports whether a change of a file is a change of the dirspace.
func (d *Dirspace) Watches(file string) bool { return d.patterns.match(file) }

// FilePatterns are the patterns of files whose change is one of the dirspace, and those that take
// away from them, from the root of the repository.
func (d *Dirspace) FilePatterns() (with, without []string) {
	texts := func(patterns []glob.Pattern) []string {
		var list []string
		for _, p := range patterns {
			list = append(list, p.String())
		}
		return list
	}
	return texts(d.patterns.with), texts(d.patterns.without)
}

// patterns match files that one of some patterns matches, and none of others.
type patterns struct{ with, without []glob.Pattern }

func (p patterns) match(file string) bool {
	matches := func(g glob.Pattern) bool { return g.Match(file) }
	return slices.ContainsFunc(p.with, matches) && !slices.ContainsFunc(p.without, matches)
}

// Dirspaces returns the dirspaces of a repository with these files, paths with slashes from its
// root. It is sorted by directory and workspace.
//
// A directory is named in dirs, or a pattern there matches it or a file in it; of several the
// longest pattern counts. Others are taken as they come, but for those that used is true for:
// modules are not work by themselves. In any case a file in the directory has to be one that makes
// it part of a change: directories with empty file_patterns are left out.
func (c *Config) Dirspaces(files []string, used func(dir string) bool) ([]*Dirspace, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	content := map[string][]string{}
	for _, file := range files {
		content[path.Dir(file)] = append(content[path.Dir(file)], file)
	}
	rules := c.indexRules()
	var dirspaces []*Dirspace
	for _, dir := range slices.Sorted(maps.Keys(content)) {
		slices.Sort(content[dir])
		rule, found := rules.ruleFor(dir, content[dir])
		if !found && used(dir) {
			continue
		}
		workspaces := rule.Workspaces
		if len(workspaces) == 0 {
			workspaces = []Workspace{{Name: rollout.DefaultWorkspace}}
		}
		for _, workspace := range workspaces {
			d, moreDiags := c.dirspace(dir, rule, workspace)
			diags = diags.Extend(moreDiags)
			if slices.ContainsFunc(content[dir], d.patterns.matchAlone) {
				dirspaces = append(dirspaces, d)
			}
		}
	}
	return dirspaces, diags.Extend(c.unusedDirs(content))
}

// matchAlone is match without the patterns that take away: these say that a change does not count,
// not that the directory is none.
func (p patterns) matchAlone(file string) bool {
	return slices.ContainsFunc(p.with, func(g glob.Pattern) bool { return g.Match(file) })
}

// ruleIndex finds the entry of dirs for a directory.
type ruleIndex struct {
	rules []DirRule
	named map[string]int // by directory
	globs []int          // the others, the one that counts most first
}

func (c *Config) indexRules() ruleIndex {
	index := ruleIndex{rules: c.Dirs, named: map[string]int{}}
	for i := range c.Dirs {
		text := c.Dirs[i].Pattern.String()
		if _, known := index.named[text]; !known {
			index.named[text] = i
		}
		if glob.HasMeta(text) {
			index.globs = append(index.globs, i)
		}
	}
	slices.SortStableFunc(index.globs, func(i, j int) int {
		a, b := c.Dirs[i].Pattern.String(), c.Dirs[j].Pattern.String()
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return index
}

// ruleFor returns the entry of dirs for a directory with some files.
func (x ruleIndex) ruleFor(dir string, files []string) (rule DirRule, found bool) {
	if i, ok := x.named[dir]; ok {
		return x.rules[i], true
	}
	for _, i := range x.globs {
		if pattern := x.rules[i].Pattern; pattern.Match(dir) || slices.ContainsFunc(files, pattern.Match) {
			return x.rules[i], true
		}
	}
	return DirRule{}, false
}

func (c *Config) dirspace(dir string, rule DirRule, workspace Workspace) (*Dirspace, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	d := &Dirspace{Dir: dir, Workspace: workspace.Name, Tags: slices.Concat(rule.Tags, workspace.Tags)}
	when := workspace.WhenModified.over(rule.WhenModified).over(c.WhenModified)
	if when.DependsOn != nil {
		depends := *when.DependsOn
		depends.Query = depends.Query.At(dir)
		d.DependsOn = &depends
	}
	texts := defaultPatterns
	if when.FilePatterns != nil {
		texts = *when.FilePatterns
	}
	for _, text := range texts {
		expr, negated := strings.CutPrefix(text.Text, "!")
		// The directory stands for itself, whatever characters it has.
		expr = path.Clean(strings.ReplaceAll(expr, dirVariable, glob.Quote(dir)))
		pattern, err := glob.Compile(expr)
		if err != nil {
			diags = diags.Append(problem.New(problem.BadPath, text.Range, "Invalid pattern", "%s.", upperFirst(err.Error())))
			continue
		}
		if negated {
			d.patterns.without = append(d.patterns.without, pattern)
		} else {
			d.patterns.with = append(d.patterns.with, pattern)
		}
	}
	return d, diags
}

// unusedDirs warns of directories that are named, but do not exist.
func (c *Config) unusedDirs(content map[string][]string) hcl.Diagnostics {
	exist := map[string]bool{".": true}
	for dir := range content {
		for ; !exist[dir]; dir = path.Dir(dir) {
			exist[dir] = true
		}
	}
	var diags hcl.Diagnostics
	for _, rule := range c.Dirs {
		if text := rule.Pattern.String(); !glob.HasMeta(text) && !exist[text] {
			diags = diags.Append(problem.Warning(problem.BadPath, rule.Range, "Directory not found",
				"There is no directory %q in the repository, so this entry of dirs has no effect.", text))
		}
	}
	return diags
}

func compareDirspaces(a, b *Dirspace) int {
	return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Workspace, b.Workspace))
}
