// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugintasks

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// Type is the type of a task.
type Type string

// The types of tasks.
const (
	Shell  Type = "shell"
	Puppet Type = "puppet"
	Reboot Type = "reboot"
)

// Task is one entry of a file tasks.yaml.
type Task struct {
	Plugin   string
	Position int // in the file, from 1

	Roles []string // "*" is every role
	Stage Stage
	Text  string // the stage as written
	Value float64

	Type    Type
	Command string        // of a shell task
	Timeout time.Duration // 0 if there is none

	Dir   string // where a command runs
	Place order.Place
	at    *hcl.Range // of the stage
}

// Name identifies the task.
func (t *Task) Name() string { return fmt.Sprintf("%s#%d", t.Plugin, t.Position) }

// HasRole reports whether the task is for a machine with some of these roles. Without roles it is
// asked for all.
func (t *Task) HasRole(roles []string) bool {
	return len(roles) == 0 || slices.Contains(t.Roles, "*") ||
		slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(t.Roles, role) })
}

// CheckRoles warns of roles that no task has: otherwise a misspelt name would only show in the
// tasks that are not done.
func CheckRoles(dir string, tasks []*Task, roles []string) hcl.Diagnostics {
	var known []string
	for _, task := range tasks {
		known = append(known, task.Roles...)
	}
	slices.Sort(known)
	known = slices.DeleteFunc(slices.Compact(known), func(role string) bool { return role == "*" })
	var diags hcl.Diagnostics
	for _, role := range roles {
		if slices.Contains(known, role) || role == "*" {
			continue
		}
		others := " No task is for certain roles only."
		if len(known) > 0 {
			others = fmt.Sprintf(" Tasks name %s.", strings.Join(known, ", "))
		}
		diags = diags.Append(problem.Warning(problem.UnknownRef, &hcl.Range{Filename: dir}, "Unknown role",
			"No task is for the role %q, except for those that are for all.%s%s", role, others, nearest.DidYouMean(role, known)))
	}
	return diags
}

// Parse reads the tasks of one plugin, in the order of the file.
func Parse(plugin, filename string, src []byte, mode Mode) ([]*Task, hcl.Diagnostics) {
	root, diags := yamldoc.Parse(filename, src)
	if diags.HasErrors() {
		if diag := separatorInSource(filename, src); diag != nil {
			return nil, hcl.Diagnostics{diag}
		}
		return nil, diags
	}
	if root == nil || root.ShortTag() == "!!null" {
		return nil, diags
	}
	if root.Kind != yaml.SequenceNode {
		return nil, diags.Append(badValue(filename, root,
			"The file must hold a list of tasks, each with role, stage, type and parameters; it is a %s.",
			yamldoc.Kind(root)))
	}
	var tasks []*Task
	for i, node := range root.Content {
		r := reader{filename: filename, mode: mode}
		task := &Task{Plugin: plugin, Position: i + 1, Place: yamldoc.Place(filename, node)}
		r.task(task, yamldoc.Resolve(node))
		diags = diags.Extend(r.diags)
		tasks = append(tasks, task)
	}
	return tasks, diags
}

var stageInSource = regexp.MustCompile(`\bstage["']?\s*:\s*["']?((?:post_deployment|pre_deployment)\s*[^\w\s/"',}#][^\w/"',}#]*[0-9.]*)`)

// separatorInSource looks for a stage that broke the YAML parser.
func separatorInSource(filename string, src []byte) *hcl.Diagnostic {
	number := 0
	for line := range strings.Lines(string(src)) {
		number++
		match := stageInSource.FindStringSubmatchIndex(line)
		if match == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		start := hcl.Pos{Line: number, Column: match[2] + 1}
		end := hcl.Pos{Line: number, Column: match[3] + 1}
		return badSeparator(line[match[2]:match[3]], &hcl.Range{Filename: filename, Start: start, End: end})
	}
	return nil
}

type reader struct {
	filename string
	mode     Mode
	diags    hcl.Diagnostics
}

var taskKeys = []string{"role", "stage", "type", "parameters"}

func (r *reader) task(task *Task, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.bad(node, "A task must be a mapping with the keys role, stage, type and parameters; this is a %s.", yamldoc.Kind(node))
		return
	}
	values := r.entries(node, taskKeys, "task")
	for _, key := range taskKeys[:3] {
		if values[key] == nil {
			r.bad(node, "The task has no %s. Add it; a complete task has role, stage, type and parameters.", key)
		}
	}
	r.roles(task, values["role"])
	r.stage(task, values["stage"])
	r.kind(task, values["type"])
	r.parameters(task, node, values["parameters"])
}

// entries returns the values of a mapping by key. Unknown keys are warned of: later versions of the
// format have more.
func (r *reader) entries(node *yaml.Node, known []string, what string) map[string]*yaml.Node {
	pairs, diags := yamldoc.Pairs(r.filename, node)
	r.diags = r.diags.Extend(diags)
	values := map[string]*yaml.Node{}
	for _, pair := range pairs {
		if !slices.Contains(known, pair.Name) {
			r.diags = r.diags.Append(problem.Warning(problem.UnknownKey, yamldoc.Range(r.filename, pair.Key), "Unknown key",
				"The key %q of a %s has no effect here; those that have are %s.%s",
				pair.Name, what, strings.Join(known, ", "), nearest.DidYouMean(pair.Name, known)))
			continue
		}
		values[pair.Name] = pair.Value
	}
	return values
}

func (r *reader) roles(task *Task, node *yaml.Node) {
	switch {
	case node == nil:
	case node.Kind == yaml.SequenceNode:
		for _, element := range node.Content {
			if role, ok := r.text(element, "role"); ok {
				task.Roles = append(task.Roles, role)
			}
		}
	default:
		if role, ok := r.text(node, "role"); ok {
			task.Roles = []string{role}
		}
	}
}

func (r *reader) stage(task *Task, node *yaml.Node) {
	if node == nil {
		return
	}
	if node.Kind == yaml.MappingNode && len(node.Content) == 2 { // "stage: {post_deployment: 50}"
		text := node.Content[0].Value + ":" + node.Content[1].Value
		if diag := badSeparator(text, yamldoc.Range(r.filename, node)); diag != nil {
			r.diags = r.diags.Append(diag)
			return
		}
	}
	text, ok := r.text(node, "stage")
	if !ok {
		return
	}
	task.at = yamldoc.Range(r.filename, node)
	stage, number, diag := parseStage(text, task.at, r.mode)
	if diag != nil {
		r.diags = r.diags.Append(diag)
	}
	task.Stage, task.Text, task.Value = stage, text, number
}

func (r *reader) kind(task *Task, node *yaml.Node) {
	if node == nil {
		return
	}
	text, ok := r.text(node, "type")
	if !ok {
		return
	}
	known := []string{string(Shell), string(Puppet), string(Reboot)}
	if !slices.Contains(known, text) {
		r.bad(node, "There is no type of task %q; there are %s.%s", text, strings.Join(known, ", "), nearest.DidYouMean(text, known))
		return
	}
	task.Type = Type(text)
}

var parameterKeys = map[Type][]string{
	Shell:  {"cmd", "timeout"},
	Puppet: {"puppet_manifest", "puppet_modules", "timeout"},
	Reboot: {"timeout"},
}

func (r *reader) parameters(task *Task, whole, node *yaml.Node) {
	if task.Type == "" {
		return
	}
	values := map[string]*yaml.Node{}
	switch {
	case node == nil:
	case node.Kind != yaml.MappingNode:
		r.bad(node, "The parameters must be a mapping, such as {cmd: ./deploy.sh, timeout: 42}; this is a %s.", yamldoc.Kind(node))
		return
	default:
		values = r.entries(node, parameterKeys[task.Type], "task of type "+string(task.Type))
	}
	if timeout := values["timeout"]; timeout != nil {
		r.timeout(task, timeout)
	}
	if task.Type != Shell {
		return
	}
	command := values["cmd"]
	if command == nil {
		r.bad(whole, "A task of type shell needs a command: parameters: {cmd: ./deploy.sh, timeout: 42}.")
		return
	}
	task.Command, _ = r.text(command, "cmd")
}

func (r *reader) timeout(task *Task, node *yaml.Node) {
	seconds, err := strconv.ParseFloat(node.Value, 64)
	if node.Kind != yaml.ScalarNode || err != nil || seconds <= 0 || seconds > maxSeconds || seconds != seconds {
		r.bad(node, "The timeout is a positive number of seconds, such as 42.")
		return
	}
	task.Timeout = time.Duration(seconds * float64(time.Second))
}

const maxSeconds = 1e9 // more than thirty years, and still a time.Duration

// text returns a value that must be a non-empty string.
func (r *reader) text(node *yaml.Node, what string) (string, bool) {
	node = yamldoc.Resolve(node)
	if node.Kind != yaml.ScalarNode || node.ShortTag() == "!!null" || node.Value == "" {
		r.bad(node, "The %s must be a string; this is a %s.", what, yamldoc.Kind(node))
		return "", false
	}
	return node.Value, true
}

func (r *reader) bad(node *yaml.Node, detail string, args ...any) {
	r.diags = r.diags.Append(badValue(r.filename, node, detail, args...))
}

func badValue(filename string, node *yaml.Node, detail string, args ...any) *hcl.Diagnostic {
	return problem.New(problem.BadValue, yamldoc.Range(filename, node), "Invalid task", detail, args...)
}
