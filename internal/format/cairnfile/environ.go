// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Environ returns as NAME=VALUE the additions of a leaf to the environment of this program: its own
// variables of the environment, and for a stack also its name, its deployment, and its input
// variables as terraform and cairn read them.
func (l *Leaf) Environ() []string { return l.environ("TF_VAR_") }

// environ is Environ with a prefix of the names of variables.
func (l *Leaf) environ(prefix string) []string {
	var env []string
	if l.Stack != nil {
		env = append(env, "CAIRN_STACK="+l.Name, "CAIRN_DEPLOYMENT="+l.Stack.Deployment)
		for _, name := range slices.Sorted(maps.Keys(l.Variables)) {
			env = append(env, prefix+name+"="+l.Variables[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Environment)) {
		env = append(env, name+"="+l.Environment[name])
	}
	return env
}

// VarFiles returns the paths of the files with values for a stack, in a repository with a root.
func (l *Leaf) VarFiles(root string) []string {
	if l.Stack == nil {
		return nil
	}
	var files []string
	for _, file := range l.Stack.VarFiles {
		files = append(files, filepath.Join(root, filepath.FromSlash(file)))
	}
	return files
}

// withVarFiles are the commands of terraform and tofu that take files with values of variables.
var withVarFiles = []string{"apply", "console", "destroy", "import", "plan", "refresh", "test"}

// VarFilesEnviron returns as NAME=VALUE the variables with which cairn, terraform and tofu read
// files with values without options that name them. Values that lookup finds in the environment
// stay.
func VarFilesEnviron(files []string, lookup func(name string) string) []string {
	if len(files) == 0 {
		return nil
	}
	var options []string
	for _, file := range files {
		options = append(options, "'-var-file="+strings.ReplaceAll(file, "'", `'\''`)+"'")
	}
	env := []string{"CAIRN_VAR_FILES=" + strings.Join(files, string(os.PathListSeparator))}
	for _, command := range withVarFiles {
		name := "TF_CLI_ARGS_" + command
		env = append(env, name+"="+strings.TrimSpace(strings.Join(options, " ")+" "+lookup(name)))
	}
	return env
}
