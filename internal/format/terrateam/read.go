// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// Read reads a configuration.
func Read(filename string, src []byte) (*Config, hcl.Diagnostics) {
	root, diags := yamldoc.Parse(filename, src)
	config := &Config{}
	if diags.HasErrors() || root == nil {
		return config, diags
	}
	r := &reader{filename: filename, diags: diags}
	for _, entry := range r.keys(yamldoc.Resolve(root), "the configuration", topKeys, nil) {
		switch entry.Name {
		case "stacks":
			for _, entry := range r.keys(entry.Value, "stacks", []string{"names"}, formerKeys) {
				for _, stack := range r.entries(entry.Value, "names") {
					config.Stacks = append(config.Stacks, r.stack(stack))
				}
			}
		case "dirs":
			for _, dir := range r.entries(entry.Value, "dirs") {
				config.Dirs = append(config.Dirs, r.dir(dir))
			}
		case "apply_requirements":
			config.Requirements = r.requirements(entry.Value)
		case "when_modified":
			config.WhenModified = r.whenModified(entry.Value)
		}
	}
	return config, r.diags
}

// The keys of the format. Those that say nothing about order are known, but not read.
var (
	topKeys = []string{
		"stacks", "dirs", "when_modified", "apply_requirements", "access_control", "automerge", "batch_runs", "checkout_strategy",
		"config_builder", "cost_estimation", "create_and_select_workspace", "create_if_missing", "default_branch_overrides",
		"default_tf_version", "definitions", "destination_branches", "drift", "enabled", "engine", "hooks", "indexer",
		"integrations", "notifications", "parallel_runs", "storage", "tags", "tree_builder", "version", "workflows",
	}
	stackKeys = []string{"tag_query", "stacks", "variables", "rules"}
	ruleKeys  = []string{"plan_after", "apply_after", "modified_by", "auto_apply"}
	dirKeys   = []string{
		"tags", "workspaces", "when_modified", "stacks", "create_and_select_workspace", "create_if_missing", "lock_branch_target",
	}
	workspaceKeys = []string{"tags", "when_modified", "create_if_missing"}
	modifiedKeys  = []string{"file_patterns", "depends_on", "autoplan", "autoplan_draft_pr", "autoapply"}
)

// formerKeys are those of the generation before nested stacks, with their replacements (B-25).
var formerKeys = map[string]string{
	"on_change":                          "Use modified_by in rules of the stacks that are to follow.",
	"can_apply_after":                    "Use rules.apply_after.",
	"run_strategy":                       "Use rules.auto_apply, with rules.plan_after or rules.apply_after.",
	"allow_workspace_in_multiple_stacks": "A directory belongs to exactly one stack with a tag_query; group such stacks with a nested one.",
	"engine":                             "Set engine at the top of the file, or in an entry of workflows.",
}

type reader struct {
	filename string
	diags    hcl.Diagnostics
}

func (r *reader) at(n *yaml.Node) *hcl.Range { return yamldoc.Range(r.filename, n) }

func (r *reader) problem(code problem.Code, at *hcl.Range, summary, detail string, args ...any) {
	r.diags = r.diags.Append(problem.New(code, at, summary, detail, args...))
}

// entries returns the entries of a mapping, and none for null.
func (r *reader) entries(n *yaml.Node, what string) []yamldoc.Pair {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.problem(problem.Syntax, r.at(n), "Invalid value", "This is to be a mapping, %s with keys and values, not %s.", what, describe(n))
		return nil
	}
	entries, diags := yamldoc.Pairs(r.filename, n)
	r.diags = r.diags.Extend(diags)
	return entries
}

// keys returns the entries of a mapping with known keys.
func (r *reader) keys(n *yaml.Node, what string, known []string, former map[string]string) []yamldoc.Pair {
	entries := r.entries(n, what)
	return slices.DeleteFunc(entries, func(entry yamldoc.Pair) bool {
		if slices.Contains(known, entry.Name) {
			return false
		}
		hint := former[entry.Name]
		if hint == "" {
			hint = "The keys are " + strings.Join(known, ", ") + "."
			if near := nearest.Name(entry.Name, known); near != "" {
				hint = fmt.Sprintf("Did you mean %q? %s", near, hint)
			}
		} else {
			hint = "It was removed when stacks became nested. " + hint
		}
		r.problem(problem.UnknownKey, r.at(entry.Key), "Unknown key", "There is no key %q in %s. %s", entry.Name, what, hint)
		return true
	})
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func describe(n *yaml.Node) string {
	if kind := yamldoc.Kind(n); kind != "null" {
		return "a " + kind
	}
	return "null"
}

// text returns a string.
func (r *reader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		hint := ""
		if n.Kind == yaml.ScalarNode && !isNull(n) {
			hint = " Put it in quotes."
		}
		r.problem(problem.Syntax, r.at(n), "Invalid value", "%s is to be a text, not %s.%s", upperFirst(what), describe(n), hint)
		return ""
	}
	return n.Value
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func (r *reader) boolean(n *yaml.Node, what string) *bool {
	if isNull(n) {
		return nil
	}
	value, err := strconv.ParseBool(strings.ToLower(n.Value))
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || err != nil {
		r.problem(problem.Syntax, r.at(n), "Invalid value", "%s is to be true or false, not %s.", upperFirst(what), describe(n))
		return nil
	}
	return &value
}

// list returns the elements of a list. Null is an empty one.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.problem(problem.NotASet, r.at(n), "Invalid value", "%s is to be a list, not %s.", upperFirst(what), describe(n))
		return nil
	}
	elements := make([]*yaml.Node, len(n.Content))
	for i, element := range n.Content {
		elements[i] = yamldoc.Resolve(element)
	}
	return elements
}

func (r *reader) texts(n *yaml.Node, what string) []string {
	var texts []string
	for _, element := range r.list(n, what) {
		texts = append(texts, r.text(element, "an element of "+what))
	}
	return texts
}

func (r *reader) refs(n *yaml.Node, what string) []Ref {
	var refs []Ref
	for _, element := range r.list(n, what) {
		refs = append(refs, Ref{Name: r.text(element, "an element of "+what), Range: r.at(element)})
	}
	return refs
}

func (r *reader) query(n *yaml.Node, what string) tagquery.Query {
	text := r.text(n, what)
	q, err := tagquery.Parse(text)
	if wrong, ok := errors.AsType[*tagquery.Error](err); ok {
		r.problem(problem.BadTagQuery, yamldoc.Within(r.filename, n, wrong.Offset, max(wrong.Length, 1)), "Invalid tag query",
			"In the tag query %q %s.", text, wrong.Message)
	}
	return q
}

func (r *reader) stack(entry yamldoc.Pair) *Stack {
	s := &Stack{Name: entry.Name, Range: r.at(entry.Key)}
	var query, misplaced *yaml.Node
	// B-31: auto_apply may stand next to rules.
	for _, entry := range r.keys(entry.Value, "a stack", append([]string{"auto_apply"}, stackKeys...), formerKeys) {
		switch entry.Name {
		case "tag_query":
			query = entry.Value
			s.Query = r.query(entry.Value, "tag_query")
		case "stacks":
			s.Nested = true
			s.Members = r.refs(entry.Value, "stacks")
		case "variables":
			s.Variables = r.variables(entry.Value)
		case "rules":
			r.rules(&s.Rules, entry.Value)
		case "auto_apply":
			misplaced = entry.Key
			s.Rules.AutoApply = r.boolean(entry.Value, "auto_apply")
		}
	}
	if misplaced != nil {
		r.diags = r.diags.Append(problem.Warning(problem.UnknownKey, r.at(misplaced), "Misplaced key",
			"auto_apply belongs inside of rules, as in rules: {auto_apply: true}. It is taken as if it were there."))
	}
	switch {
	case query != nil && s.Nested:
		r.problem(problem.Conflict, s.Range, "Conflicting stack contents",
			"The stack %q has tag_query, which makes it one of directories, and stacks, which makes it one of stacks. Remove one of them.", s.Name)
	case query == nil && !s.Nested:
		r.problem(problem.Syntax, s.Range, "Stack without content",
			"The stack %q has neither tag_query nor stacks. Add tag_query to select directories, or stacks to hold other stacks.", s.Name)
	}
	return s
}

func (r *reader) variables(n *yaml.Node) map[string]string {
	variables := map[string]string{}
	for _, entry := range r.entries(n, "variables") {
		if entry.Name == "" || strings.ContainsAny(entry.Name, "=\x00") {
			r.problem(problem.Syntax, r.at(entry.Key), "Invalid variable name",
				"The variable %q cannot be an environment variable: a name is not empty and has no equals sign.", entry.Name)
			continue
		}
		variables[entry.Name] = r.text(entry.Value, "the variable "+entry.Name)
		if strings.Contains(variables[entry.Name], "\x00") {
			r.problem(problem.BadValue, r.at(entry.Value), "Invalid value for variable",
				"The value of %q has a zero byte, which nothing in an environment can have.", entry.Name)
		}
	}
	return variables
}

func (r *reader) rules(rules *Rules, n *yaml.Node) {
	planAfter := false
	for _, entry := range r.keys(n, "rules", ruleKeys, formerKeys) {
		switch entry.Name {
		case "plan_after":
			planAfter = !isNull(entry.Value)
			rules.PlanAfter = r.refs(entry.Value, entry.Name)
		case "apply_after":
			rules.ApplyAfter = r.refs(entry.Value, entry.Name)
		case "modified_by":
			rules.ModifiedBy = r.refs(entry.Value, entry.Name)
		case "auto_apply":
			rules.AutoApply = r.boolean(entry.Value, entry.Name)
		}
	}
	if !planAfter && len(rules.ModifiedBy) > 0 { // B-10
		rules.PlanAfter, rules.ImpliedPlanAfter = rules.ModifiedBy, true
	}
}

func (r *reader) dir(entry yamldoc.Pair) DirRule {
	rule := DirRule{Range: r.at(entry.Key)}
	clean := path.Clean(entry.Name)
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		r.problem(problem.BadPath, rule.Range, "Directory outside of the repository",
			"%q is not below the root of the repository. Write the path from there, without a slash at the beginning.", entry.Name)
		clean = "."
	}
	pattern, err := glob.Compile(clean)
	if err != nil {
		r.problem(problem.BadPath, rule.Range, "Invalid pattern", "%s.", upperFirst(err.Error()))
	}
	rule.Pattern = pattern
	for _, entry := range r.keys(entry.Value, "an entry of dirs", dirKeys, nil) {
		switch entry.Name {
		case "tags":
			rule.Tags = r.texts(entry.Value, "tags")
		case "workspaces", "stacks": // the latter is the name of the former for other engines than terraform
			for _, entry := range r.entries(entry.Value, entry.Name) {
				rule.Workspaces = append(rule.Workspaces, r.workspace(entry))
			}
		case "when_modified":
			rule.WhenModified = r.whenModified(entry.Value)
		}
	}
	slices.SortFunc(rule.Workspaces, func(a, b Workspace) int { return strings.Compare(a.Name, b.Name) })
	return rule
}

func (r *reader) workspace(entry yamldoc.Pair) Workspace {
	w := Workspace{Name: entry.Name}
	if w.Name == "" || w.Name[0] == '-' || w.Name == "." || w.Name == ".." || strings.Contains(w.Name, "\x00") {
		r.problem(problem.BadValue, r.at(entry.Key), "Invalid workspace name",
			"There cannot be a workspace %q: a name is not empty, does not begin with a dash, and is not \".\" or \"..\".", w.Name)
	}
	for _, entry := range r.keys(entry.Value, "a workspace", workspaceKeys, nil) {
		switch entry.Name {
		case "tags":
			w.Tags = r.texts(entry.Value, "tags")
		case "when_modified":
			w.WhenModified = r.whenModified(entry.Value)
		}
	}
	return w
}

func (r *reader) whenModified(n *yaml.Node) WhenModified {
	var w WhenModified
	for _, entry := range r.keys(n, "when_modified", modifiedKeys, nil) {
		switch entry.Name {
		case "file_patterns":
			if isNull(entry.Value) {
				continue
			}
			patterns := []FilePattern{}
			for _, element := range r.list(entry.Value, entry.Name) {
				patterns = append(patterns, r.filePattern(element))
			}
			w.FilePatterns = &patterns
		case "depends_on":
			w.DependsOn = r.dependsOn(entry.Value)
		}
	}
	return w
}

// filePattern checks a pattern, with a name without special characters in the place of ${DIR}.
func (r *reader) filePattern(n *yaml.Node) FilePattern {
	p := FilePattern{Text: r.text(n, "an element of file_patterns"), Range: r.at(n)}
	if _, err := glob.Compile(strings.ReplaceAll(strings.TrimPrefix(p.Text, "!"), dirVariable, "dir")); err != nil {
		r.problem(problem.BadPath, p.Range, "Invalid pattern", "%s.", upperFirst(err.Error()))
	}
	return p
}

func (r *reader) dependsOn(n *yaml.Node) *DependsOn {
	d := &DependsOn{Range: r.at(n)}
	query := n
	switch {
	case isNull(n):
		return nil
	case n.Kind == yaml.MappingNode:
		query = nil
		for _, entry := range r.keys(n, "depends_on", []string{"tag_query", "prune_on_no_change"}, nil) {
			if entry.Name == "tag_query" {
				query = entry.Value
				d.Range = r.at(query)
			} else if prune := r.boolean(entry.Value, entry.Name); prune != nil {
				d.PruneOnNoChange = *prune
			}
		}
		if query == nil {
			r.problem(problem.Syntax, d.Range, "Missing tag query", "depends_on needs tag_query, the query of the directories to wait for.")
			return nil
		}
	}
	if query.Kind == yaml.ScalarNode && strings.TrimSpace(query.Value) == "" {
		return nil // the same as nothing, not everything
	}
	d.Query = r.query(query, "depends_on")
	return d
}
