// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forgetest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// gitLabJob is a job of a component, as far as it is played.
type gitLabJob struct {
	Extends   string
	Variables map[string]string
	Before    []string `yaml:"before_script"`
	Script    []string
	After     []string `yaml:"after_script"`
	Artifacts struct{ Paths []string }
}

// Pipeline is the reason for a job, and what its predefined variables say.
type Pipeline struct {
	Ref       string
	Variables map[string]string
}

// component returns the jobs of the component of the kit, with the inputs of a file that includes
// it.
func (r *Runner) component(including []byte) (map[string]gitLabJob, error) {
	var file struct {
		Include []struct{ Inputs map[string]string }
	}
	if err := yaml.Unmarshal(including, &file); err != nil {
		return nil, err
	}
	if len(file.Include) != 1 {
		return nil, errors.New("the file includes not just the component")
	}
	text, err := os.ReadFile(filepath.Join(r.Root, "templates", "cairn", "template.yml"))
	if err != nil {
		return nil, err
	}
	head, body, _ := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Default string }
		}
	}
	if err := yaml.Unmarshal([]byte(head), &spec); err != nil {
		return nil, err
	}
	for name := range file.Include[0].Inputs {
		if _, ok := spec.Spec.Inputs[name]; !ok {
			return nil, fmt.Errorf("the component has no input %s", name)
		}
	}
	for name, input := range spec.Spec.Inputs {
		value := input.Default
		if given, ok := file.Include[0].Inputs[name]; ok {
			value = given
		}
		if name == "version" {
			value = "" // cairn is there
		}
		body = strings.ReplaceAll(body, "$[[ inputs."+name+" ]]", value)
	}
	if strings.Contains(body, "$[[") {
		return nil, errors.New("the component uses an input that it does not declare")
	}
	jobs := map[string]gitLabJob{}
	return jobs, yaml.Unmarshal([]byte(body), &jobs)
}

// GitLab plays a job of the component that a file includes.
func (r *Runner) GitLab(including []byte, name string, pipeline Pipeline) error {
	jobs, err := r.component(including)
	if err != nil {
		return err
	}
	job, ok := jobs[name]
	if !ok {
		return fmt.Errorf("there is no job %s", name)
	}
	base := jobs[job.Extends]
	run, dir, err := r.start(pipeline.Ref)
	if err != nil {
		return err
	}
	env := map[string]string{
		"CI_API_V4_URL": r.Server.URL, "CI_PROJECT_ID": "7", "CI_JOB_ID": run, "CI_JOB_URL": "https://gitlab.example/acme/live/-/jobs/" + run,
		"CAIRN_TOKEN": Token, "CI_PROJECT_DIR": dir, "CI_DEFAULT_BRANCH": "main",
	}
	for _, variables := range []map[string]string{r.Vars, base.Variables, pipeline.Variables} {
		maps.Copy(env, variables)
	}
	script := strings.Join(append(base.Before, job.Script...), "\n")
	failed := r.shell(dir, env, traced(script), true)
	if len(job.After) > 0 {
		if err := r.shell(dir, env, traced(strings.Join(job.After, "\n")), true); err != nil {
			fmt.Fprintf(&r.Log, "after_script: %v\n", err) // which does not count, there
		}
	}
	for _, path := range job.Artifacts.Paths {
		path = filepath.Clean(path)
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			if err := r.keep(run, path, filepath.Join(dir, path)); err != nil {
				return err
			}
		}
	}
	return failed
}

// traced has the scripts of the kit show each command, in which nothing secret may be.
func traced(script string) string { return strings.ReplaceAll(script, "\nsh \"$CI", "\nsh -x \"$CI") }
