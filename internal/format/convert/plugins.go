// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/plugintasks"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// FromPlugins makes a workspace file, in a directory, of tasks of plugins, which are in order.
func FromPlugins(root string, tasks []*plugintasks.Task) Result {
	c := newWriter()
	var shell []*plugintasks.Task
	for _, task := range tasks {
		if task.Type != plugintasks.Shell {
			c.lose(task.Place, "%s, a task of type %s", task.Name(), task.Type)
			continue
		}
		shell = append(shell, task)
	}
	taken, named := names{}, make([]string, len(shell))
	for i, task := range shell {
		wish := fmt.Sprintf("%s.%d", task.Plugin, task.Position)
		named[i] = c.name(taken, "task", wish, task.Place)
	}
	weights := tieWeights(shell, named)
	for i, task := range shell {
		c.pluginTask(root, named[i], task, weights[i])
	}
	return c.result()
}

// tieWeights returns weights for tasks with equal numbers whose names are not in their order; 0 for
// others.
func tieWeights(tasks []*plugintasks.Task, named []string) []float64 {
	weights := make([]float64, len(tasks))
	for from := 0; from < len(tasks); {
		to := from + 1
		for to < len(tasks) && tasks[to].Stage == tasks[from].Stage && tasks[to].Value == tasks[from].Value {
			to++
		}
		if !slices.IsSorted(named[from:to]) {
			for i := from; i < to; i++ {
				weights[i] = float64(i - from + 1)
			}
		}
		from = to
	}
	return weights
}

func (w *writer) pluginTask(root, name string, task *plugintasks.Task, weight float64) {
	b := w.block(cairnfile.TaskType, name, task.Place)
	b.command(task.Command)
	dir, err := filepath.Rel(root, task.Dir)
	switch dir = filepath.ToSlash(dir); {
	case err != nil || dir == ".." || strings.HasPrefix(dir, "../"):
		w.lose(task.Place, "The directory %s of %s, which is outside of the repository", task.Dir, task.Name())
	case !writable(dir):
		w.lose(task.Place, "The directory %s of %s, which a workspace file cannot name", task.Dir, task.Name())
	case dir != ".":
		b.text("path", dir)
	}
	if task.Timeout > 0 {
		b.text("timeout", task.Timeout.String())
	}
	b.text("stage", strings.TrimSuffix(string(task.Stage), "_deployment")+number(task.Value))
	if weight != 0 {
		b.number("order", weight)
	}
	roles := slices.DeleteFunc(slices.Clone(task.Roles), func(role string) bool { return role == "*" })
	b.list("tags", roles)
	switch all := len(roles) < len(task.Roles); {
	case len(roles) > 0 && all:
		w.lose(task.Place, "%s is for all roles, of which only some are its tags", task.Name())
	case len(roles) > 0:
		w.lose(task.Place, "%s is for roles, which are tags: with -role=NAME tasks for all roles would be selected, too", task.Name())
	}
}

// number writes the number of a stage, which may be left out if it is 0.
func number(value float64) string {
	if value == 0 {
		return ""
	}
	return "/" + strconv.FormatFloat(value, 'f', -1, 64)
}

// pluginName is of the plugin that is written, which is a directory.
const pluginName = "workspace"

// ToPlugins makes a tasks.yaml of the tasks of a workspace file.
func ToPlugins(m *cairnfile.Model) (Result, hcl.Diagnostics) {
	graph, diags := m.Graph(false)
	if diags.HasErrors() {
		return Result{}, diags
	}
	c := &toPlugins{newWriter(), m, graph}
	for _, leaf := range m.Leaves {
		if leaf.Stack != nil {
			c.lose(problem.PlaceOf(leaf.Range), "The stack %s", leaf.Name)
		}
	}
	var b strings.Builder
	for _, one := range c.tasks() {
		c.task(&b, one)
	}
	if b.Len() == 0 {
		b.WriteString("[]\n")
	}
	c.loseSettings(m)
	c.Files = []File{{path.Join(pluginName, plugintasks.FileName), []byte(b.String())}}
	return *c.Result, nil
}

type toPlugins struct {
	*writer
	model *cairnfile.Model
	graph *cairnfile.Graph
}

// pluginTask is a task with where it is put.
type pluginTask struct {
	leaf   *cairnfile.Leaf
	stage  plugintasks.Stage
	number float64
}

// tasks returns the tasks in their sequence. Those without a stage are put where the one before
// them is, or the first one.
func (c *toPlugins) tasks() []pluginTask {
	var list []pluginTask
	for _, n := range c.graph.Sequence(c.model.Rule(), nil) {
		leaf := c.graph.Steps[n].Leaf
		if leaf.Task == nil || !c.unconditional(leaf) {
			continue
		}
		one := pluginTask{leaf: leaf}
		if s := leaf.Task.Stage; s != nil {
			one.stage, one.number = plugintasks.Pre, s.Number
			if s.Post {
				one.stage = plugintasks.Post
			}
		}
		list = append(list, one)
	}
	first := slices.IndexFunc(list, func(one pluginTask) bool { return one.stage != "" })
	at := pluginTask{stage: plugintasks.Post}
	if first >= 0 {
		at = list[first]
	}
	for i := range list {
		if list[i].stage == "" {
			list[i].stage, list[i].number = at.stage, at.number
		}
		at = list[i]
	}
	return list
}

// unconditional reports whether a task runs regardless of the outcomes of others. One that runs
// before a stack if that would change does not.
func (c *toPlugins) unconditional(leaf *cairnfile.Leaf) bool {
	rules := rulesOn(c.model, leaf)
	beforeTasks := slices.ContainsFunc(rules, func(rule cairnfile.ResolvedRule) bool {
		return rule.Rel == cairnfile.Prereq && len(taskLeaves(c.model, rule.Targets)) > 0
	})
	for _, rule := range rules {
		if rule.Rel.IsReaction() && (rule.Rel != cairnfile.Prereq || !beforeTasks) {
			c.lose(rule.Place, "The task %s, which runs only in reaction to others", leaf.Name)
			return false
		}
	}
	return true
}

// taskLeaves returns the tasks among the leaves of blocks.
func taskLeaves(m *cairnfile.Model, blocks []*cairnfile.Block) []*cairnfile.Leaf {
	var tasks []*cairnfile.Leaf
	for _, block := range blocks {
		for _, leaf := range m.LeavesOf(block) {
			if leaf.Task != nil && !slices.Contains(tasks, leaf) {
				tasks = append(tasks, leaf)
			}
		}
	}
	return tasks
}

func (c *toPlugins) task(b *strings.Builder, one pluginTask) {
	leaf, at := one.leaf, problem.PlaceOf(one.leaf.Range)
	comment(b, "", leaf.Description)
	fmt.Fprintf(b, "- role: \"*\" # %s\n", leaf.Name)
	fmt.Fprintf(b, "  stage: %s%s\n  type: shell\n  parameters:\n", one.stage, number(one.number))
	fmt.Fprintf(b, "    cmd: %s\n", quote(c.withEnvironment(leaf)+shellLine(leaf.Task.Command)))
	if leaf.Task.Timeout > 0 {
		fmt.Fprintf(b, "    timeout: %s\n", seconds(leaf.Task.Timeout))
	}
	for _, rule := range rulesOn(c.model, leaf) {
		if rule.Policy == cairnfile.Any {
			c.lose(rule.Place, "That one success is enough for %s: all are waited for", leaf.Name)
		}
	}
	c.loseOfTask(leaf, at, []part{
		{leaf.Task.Dir != ".", "path"},
		{leaf.Task.Retries > 0, "retries"},
		{leaf.Task.Reaction != nil, "on_change"},
		{len(leaf.AllTags) > automaticTags(leaf), "tags"},
	})
}

// part is an argument that may be there.
type part struct {
	there bool
	name  string
}

// loseOfTask reports the other attributes of a task in a line, except those that affect selections
// and how much runs at the same time.
func (w *writer) loseOfTask(leaf *cairnfile.Leaf, at order.Place, parts []part) {
	parts = append(parts, part{len(leaf.AllKeys) > 0, "keys"}, part{len(leaf.Wants) > 0, "wants"}, part{len(leaf.WantedBy) > 0, "wanted_by"})
	if there := theseOf(parts); there != "" {
		w.lose(at, "Of %s: %s", leaf.Name, there)
	}
}

func theseOf(parts []part) string {
	var there []string
	for _, p := range parts {
		if p.there {
			there = append(there, p.name)
		}
	}
	return strings.Join(there, ", ")
}

// automaticTags counts the tags that a leaf has anyway.
func automaticTags(leaf *cairnfile.Leaf) int {
	count := 0
	for tag := range leaf.AllTags {
		prefix, _, found := strings.Cut(tag, ":")
		if found && slices.Contains([]string{"dir", "kind", "stack_name", "workspace"}, prefix) {
			count++
		}
	}
	return count
}

var shellName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// withEnvironment returns lines for the shell that set the variables of a task.
func (w *writer) withEnvironment(leaf *cairnfile.Leaf) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(leaf.Environment)) {
		if !shellName.MatchString(name) {
			w.lose(problem.PlaceOf(leaf.Range), "The variable %q of %s, which a shell cannot set", name, leaf.Name)
			continue
		}
		fmt.Fprintf(&b, "export %s=%s\n", name, shellWord(leaf.Environment[name]))
	}
	return b.String()
}

// shellLine returns a command as a line for the shell.
func shellLine(command []string) string {
	if len(command) == 3 && command[0] == "/bin/sh" && command[1] == "-c" {
		return command[2]
	}
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = shellWord(word)
	}
	if name := command[0]; strings.Contains(name, "=") || slices.Contains(shellWords, name) {
		words[0] = quotedWord(name) // a program, neither a variable nor the beginning of something longer
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// shellWords mean something to a shell where it expects a command.
var shellWords = strings.Fields("case do done elif else esac fi for if in then until while")

func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return quotedWord(word)
}

func quotedWord(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
