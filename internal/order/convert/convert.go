// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package convert writes in one format of order what was read in another, and says what the other format cannot.
package convert

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
	"github.com/cairnstacks/cairn/internal/order/stage"
)

// Result is what was written.
type Result struct {
	Text []byte
	Lost []Loss // in the order in which it was found
}

// Loss is something that the other format cannot say.
type Loss struct {
	What  string // a sentence without a full stop
	Place order.Place
}

func (l Loss) String() string {
	if l.Place.File == "" {
		return l.What + "."
	}
	return fmt.Sprintf("%s (%s).", l.What, l.Place)
}

func (r *Result) lose(at order.Place, format string, args ...any) {
	r.Lost = append(r.Lost, Loss{fmt.Sprintf(format, args...), at})
}

// block is one of a workspace file.
type block struct{ body *hclwrite.Body }

func newBlock(file *hclwrite.File, kind, name string) block {
	if len(file.Body().Blocks()) > 0 {
		file.Body().AppendNewline()
	}
	return block{file.Body().AppendNewBlock(kind, []string{name}).Body()}
}

func (b block) text(name, value string) {
	if value != "" {
		b.body.SetAttributeValue(name, cty.StringVal(value))
	}
}

func (b block) list(name string, values []string) {
	if len(values) > 0 {
		b.emptyList(name, values)
	}
}

// emptyList writes the list also if it is empty.
func (b block) emptyList(name string, values []string) {
	elements := make([]cty.Value, len(values))
	for i, value := range values {
		elements[i] = cty.StringVal(value)
	}
	b.body.SetAttributeValue(name, cty.TupleVal(elements))
}

func (b block) texts(name string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	object := map[string]cty.Value{}
	for key, value := range values {
		object[key] = cty.StringVal(value)
	}
	b.body.SetAttributeValue(name, cty.ObjectVal(object))
}

// names gives unique names that a workspace file allows.
type names map[string]bool

var notInName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

func (n names) add(wish string) string {
	wish = strings.TrimLeft(notInName.ReplaceAllString(strings.ReplaceAll(strings.Trim(wish, "/"), "/", "."), "-"), ".-")
	if wish == "" {
		wish = "root"
	}
	name := wish
	for i := 2; n[name]; i++ {
		name = wish + "-" + strconv.Itoa(i)
	}
	n[name] = true
	return name
}

// Tree makes a workspace file of a tree of stack directories.
func Tree(tree *stackdir.Tree) Result {
	var r Result
	file := hclwrite.NewEmptyFile()
	taken, named := names{}, make([]string, len(tree.Stacks))
	for i, s := range tree.Stacks {
		named[i] = taken.add(s.Path)
	}
	for i, s := range tree.Stacks {
		at := order.Place{File: s.Range.Filename, Line: s.Range.Start.Line, Column: s.Range.Start.Column}
		b := newBlock(file, "stack", named[i])
		b.text("path", cleanDir(s.Path))
		b.text("description", s.Description)
		b.list("tags", s.Tags)
		after := r.entries(s, s.After)
		if above, ok := tree.Owner(path.Dir(s.Path)); ok && s.Path != "/" {
			after = append(after, named[above]) // which the tree implies
		}
		b.list("after", after)
		b.list("before", r.entries(s, s.Before))
		var watch []string
		for _, ref := range s.Watch {
			watch = append(watch, strings.TrimPrefix(absolute(s.Path, ref.Text), "/"))
		}
		b.list("watch", watch)
		if len(s.Wants) > 0 || len(s.WantedBy) > 0 {
			r.lose(at, "%s has wants or wanted_by, and in a workspace file nothing is selected along with another", s.Path)
		}
		if s.ID != "" || s.Name != "" {
			r.lose(at, "%s has an id or a name for people, and in a workspace file its name is %q", s.Path, named[i])
		}
	}
	if len(tree.Stacks) > 1 {
		r.lose(order.Place{}, "Stacks that no rule orders are ordered by weight and name, not by when they become ready")
	}
	r.Text = hclwrite.Format(file.Bytes())
	return r
}

func cleanDir(stackPath string) string {
	if stackPath == "/" {
		return "."
	}
	return strings.TrimPrefix(stackPath, "/")
}

func absolute(from, text string) string {
	if strings.HasPrefix(text, "/") {
		return path.Clean(text)
	}
	return path.Join(from, text)
}

// entries translates what comes before or after a stack.
func (r *Result) entries(s *stackdir.Stack, refs []stackdir.Reference) []string {
	var texts []string
	for _, ref := range refs {
		query, isQuery := strings.CutPrefix(ref.Text, "tag:")
		if !isQuery {
			to := absolute(s.Path, ref.Text)
			if to == "/" {
				to = "."
			}
			texts = append(texts, to)
			continue
		}
		alternatives := strings.Split(query, ",")
		for i, all := range alternatives {
			alternatives[i] = strings.ReplaceAll(all, ":", " and ")
		}
		texts = append(texts, "tag:"+strings.Join(alternatives, " or "))
	}
	return texts
}

// Tasks makes a workspace file of tasks of plugins, which are in order.
func Tasks(tasks []*stage.Task) Result {
	var r Result
	file := hclwrite.NewEmptyFile()
	taken := names{}
	for i, task := range tasks {
		if task.Type != stage.Shell {
			r.lose(task.Place, "%s is a task of type %s, and tasks of a workspace file are commands", task.Name(), task.Type)
			continue
		}
		// Equal numbers are ordered by name, so that names have to be in order.
		b := newBlock(file, "task", taken.add(fmt.Sprintf("t%04d.%s.%d", i+1, task.Plugin, task.Position)))
		b.text("command", task.Command)
		b.text("path", task.Dir)
		if task.Timeout > 0 {
			b.text("timeout", task.Timeout.String())
		}
		b.text("stage", string(task.Stage)+"/"+strconv.FormatFloat(task.Value, 'f', -1, 64))
		var tags []string
		for _, role := range task.Roles {
			if role != "*" {
				tags = append(tags, notInName.ReplaceAllString(role, "-"))
			}
		}
		b.list("tags", tags)
		if len(tags) > 0 {
			r.lose(task.Place, "%s is for roles, which are tags now: select with -tags", task.Name())
		}
	}
	r.Text = hclwrite.Format(file.Bytes())
	return r
}
