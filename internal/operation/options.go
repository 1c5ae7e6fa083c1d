// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// The environment variables that beat the settings file, where an option does not.
const (
	StateVariable      = "CAIRN_STATE"
	DeploymentVariable = "CAIRN_DEPLOYMENT"

	// DataVariable names a directory for what is kept in [WorkDir] otherwise. No setting of a checkout
	// does: where files go, and from where runs are recovered, is for the user to say.
	DataVariable = workdir.Variable
)

// WorkDir holds what is kept between operations, next to the stack unless [DataVariable] names
// another place.
const WorkDir = ".cairn"

// DefaultState is where the state is kept, next to the stack.
const DefaultState = "cairn.state.db"

// Options say which stack is operated on, and how. What has the zero value is taken from the
// environment, from the settings file of the stack, or is what is usual.
type Options struct {
	Dir        string // of the stack; the current directory if empty
	Home       string // where the stack is or was if Dir has a copy of its configuration; its state and [WorkDir] are there. Empty stands for Dir
	WorkDir    string // for this stack alone
	State      string // location: a path, or a URL
	Deployment string

	// Environ is the environment of the operation, and of the programs that it starts; nil stands for
	// that of this program. Paths in it are relative to the directory of the stack, as for a program
	// that is run there.
	Environ []string

	Engine     string // path or name of a binary, or [engines.Native], [engines.Auto] or [engines.AnyBinary]
	EngineFrom string // who has named it, in words for messages

	ReadOnlyLocks  bool          // no version of a provider is chosen that is not locked
	LockTimeout    time.Duration // how long to wait for somebody else's lock of the state
	ChangesNothing bool          // the operation does not even plan, so that what is required of the engine is advice

	// Workspace is the directory of the workspace file that says where upstream stacks are kept. Empty
	// stands for the top of the repository in which the stack is.
	Workspace string

	// Planned returns the outputs that a deployment of the stack in a directory, which is an absolute
	// path, has by a plan that is not applied yet, and false if there is no such plan. Of upstream
	// stacks, that counts then in place of what they have published. Nil stands for no plans.
	Planned func(ctx context.Context, dir, deployment string) (outputs map[string]cty.Value, planned bool, err error)

	// Shared is what several operations in one process have in common. Nil stands for what is for this
	// one alone.
	Shared *Shared

	Notify notice.Func
	Log    *slog.Logger // names, addresses and processes; never values

	// Files receives the sources that diagnostics are about, by their names. Nil makes a new map.
	Files map[string]*hcl.File

	// StopNow is closed by a caller that waits for the end of an operation that it has interrupted
	// ([ErrInterrupted]). What changes nothing is ended at once then, and all engines get to know of
	// it. What was done is saved as without it.
	StopNow <-chan struct{}

	// Resolver finds the sources of the stack that are not local, and diagnostics name files as it
	// does. Nil stands for what was fetched for the stack, as its lock file says. With a resolver, the
	// caller knows where stacks are: a directory without configuration is one without anything in it,
	// and what else is there, such as deployments, is its own concern.
	Resolver stackconfig.Resolver

	// Like is a stack in the same directory whose files were read, by nobody any more: what they say
	// counts for this one, too. Several deployments of a stack have its configuration in common by it.
	Like *Stack

	// Providers are the only ones that there are, whatever the lock file of the stack says. Nil
	// installs what is needed.
	Providers *Providers

	// ModulesEngine is what plans and applies modules. Nil stands for the engine that is named, or for
	// what is usual.
	ModulesEngine engine.Engine
}

// Providers are those that a caller has installed.
type Providers struct{ Packages []engine.ProviderPackage }

// Shared is what operations on several stacks find out once in one process. The zero value knows
// nothing yet. It is safe for concurrent use.
type Shared struct {
	engines engines.Shared
	sources bundle.Shared
	stores  statestore.Shared

	deployments declared.Known
	readings    deployment.Known

	publishing sync.Mutex // from the look at what other deployments have until that is kept, so that the last one sees all
}

// ofReadings is what was read of states.
func (s *Shared) ofReadings() *deployment.Known {
	if s == nil {
		return nil
	}
	return &s.readings
}

// OfEngines is what their engines have in common.
func (s *Shared) OfEngines() *engines.Shared { return &s.engines }

// dataDir is the working directory of the stack. Below the one that the user names, each stack has
// its own, whatever else is run with that variable.
func (s *Stack) dataDir() string {
	dir := s.getenv(DataVariable)
	if dir == "" {
		return filepath.Join(s.home(), WorkDir)
	}
	dir = s.fromEnviron(dir)
	stack := absolute(s.home())
	if resolved, err := filepath.EvalSymlinks(stack); err == nil {
		stack = resolved
	}
	sum := sha256.Sum256([]byte(stack))
	return filepath.Join(dir, fmt.Sprintf("%s-%x", filepath.Base(stack), sum[:6]))
}

// absolute makes a path absolute, if it can be known to what it is relative.
func absolute(path string) string {
	if made, err := filepath.Abs(path); err == nil {
		return made
	}
	return path
}

// getenv returns a variable of the environment of the operation.
func (s *Stack) getenv(name string) string { return environ.Get(s.environ, name) }

// fromEnviron makes a path of one that the environment or a setting names. In the current directory
// it stays as the user has written it.
func (s *Stack) fromEnviron(path string) string {
	if s.home() == "." {
		return path
	}
	return s.fromHome(path)
}

// values returns the values that are given to input variables, by the environment and by arguments.
func (s *Stack) values(declared map[string]*stackconfig.InputVariable, arguments []variables.Argument) (variables.Given, hcl.Diagnostics) {
	return variables.Read(declared, s.valueSources(arguments), s.opts.Files)
}

// valueSources are where values of variables come from. Files that the environment names come
// first, so that arguments beat them.
func (s *Stack) valueSources(arguments []variables.Argument) variables.Sources {
	sources := variables.Sources{Environ: s.environ}
	for _, file := range filepath.SplitList(s.getenv(variables.FilesVariable)) {
		if file != "" {
			sources.Arguments = append(sources.Arguments, variables.Argument{File: s.fromEnviron(file)})
		}
	}
	sources.Arguments = append(sources.Arguments, arguments...)
	return sources
}
