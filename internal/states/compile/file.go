// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// fileReader reads the content of one SLS file.
type fileReader struct {
	decoder
	sls, env string

	ids      []*ID
	includes []Requisite // names of files, as written
	excludes []Exclusion
	extends  []extension
}

func (f *fileReader) read(root *yaml.Node) {
	if root == nil || yamldoc.Kind(root) == "null" {
		return
	}
	if root.Kind != yaml.MappingNode {
		f.problem(problem.Syntax, root, "Mapping expected",
			"An SLS file is a mapping from ids to their states; this is a %s.", yamldoc.Kind(root))
		return
	}
	for _, pair := range f.pairs(root) {
		switch {
		case pair.Name == "include":
			f.readIncludes(pair.Value)
		case pair.Name == "exclude":
			f.readExcludes(pair.Value)
		case pair.Name == "extend":
			f.readExtends(pair.Value)
		case strings.HasPrefix(pair.Name, "__"):
			f.problem(problem.Syntax, pair.Key, "Reserved ID",
				"Ids with two leading underscores are reserved. Choose another id than %q.", pair.Name)
		default:
			if modules := f.modules(pair, false); modules != nil {
				f.ids = append(f.ids, &ID{Name: pair.Name, SLS: f.sls, Env: f.env, Modules: modules, Range: yamldoc.Range(f.file, pair.Key)})
			}
		}
	}
}

// list returns the elements of a list. A node of another kind is an error, which names it by the
// last argument.
func (f *fileReader) list(node *yaml.Node, what string) []*yaml.Node {
	switch {
	case node.Kind == yaml.SequenceNode:
		elements := make([]*yaml.Node, len(node.Content))
		for i, child := range node.Content {
			elements[i] = yamldoc.Resolve(child)
		}
		return elements
	case yamldoc.Kind(node) != "null":
		f.problem(problem.NotASet, node, "List expected",
			"%s must be a list, but this is a %s. Put each entry on a line of its own after a dash.",
			what, yamldoc.Kind(node))
	}
	return nil
}

func (f *fileReader) readIncludes(node *yaml.Node) {
	for _, element := range f.list(node, "The argument of \"include\"") {
		if element.Kind != yaml.ScalarNode {
			f.problem(problem.Syntax, element, "Invalid include", "An include is the name of an SLS; this is a %s.", yamldoc.Kind(element))
			continue
		}
		f.includes = append(f.includes, Requisite{Identifier: element.Value, Range: yamldoc.Range(f.file, element)})
	}
}

func (f *fileReader) readExcludes(node *yaml.Node) {
	for _, element := range f.list(node, "The argument of \"exclude\"") {
		exclusion := Exclusion{Range: yamldoc.Range(f.file, element)}
		switch element.Kind {
		case yaml.ScalarNode:
			exclusion.SLS = element.Value
		case yaml.MappingNode:
			for _, pair := range f.pairs(element) {
				switch pair.Name {
				case "sls":
					exclusion.SLS = pair.Value.Value
				case "id":
					exclusion.ID = pair.Value.Value
				}
			}
		}
		if element.Kind == yaml.MappingNode && len(element.Content) != 2 || (exclusion.SLS == "") == (exclusion.ID == "") {
			f.problem(problem.Syntax, element, "Invalid exclusion", "An entry of \"exclude\" is either \"sls: NAME\" or \"id: ID\".")
			continue
		}
		f.excludes = append(f.excludes, exclusion)
	}
}

func (f *fileReader) readExtends(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		f.problem(problem.Syntax, node, "Invalid extension",
			"The argument of \"extend\" is a mapping from ids to the states that are added to them; this is a %s.", yamldoc.Kind(node))
		return
	}
	for _, pair := range f.pairs(node) {
		if modules := f.modules(pair, true); modules != nil {
			f.extends = append(f.extends, extension{pair.Name, yamldoc.Range(f.file, pair.Key), modules})
		}
	}
}

// modules reads the declaration of an id: a mapping from modules to arguments, or "module.function"
// alone.
func (f *fileReader) modules(id yamldoc.Pair, extends bool) []*Module {
	node := id.Value
	if node.Kind == yaml.ScalarNode && yamldoc.Kind(node) == "string" && strings.Contains(node.Value, ".") {
		module := f.module(id.Name, yamldoc.Pair{Name: node.Value, Key: node, Value: &yaml.Node{Kind: yaml.SequenceNode}}, extends)
		if module == nil {
			return nil
		}
		return []*Module{module}
	}
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		f.problem(problem.Syntax, node, "Missing function call",
			"Under the id %q there must be \"MODULE.FUNCTION:\" with its arguments, but there is a %s.",
			id.Name, yamldoc.Kind(node))
		return nil
	}
	modules := []*Module{}
	for _, pair := range f.pairs(node) {
		module := f.module(id.Name, pair, extends)
		if module == nil {
			continue
		}
		if other := (&ID{Modules: modules}).module(module.Name); other != nil {
			f.problem(problem.DuplicateID, pair.Key, "Module used twice",
				"The id %q has the module %q already at %s. An id has each module once; use a second id.", id.Name, module.Name, place(other.Range))
			continue
		}
		modules = append(modules, module)
	}
	return modules
}

func (f *fileReader) module(id string, pair yamldoc.Pair, extends bool) *Module {
	name, function, _ := strings.Cut(pair.Name, ".")
	m := &Module{Name: name, Function: function, Range: yamldoc.Range(f.file, pair.Key)}
	before := len(f.diags)
	for _, element := range f.list(pair.Value, "The value of \""+pair.Name+"\"") {
		switch element.Kind {
		case yaml.ScalarNode:
			if m.Function != "" {
				f.problem(problem.Syntax, element, "Several functions",
					"The module %q of the id %q has the function %q already. Is %q an argument without its value?",
					name, id, m.Function, element.Value)
				continue
			}
			m.Function = element.Value
		case yaml.MappingNode:
			for _, arg := range f.pairs(element) {
				f.argument(m, arg)
			}
		default:
			f.problem(problem.Syntax, element, "Invalid argument", "An argument is \"- NAME: VALUE\"; this is a %s.", yamldoc.Kind(element))
		}
	}
	if !isWord(m.Name) || m.Function != "" && !isWord(m.Function) {
		f.problem(problem.Syntax, pair.Key, "Invalid function name",
			"%q is not a \"MODULE.FUNCTION\": these are words of letters, digits and underscores.", pair.Name)
		return nil
	}
	if m.Function == "" && !extends && len(f.diags) == before {
		f.problem(problem.Syntax, pair.Key, "Missing function",
			"It is not said which function of the module %q is to be called for the id %q. Write \"%s.FUNCTION:\".",
			name, id, name)
		return nil
	}
	return m
}

// isWord reports whether a name is safe as a part of a name of a file, too.
func isWord(name string) bool {
	for _, r := range name {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return name != ""
}

func (f *fileReader) argument(m *Module, pair yamldoc.Pair) {
	arg := Arg{Name: pair.Name, Range: yamldoc.Range(f.file, pair.Value)}
	if m.arg(arg.Name) != nil {
		f.problem(problem.DuplicateID, pair.Key, "Argument repeated", "The argument %q is given twice. Keep one of them.", arg.Name)
		return
	}
	switch {
	case isRequisite(arg.Name) && pair.Value.Kind == yaml.MappingNode && mayBeMapping(arg.Name):
		for _, one := range f.pairs(pair.Value) {
			if requisite, ok := f.requisitePair(one); ok {
				arg.Requisites = append(arg.Requisites, requisite)
			} else {
				f.invalidRequisite(one.Value)
			}
		}
	case isRequisite(arg.Name):
		for _, element := range f.list(pair.Value, "The argument \""+arg.Name+"\"") {
			if requisite, ok := f.requisite(element); ok {
				arg.Requisites = append(arg.Requisites, requisite)
			}
		}
	default:
		arg.Value = f.value(pair.Value)
	}
	m.Args = append(m.Args, arg)
}

// mayBeMapping reports whether the requisites of a kind may also be one mapping from modules to
// identifiers.
func mayBeMapping(arg string) bool {
	kind, in, _ := plainKind(arg)
	return in || kind == Use
}

func (f *fileReader) requisite(node *yaml.Node) (Requisite, bool) {
	r := Requisite{Range: yamldoc.Range(f.file, node)}
	switch {
	case node.Kind == yaml.ScalarNode && node.Value != "":
		r.Identifier = node.Value
		return r, true
	case node.Kind == yaml.MappingNode:
		if pairs := f.pairs(node); len(pairs) == 1 {
			if pair, ok := f.requisitePair(pairs[0]); ok {
				pair.Range.Start = r.Range.Start // that of a brace
				return pair, true
			}
		}
	}
	f.invalidRequisite(node)
	return Requisite{}, false
}

// requisitePair reads a module with an identifier.
func (f *fileReader) requisitePair(pair yamldoc.Pair) (Requisite, bool) {
	if pair.Value.Kind != yaml.ScalarNode || pair.Value.Value == "" {
		return Requisite{}, false
	}
	r := Requisite{Module: pair.Name, Identifier: pair.Value.Value, Range: yamldoc.Range(f.file, pair.Key)}
	if value := yamldoc.Range(f.file, pair.Value); value.End.Line == r.Range.Start.Line && value.End.Column > r.Range.Start.Column {
		r.Range.End = value.End
	}
	return r, true
}

func (f *fileReader) invalidRequisite(node *yaml.Node) {
	f.problem(problem.Syntax, node, "Invalid requisite", "A requisite is \"- MODULE: ID\" or the id alone.")
}
