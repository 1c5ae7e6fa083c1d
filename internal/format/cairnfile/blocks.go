// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/settings"
)

var blockTypes map[Type]func(*Block, *arguments)

func init() {
	blockTypes = map[Type]func(*Block, *arguments){StackType: stackBlock, GroupType: groupBlock, TaskType: taskBlock}
}

// common reads the attributes that blocks of several types share.
func (a *arguments) common(b *Block) {
	b.Description = a.text("description")
	b.Tags = a.strings("tags")
	b.Keys = a.strings("keys")
	b.Weight = a.weight()
	b.Wants = a.set("wants")
	b.WantedBy = a.set("wanted_by")
	if b.Type != TaskType {
		b.AutoApply = a.boolean("auto_apply")
	}
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		f := forms[name]
		if !slices.Contains(f.types, b.Type) {
			continue
		}
		refs := a.set(name)
		if attribute := a.body.Attributes[name]; attribute != nil {
			b.Rules = append(b.Rules, Rule{Name: name, Rel: f.rel, Inverse: f.inverse, Policy: f.policy, Refs: refs, Range: attribute.NameRange})
		}
	}
	slices.SortFunc(b.Rules, func(x, y Rule) int { return x.Range.Start.Byte - y.Range.Start.Byte })
}

func (a *arguments) weight() *float64 {
	weight := 0.0
	value, ok := a.value("order")
	switch {
	case !ok:
		return nil
	case value.Type() == cty.String && value.AsString() == "first":
		weight = First
	case value.Type() == cty.String && value.AsString() == "last":
		weight = Last
	case value.Type() == cty.Number:
		weight, _ = value.AsBigFloat().Float64()
		ok = weight > First && weight < Last
	default:
		ok = false
	}
	if !ok {
		a.problem(problem.BadNumber, a.rangeOf("order"), "Invalid order",
			"The order is a number between -1e9 and 1e9, whole or not, \"first\" or \"last\".")
	}
	return &weight
}

func stackBlock(b *Block, a *arguments) {
	b.Stack = &Stack{
		Dir: a.dir("path", b.Name), DirRange: a.rangeOf("path"),
		Deployment: a.text("deployment"), DeploymentRange: a.rangeOf("deployment"),
		Workspace: a.text("workspace"), WorkspaceRange: a.rangeOf("workspace"),
		Variables: a.environment("variables"),
		VarFiles:  a.files("var_files"), VarFilesRange: a.rangeOf("var_files"),
		Environment: a.environment("environment"),
		Watch:       a.patterns("watch"),
	}
	b.Stack.Files = a.filePatterns("files", b.Stack.Dir)
	a.inputs(b.Stack)
	if a.body.Attributes["path"] == nil {
		b.Stack.DirRange = b.Range
	}
	switch kind := rollout.Kind(a.text("kind")); kind {
	case "", rollout.Components, rollout.Root:
		b.Stack.Kind = kind
	default:
		a.bad("kind", "There is no kind %q of stacks: write \"stack\" for a stack of the Terraform Stacks language, "+
			"or \"terraform\" for a plain root module.", kind)
	}
	if b.Stack.Deployment != "" && !settings.IsDeployment(b.Stack.Deployment) {
		a.bad("deployment", "%q cannot be a deployment: their names consist of letters, digits, _ and -, 63 at most, "+
			"and do not begin with -.", b.Stack.Deployment)
	}
	if b.Stack.Deployment != "" && b.Stack.Kind == rollout.Root {
		a.bad("deployment", "A plain root module has no deployments. Use \"variables\" or \"var_files\".")
	}
	a.checkWorkspace(b.Stack)
}

var workspacePattern = regexp.MustCompile(`^[A-Za-z0-9._~][A-Za-z0-9._~-]*$`)

// ValidWorkspace reports whether a root module can have a workspace of this name. One that begins
// with a dash would be taken for an option, and the two that are directories would be those of
// other states.
func ValidWorkspace(name string) bool {
	return workspacePattern.MatchString(name) && name != "." && name != ".."
}

// checkWorkspace checks the workspace of a root module. The default one is not a workspace in the
// model.
func (a *arguments) checkWorkspace(s *Stack) {
	switch {
	case s.Workspace == "":
	case s.Kind == rollout.Components || s.Deployment != "":
		a.bad("workspace", "A stack of the Terraform Stacks language has no workspaces. Use \"deployment\".")
	case !ValidWorkspace(s.Workspace):
		a.bad("workspace", "%q cannot be a workspace: their names consist of letters, digits, _, ., ~ and -, "+
			"do not begin with -, and are not \".\" or \"..\".", s.Workspace)
	case s.Workspace == rollout.DefaultWorkspace:
		s.Workspace = ""
	}
}

func groupBlock(b *Block, a *arguments) {
	b.Group = &Group{Members: a.set("members"), Variables: a.environment("variables"), Environment: a.environment("environment")}
	if a.body.Attributes["members"] == nil {
		a.problem(problem.BadValue, b.Range, "Group without members",
			"A group needs the argument \"members\", the list of its members. It may be empty.")
	}
	a.known = append(a.known, "strategy")
	strategies := 0
	for _, block := range a.body.Blocks {
		if block.Type != "strategy" {
			continue
		}
		if strategies++; strategies > 1 {
			a.problem(problem.DuplicateID, block.DefRange(), "Duplicate strategy", "A group has one strategy at most. Remove one of the blocks.")
			continue
		}
		s := a.arguments(block.Body, "strategy")
		b.Group.Parallel = s.count("parallel", 1)
		if oneByOne := s.boolean("one_by_one"); oneByOne != nil && *oneByOne {
			if b.Group.Parallel > 0 {
				s.bad("one_by_one", "With one_by_one there is no number in parallel. Remove one of the two.")
			}
			b.Group.Parallel = 1
		}
		s.finish()
	}
}

func taskBlock(b *Block, a *arguments) {
	b.Task = &Task{
		Task: rollout.Task{
			Command: a.command("command"), Reaction: a.command("on_change"),
			Timeout: a.duration("timeout"), Interval: a.duration("interval"), Retries: a.count("retries", 0),
		},
		Dir: a.dir("path", "."), Environment: a.environment("environment"),
		Stage: a.stage(),
	}
	if b.Task.Command == nil && a.body.Attributes["command"] == nil {
		a.problem(problem.BadValue, b.Range, "Task without command",
			"A task needs the argument \"command\": a line for the shell, or a list of a program and its arguments.")
	}
}

func (a *arguments) duration(name string) time.Duration {
	text := a.text(name)
	if text == "" {
		return 0
	}
	duration, err := time.ParseDuration(text)
	if err != nil || duration <= 0 {
		a.bad(name, "The argument %q must be a duration such as \"90s\" or \"5m\".", name)
		return 0
	}
	return duration
}

// dir is a directory of the repository.
func (a *arguments) dir(name, otherwise string) string {
	text := a.text(name)
	if text == "" {
		return otherwise
	}
	dir, ok := inside(text)
	if !ok {
		a.problem(problem.BadPath, a.rangeOf(name), "Path outside of the repository",
			"The path %q must lead to a directory of the repository, seen from its root.", text)
	}
	return dir
}

// files are patterns or paths of files of the repository.
func (a *arguments) files(name string) []string {
	var files []string
	for _, ref := range a.set(name) {
		file, ok := inside(ref.Text)
		if !ok {
			a.problem(problem.BadPath, ref.Range, "Path outside of the repository",
				"The path %q must lead to a file of the repository, seen from its root.", ref.Text)
			continue
		}
		files = append(files, file)
	}
	return files
}

// patterns are patterns or paths of files of the repository.
func (a *arguments) patterns(name string) []string {
	patterns := a.files(name)
	for _, text := range patterns {
		if _, err := glob.Compile(text); err != nil {
			a.problem(problem.BadValue, a.rangeOf(name), "Invalid pattern", "The %s.", err)
		}
	}
	return patterns
}

// filePatterns are patterns of files, seen from the directory of a stack, or with a slash at the
// beginning from the root of the repository. A "!" before one takes its matches away.
func (a *arguments) filePatterns(name, dir string) []FilePattern {
	if a.get(name) == nil {
		return nil
	}
	patterns := []FilePattern{}
	for _, ref := range a.set(name) {
		text, without := strings.CutPrefix(ref.Text, "!")
		if text == "" {
			a.problem(problem.BadValue, ref.Range, "Invalid pattern", "A pattern of files must not be empty.")
			continue
		}
		full := glob.Quote(dir) + "/" + text
		if strings.HasPrefix(text, "/") {
			full = strings.TrimLeft(text, "/")
		}
		full = path.Clean(full)
		pattern, err := glob.Compile(full)
		switch {
		case full == ".." || strings.HasPrefix(full, "../"):
			a.problem(problem.BadPath, ref.Range, "Path outside of the repository",
				"The pattern %q must be one of files of the repository.", ref.Text)
		case err != nil:
			a.problem(problem.BadValue, ref.Range, "Invalid pattern", "The %s.", err)
		default:
			patterns = append(patterns, FilePattern{Text: ref.Text, Pattern: pattern, Without: without})
		}
	}
	return patterns
}

// environment are names and values of environment variables, or of input variables, which become
// some.
func (a *arguments) environment(name string) map[string]string {
	variables := a.texts(name)
	for _, variable := range slices.Sorted(maps.Keys(variables)) {
		if strings.Contains(variables[variable], "\x00") {
			a.bad(name, "The value of %q has a zero byte, which nothing in an environment can have.", variable)
		}
		if variable == "" || strings.ContainsAny(variable, "=\x00") {
			a.bad(name, "%q cannot be the name of a variable of an environment.", variable)
		}
	}
	return variables
}

// inside makes a path relative to the root of the repository, from which a slash at its beginning
// starts, too. Ok is false if it leads out of it.
func inside(text string) (file string, ok bool) {
	file = path.Clean(strings.TrimLeft(text, "/"))
	if file == ".." || strings.HasPrefix(file, "../") || strings.ContainsAny(text, "\\\x00") {
		return ".", false
	}
	return file, true
}

var stagePattern = regexp.MustCompile(`^(pre|post)(?:_deployment)?(?:/([-+]?(?:[0-9]*\.[0-9]+|[0-9]+)))?$`)

func (a *arguments) stage() *Stage {
	text := a.text("stage")
	if text == "" {
		return nil
	}
	stage := &Stage{Text: text, Range: a.rangeOf("stage")}
	match := stagePattern.FindStringSubmatch(text)
	if match == nil {
		code := problem.BadStage
		if word, _, found := strings.Cut(text, "/"); found && stagePattern.MatchString(word) {
			code = problem.BadNumber
		}
		a.problem(code, stage.Range, "Invalid stage",
			"The stage is \"pre\" or \"post\", with a slash and a number behind it if the place among other tasks matters: \"post/100\".")
		return nil
	}
	stage.Post = match[1] == "post"
	if match[2] != "" {
		number, err := strconv.ParseFloat(match[2], 64)
		if err != nil || math.IsInf(number, 0) {
			a.problem(problem.BadNumber, stage.Range, "Invalid stage", "The number %s is too large.", match[2])
		}
		stage.Number = number
	}
	return stage
}
