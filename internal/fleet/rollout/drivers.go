// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/operation"
)

// Drivers say how units are planned and applied.
type Drivers struct {
	Plans string // directory for plan files, which hold secrets
	Roots *rootmodule.Engine

	// PlanFile says where the plan of a unit is kept, by its number; nil for a file in Plans that is
	// not needed any more when the plan is read.
	PlanFile func(unit int) string

	// Stack are the options of operations on all stacks, without which one is meant.
	Stack   operation.Options
	Version string // of this program, for plans of stacks

	AcceptRecovery bool // as in [operation.Request]

	// Remote opens drivers whose work is done somewhere else, in place of those in this process; nil
	// for none. The plan is kept in the file.
	Remote func(unit int, planFile string, together map[string]bool) driver.Driver

	// Together are as in [operation.Request]; nil for the deployments that the work has.
	Together map[string]bool

	// Show begins to show a phase of the work on a stack, ShowRoot on a root module.
	Show     func(unit string, phase string, options *operation.Options) driver.View
	ShowRoot func(unit *Unit, phase string) driver.RootView

	listed   sync.Once
	together map[string]map[string]bool // deployments of a stack that are worked on, by its directory
}

// togetherWith returns the deployments of the stack of a unit that one run works on, without those
// that it destroys: nothing is published of these.
func (d *Drivers) togetherWith(w *Work, u *Unit) map[string]bool {
	if d.Together != nil {
		return d.Together
	}
	d.listed.Do(func() {
		d.together = map[string]map[string]bool{}
		for _, unit := range w.Chosen() {
			other := &w.Units[unit]
			if other.Kind != Components || other.Destroyed {
				continue
			}
			if d.together[other.Dir] == nil {
				d.together[other.Dir] = map[string]bool{}
			}
			d.together[other.Dir][other.Deployment] = true
		}
	})
	return d.together[u.Dir]
}

// Open returns the driver of a unit of a work, which is not a task.
func (d *Drivers) Open(w *Work, unit int) driver.Driver {
	u := &w.Units[unit]
	files := filepath.Join(d.Plans, strconv.Itoa(unit))
	planFile, keep := files+".plan", driver.WhilePlanned
	if d.PlanFile != nil {
		planFile, keep = d.PlanFile(unit), driver.Always
	}
	if d.Remote != nil {
		return d.Remote(unit, planFile, d.togetherWith(w, u))
	}
	if u.Kind == Components {
		stack := d.Stack
		stack.Env.Dir, stack.Env.Home, stack.Env.Environ = u.Dir, u.Home, Environment(u)
		return driver.NewStack(driver.StackOptions{
			Operation: stack, VarFiles: u.VarFiles, Version: d.Version, PlanFile: planFile, Sources: u.Inputs.Sources(), Keep: keep,
			Request: operation.Request{Together: d.togetherWith(w, u), AcceptRecovery: d.AcceptRecovery},
			Show:    func(phase string, options *operation.Options) driver.View { return d.Show(u.Name, phase, options) },
		})
	}
	return driver.NewRoot(d.Roots.Open(rootmodule.Options{
		Dir:       u.Dir,
		Environ:   enginelog.ForProcess(environ.WithoutKeys(Environment(u))),
		VarFiles:  u.VarFiles,
		Workspace: w.workspaceToSelect(u),
		PlanFile:  planFile,
		RunDir:    files + ".run",
	}), func(phase string) driver.RootView { return d.ShowRoot(u, phase) })
}

// workspaceToSelect returns the workspace of a root module that is to be selected. None stands for
// the selected one, unless another unit selects something else in the directory.
func (w *Work) workspaceToSelect(u *Unit) string {
	if u.Workspace == "" && w.selectsIn(u.Dir) {
		return DefaultWorkspace
	}
	return u.Workspace
}

// Environment is that of this program with the additions of a unit. Relative paths for engines are
// taken from the working directory of this program, not from the directory of the unit.
func Environment(u *Unit) []string {
	env := os.Environ()
	if here, err := os.Getwd(); err == nil { // without a working directory the work on the unit says so itself
		env = cliconfig.AbsolutePaths(env, here)
	}
	env = append(env, "TF_IN_AUTOMATION=1")
	env = append(env, u.Env...)
	if u.Workspace != "" {
		env = append(env, initdir.WorkspaceVariable+"=") // which would forbid to select one
	}
	return env
}
