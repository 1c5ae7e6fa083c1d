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

	// DataVariable names a directory in place of [WorkDir]. No setting of a checkout does: where files
	// go, and from where runs are recovered, is for the user to say.
	DataVariable = workdir.Variable
)

// WorkDir holds the files that are kept between operations, next to the stack unless [DataVariable]
// names another place.
const WorkDir = ".cairn"

// DefaultState is where the state is kept, next to the stack.
const DefaultState = "cairn.state.db"

// Options are the stack, and the options of operations on it. A zero value stands for that of the
// environment, of the settings file of the stack, or for the default.
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
	EngineFrom string // its source, in words for messages

	ReadOnlyLocks  bool          // no version of a provider is chosen that is not locked
	LockTimeout    time.Duration // how long to wait for somebody else's lock of the state
	ChangesNothing bool          // the operation does not even plan, so that requirements of the engine are advice

	// Workspace is the directory of the workspace file that says where upstream stacks are kept. Empty
	// stands for the top of the repository in which the stack is.
	Workspace string

	// Planned returns the outputs that a deployment of the stack in a directory, which is an absolute
	// path, has by a plan that is not applied yet, and false if there is no such plan. For upstream
	// stacks, these count then in place of their published values. Nil stands for no plans.
	Planned func(ctx context.Context, dir, deployment string) (outputs map[string]cty.Value, planned bool, err error)

	// Shared is the common cache of several operations in one process. Nil stands for one of this
	// operation alone.
	Shared *Shared

	Notify notice.Func
	Log    *slog.Logger // names, addresses and processes; never values

	// Files receives the sources that diagnostics are about, by their names. Nil makes a new map.
	Files map[string]*hcl.File

	// StopNow is closed by a caller that waits for the end of an operation that it has interrupted
	// ([ErrInterrupted]). Work that changes nothing is ended at once then, and all engines get to know
	// of it. Changes are saved as without it.
	StopNow <-chan struct{}

	// Resolver finds the sources of the stack that are not local, and diagnostics name files as it
	// does. Nil stands for the packages that were fetched for the stack, as its lock file says. With a
	// resolver, the caller knows where stacks are: a directory without configuration is one without
	// anything in it, and its other contents, such as deployments, are its own concern.
	Resolver stackconfig.Resolver

	// Like is a stack in the same directory whose files were read, by nobody any more: their contents
	// count for this one, too. Several deployments of a stack have its configuration in common by it.
	Like *Stack

	// Providers are the only ones that there are, whatever the lock file of the stack says. Nil
	// installs the required ones.
	Providers *Providers

	// ModulesEngine is the engine that plans and applies modules. Nil stands for the engine that is
	// named, or for the default.
	ModulesEngine engine.Engine
}

// Providers are those that a caller has installed.
type Providers struct{ Packages []engine.ProviderPackage }

// Shared is the common cache of operations on several stacks in one process. The zero value is
// empty. It is safe for concurrent use.
type Shared struct {
	engines engines.Shared
	sources bundle.Shared
	stores  statestore.Shared

	deployments declared.Known
	readings    deployment.Known

	publishing sync.Mutex // from the look at other deployments' values until the own ones are kept, so that the last one sees all
}

// ofReadings is the cache of states.
func (s *Shared) ofReadings() *deployment.Known {
	if s == nil {
		return nil
	}
	return &s.readings
}

// OfEngines is the cache of their engines.
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

// absolute makes a path absolute, if the working directory is known.
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
