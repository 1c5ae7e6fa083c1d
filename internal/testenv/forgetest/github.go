// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forgetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// workflow is a file of jobs, and job an action or one of them, as far as they are played.
type workflow struct {
	Env  map[string]string
	Jobs map[string]job
}

type job struct {
	If    string
	Steps []step
}

type step struct {
	ID, Uses, If, Run string
	Dir               string `yaml:"working-directory"`
	With, Env         map[string]string
	GoOn              bool `yaml:"continue-on-error"`
}

// Event is the reason for a run of a workflow.
type Event struct {
	Name    string // such as pull_request
	Ref     string // that is checked out unless the workflow says otherwise
	Payload map[string]any
}

// gitHubJob is a job while it runs.
type gitHubJob struct {
	*Runner
	contexts  contexts
	run, dir  string
	env       map[string]string // of the workflow
	action    job
	defaults  map[string]any // of the inputs of the action
	eventFile string
}

// GitHub plays a job of a workflow.
func (r *Runner) GitHub(text []byte, name string, event Event) error {
	var read workflow
	if err := yaml.Unmarshal(text, &read); err != nil {
		return err
	}
	chosen, ok := read.Jobs[name]
	if !ok {
		return fmt.Errorf("there is no job %s", name)
	}
	j := &gitHubJob{Runner: r, contexts: contexts{
		"github": map[string]any{"event_name": event.Name, "event": event.Payload, "token": Token},
		"vars":   anyMap(r.Vars), "secrets": anyMap(r.Vars), "steps": map[string]any{},
	}}
	if chosen.If != "" && !isTrue(j.contexts.eval(chosen.If)) {
		return ErrSkipped
	}
	ref := event.Ref
	if checkout := chosen.Steps[0]; checkout.With["ref"] != "" {
		ref = j.contexts.expand(checkout.With["ref"])
	}
	var err error
	if j.run, j.dir, err = r.start(ref); err != nil {
		return err
	}
	if err := j.readAction(); err != nil {
		return err
	}
	j.env = j.expandAll(read.Env)
	j.eventFile = j.dir + ".event"
	payload, err := json.Marshal(event.Payload)
	if err != nil {
		return err
	}
	if err := os.WriteFile(j.eventFile, payload, 0o600); err != nil {
		return err
	}
	for _, one := range chosen.Steps[1:] {
		if err := j.useKit(one); err != nil {
			return err
		}
	}
	return nil
}

func anyMap(m map[string]string) map[string]any {
	converted := map[string]any{}
	for name, value := range m {
		converted[name] = value
	}
	return converted
}

func (j *gitHubJob) expandAll(m map[string]string) map[string]string {
	expanded := map[string]string{}
	for name, value := range m {
		expanded[name] = j.contexts.expand(value)
	}
	return expanded
}

// readAction reads the action of the kit.
func (j *gitHubJob) readAction() error {
	text, err := os.ReadFile(filepath.Join(j.Root, "action.yml"))
	if err != nil {
		return err
	}
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   job
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		return err
	}
	j.action, j.defaults = action.Runs, map[string]any{}
	for name, input := range action.Inputs {
		j.defaults[name] = j.contexts.expand(input.Default)
	}
	return nil
}

// useKit plays the steps of the action for a step of the workflow.
func (j *gitHubJob) useKit(outer step) error {
	if name, _, _ := strings.Cut(outer.Uses, "@"); name != "cairnstacks/cairn" {
		return fmt.Errorf("no action that is known: %s", outer.Uses)
	}
	inputs := maps.Clone(j.defaults)
	for name := range outer.With {
		if _, ok := inputs[name]; !ok {
			return fmt.Errorf("the action has no input %s", name)
		}
	}
	maps.Copy(inputs, anyMap(j.expandAll(outer.With)))
	steps := map[string]any{}
	j.contexts["inputs"], j.contexts["steps"] = inputs, steps
	outerEnv := maps.Clone(j.env)
	maps.Copy(outerEnv, j.expandAll(outer.Env))
	var failed error
	for i, inner := range j.action.Steps {
		if failed != nil && !strings.Contains(inner.If, "always()") || inner.If != "" && !isTrue(j.contexts.eval(inner.If)) {
			continue
		}
		file := fmt.Sprintf("%s.outputs-%s-%d", j.dir, inputs["command"], i)
		if err := j.step(inner, outerEnv, file); err != nil && !inner.GoOn && failed == nil {
			failed = err
		}
		if inner.ID != "" {
			steps[inner.ID] = map[string]any{"outputs": outputs(file)}
		}
	}
	return failed
}

func (j *gitHubJob) step(s step, env map[string]string, outputFile string) error {
	with := j.expandAll(s.With)
	switch name, _, _ := strings.Cut(s.Uses, "@"); name {
	case "":
	case "sigstore/cosign-installer":
		return nil
	case "actions/upload-artifact":
		return j.keep(j.run, with["name"]+"/"+filepath.Base(with["path"]), filepath.Join(j.dir, with["path"]))
	case "actions/download-artifact":
		return j.shell(j.dir, nil, fmt.Sprintf("cp %s/%s/%s/* %s", j.Server.Artifacts, with["run-id"], with["name"], with["path"]), false)
	default:
		return fmt.Errorf("no action that is known: %s", s.Uses)
	}
	all := maps.Clone(env)
	maps.Copy(all, j.expandAll(s.Env))
	maps.Copy(all, map[string]string{
		"GITHUB_REPOSITORY": "acme/live", "GITHUB_API_URL": j.Server.URL, "GITHUB_SERVER_URL": "https://github.example",
		"GITHUB_RUN_ID": j.run, "GITHUB_EVENT_PATH": j.eventFile, "GITHUB_OUTPUT": outputFile, "GITHUB_STEP_SUMMARY": j.dir + ".summary",
		"GITHUB_ACTION_PATH": j.Root, "GITHUB_PATH": j.dir + ".path", "RUNNER_TEMP": j.Work,
	})
	return j.shell(filepath.Join(j.dir, j.contexts.expand(cmp.Or(s.Dir, "."))), all, strings.Replace(s.Run, "sh ", "sh -x ", 1), true)
}
