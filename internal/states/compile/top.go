// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// topName is the file that says which machine gets which SLS files.
const topName = "top.sls"

// LoadTop reads the SLS files that the file top.sls in the root gives to a machine, by the
// machine's id, as [Load] reads files that are named. Of that file, the section of the environment
// of the options is used.
func LoadTop(files fs.FS, id string, opts LoadOptions) (*High, hcl.Diagnostics) {
	l := newLoader(files, opts)
	for _, target := range l.readTop() {
		if !target.matches(id) {
			continue
		}
		l.topMatched = true
		for _, sls := range target.states {
			name, ok := l.absolute(sls.Identifier, sls.Range)
			if ok && (!target.ignoreMissing || l.exists(name)) {
				l.visit(name, sls.Range)
			}
		}
	}
	if !l.topMatched && !l.diags.HasErrors() {
		l.problem(problem.UnknownRef, l.topSection, "No matching target",
			"In the environment %q of %s, no target matches the id %q of this machine.%s "+
				"Give the right one, or name the SLS files.", l.opts.Env, path.Join(opts.Dir, topName), id, l.topTargets())
	}
	l.extend()
	return l.high, l.diags
}

// target is an entry of an environment in the top file: a pattern for machines, and the files that
// they get.
type target struct {
	expression    string
	matches       func(id string) bool
	states        []Requisite // names of SLS files
	ignoreMissing bool
}

// readTop returns the targets of the environment, as far as they can be understood.
func (l *loader) readTop() []target {
	shown := path.Join(l.opts.Dir, topName)
	src, err := yamldoc.ReadFile(l.files, topName)
	if errors.Is(err, fs.ErrNotExist) {
		l.problem(problem.BadPath, nil, "No top file",
			"There is no file %s, which would name the SLS files of this machine. Make one, or name the SLS files.", shown)
		return nil
	}
	if err != nil {
		l.problem(problem.BadPath, nil, "Unreadable top file", "The file %s cannot be read: %s.", shown, safefile.Reason(err))
		return nil
	}
	root, diags := parse(shown, src)
	l.diags = l.diags.Extend(diags)
	if diags.HasErrors() {
		return nil
	}
	t := &topReader{fileReader: fileReader{decoder: decoder{file: shown}, env: l.opts.Env}}
	t.read(root)
	l.diags = l.diags.Extend(t.diags)
	l.topSection = t.section
	for _, one := range t.targets {
		l.topExpressions = append(l.topExpressions, strconv.Quote(one.expression))
	}
	return t.targets
}

// topTargets lists the targets that could have matched.
func (l *loader) topTargets() string {
	const most = 10
	switch n := len(l.topExpressions); {
	case n == 0:
		return " There are none."
	case n > most:
		return " There are " + strings.Join(l.topExpressions[:most], ", ") + " and " + strconv.Itoa(n-most) + " more."
	}
	return " There are " + strings.Join(l.topExpressions, ", ") + "."
}

func (l *loader) exists(sls string) bool {
	base := strings.ReplaceAll(sls, ".", "/")
	for _, file := range []string{base + ".sls", base + "/init.sls"} {
		if _, err := fs.Stat(l.files, file); err == nil {
			return true
		}
	}
	return false
}

// topReader reads the content of a top file.
type topReader struct {
	fileReader
	section *hcl.Range
	targets []target
}

func (t *topReader) read(root *yaml.Node) {
	if root == nil || root.Kind != yaml.MappingNode {
		t.diags = t.diags.Append(problem.New(problem.Syntax, &hcl.Range{Filename: t.file, Start: hcl.InitialPos, End: hcl.InitialPos},
			"Mapping expected",
			"A top file is a mapping from environments to targets, and from these to lists of SLS files: \"base: {'web*': [nginx]}\"."))
		return
	}
	var names []string
	for _, pair := range t.pairs(root) {
		names = append(names, pair.Name)
		if pair.Name != t.env {
			continue
		}
		t.section = yamldoc.Range(t.file, pair.Key)
		if pair.Value.Kind != yaml.MappingNode {
			t.problem(problem.Syntax, pair.Value, "Invalid environment",
				"The environment %q must be a mapping from targets to lists of SLS files; this is a %s.",
				pair.Name, yamldoc.Kind(pair.Value))
			continue
		}
		for _, one := range t.pairs(pair.Value) {
			t.target(one)
		}
	}
	if t.section == nil {
		t.problem(problem.UnknownRef, root, "Unknown environment",
			"The top file has no environment %q.%s Choose one that it has.", t.env, nearest.DidYouMean(t.env, names))
	}
}

// target reads the content of a target: a list of names and options, or a single name.
func (t *topReader) target(pair yamldoc.Pair) {
	one := target{expression: pair.Name}
	match, matchNode := "glob", pair.Key
	elements := []*yaml.Node{pair.Value}
	if pair.Value.Kind != yaml.ScalarNode || yamldoc.Kind(pair.Value) == "null" {
		elements = t.list(pair.Value, "The value of \""+pair.Name+"\"")
	}
	for _, element := range elements {
		switch {
		case element.Kind == yaml.ScalarNode && element.Value != "":
			one.states = append(one.states, Requisite{Identifier: element.Value, Range: yamldoc.Range(t.file, element)})
		case element.Kind == yaml.MappingNode:
			for _, option := range t.pairs(element) {
				switch option.Name {
				case "match":
					match, matchNode = option.Value.Value, option.Value
				case "ignore_missing":
					one.ignoreMissing = t.value(option.Value) == true
				default:
					t.problem(problem.UnknownKey, option.Key, "Unknown target option", "Targets have no option %q.%s They have match and ignore_missing.",
						option.Name, nearest.DidYouMean(option.Name, []string{"match", "ignore_missing"}))
				}
			}
		default:
			t.problem(problem.Syntax, element, "Invalid SLS name", "Under a target stand names of SLS files; this is a %s.", yamldoc.Kind(element))
		}
	}
	var err error
	if one.matches, err = matcher(match, pair.Name); err != nil {
		t.problem(problem.Syntax, matchNode, "Unsupported target", "Whether the target %q is this machine cannot be said: %s.", pair.Name, err)
		return
	}
	t.targets = append(t.targets, one)
}
