// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/states/compile"
)

// aptEnvironment keeps apt-get from asking anything.
var aptEnvironment = []string{"DEBIAN_FRONTEND=noninteractive", "APT_LISTCHANGES_FRONTEND=none", "LC_ALL=C"}

// aptOptions are those of all commands that change packages: they keep configuration that was
// changed, and wait for others that are at it, such as upgrades in the background.
var aptOptions = []string{
	"-q", "-y", "-o", "DPkg::Lock::Timeout=300", "-o", "DPkg::Options::=--force-confold", "-o", "DPkg::Options::=--force-confdef",
}

// apt lets one call at a time run apt-get. The zero value is ready for use.
type apt struct {
	once      sync.Once
	turn      chan struct{} // has one element while nobody runs apt-get
	refreshed bool          // all lists; belongs to the call that has the turn
}

// enter waits for the turn, or for the end of ctx.
func (a *apt) enter(ctx context.Context) (leave func(), err error) {
	a.once.Do(func() {
		a.turn = make(chan struct{}, 1)
		a.turn <- struct{}{}
	})
	select {
	case <-a.turn:
		return func() { a.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// refreshing says when lists of packages are fetched.
type refreshing int

const (
	refreshOnce   refreshing = iota // before the first packages of a run are installed; that it fails is not a failure by itself
	refreshAlways                   //
	refreshNever                    //
)

// refreshWanted reads the argument "refresh".
func (c *call) refreshWanted() refreshing {
	switch {
	case !c.given("refresh"):
		return refreshOnce
	case c.boolean("refresh", false):
		return refreshAlways
	}
	return refreshNever
}

// refresh fetches the lists of packages, if it is time to. The note has the faults of the lists: it
// goes with errors that may follow from them, and with results that may be others than with all
// lists.
func (a *apt) refresh(ctx context.Context, h *Host, wanted refreshing) (note string, err error) {
	leave, err := a.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	if wanted == refreshNever || wanted == refreshOnce && a.refreshed {
		return "", nil
	}
	command := Command{Args: []string{"apt-get", "-q", "update"}, Env: aptEnvironment}
	output, err := h.runner().Run(ctx, command)
	if err := failure(command, output, err); err != nil {
		if wanted == refreshAlways || ctx.Err() != nil {
			return "", err
		}
		return notFetched + err.Error(), nil
	}
	warnings := aptWarnings(output.Stderr)
	a.refreshed = warnings == ""
	if warnings != "" { // lists that cannot be fetched are not a failure for apt-get
		note = notFetched + warnings
	}
	return note, nil
}

const notFetched = "\nNot all lists of packages could be fetched:\n"

// aptWarnings returns the lines with warnings and errors.
func aptWarnings(stderr string) string {
	var warnings []string
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "W: ") || strings.HasPrefix(line, "E: ") {
			warnings = append(warnings, strings.TrimSpace(line))
		}
	}
	const most = 10
	return strings.Join(warnings[:min(len(warnings), most)], "\n")
}

// aptGet installs or removes packages. It returns a function that adds to changes those of other
// packages.
func (h *Host) aptGet(ctx context.Context, verb string, all []packageVersion, options ...string) (others func(*compile.Map), err error) {
	leave, err := h.apt.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	before, err := h.everyPackage(ctx)
	if err != nil {
		return nil, err
	}
	command := aptCommand(append(slices.Clone(aptOptions), options...), verb, all)
	command.Gentle = true // it lets dpkg finish its current step, instead of leaving packages half installed
	if err := h.run(ctx, command); err != nil {
		return nil, err
	}
	after, err := h.everyPackage(context.WithoutCancel(ctx)) // the changes are reported, whether it was too late or not
	return func(changes *compile.Map) { broughtAlong(changes, before, after) }, err
}

func aptCommand(options []string, verb string, all []packageVersion) Command {
	args := append([]string{"apt-get"}, options...)
	args = append(args, verb, "--")
	for _, p := range all {
		name := p.name
		if p.version != "" {
			name += "=" + p.version
		}
		args = append(args, name)
	}
	return Command{Args: args, Env: aptEnvironment}
}

// aptUnchanged are options with which apt-get and apt-cache leave their caches of the lists alone.
var aptUnchanged = []string{"-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="}

// simulation are options with which apt-get changes nothing, not even the log of its plans.
var simulation = append([]string{"-s", "-q", "-y", "-o", "Debug::NoLocking=1", "-o", "Dir::Log::Planner=/dev/null"}, aptUnchanged...)

// simulated is a line about a package that would come or go: its name, its version, and the version
// that it would have.
var simulated = regexp.MustCompile(`^(Inst|Remv|Purg) (\S+)(?: \[([^\]]*)\])?(?: \((\S+))?`)

// simulateApt adds to changes those that apt-get would make to other packages, with their versions.
// If it would refuse, which may be on account of something that is not there yet, it returns the
// text of the refusal.
func (h *Host) simulateApt(
	ctx context.Context, changes *compile.Map, verb string, all []packageVersion, options ...string,
) (refusal string, err error) {
	leave, err := h.apt.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	command := aptCommand(append(slices.Clone(simulation), options...), verb, all)
	output, err := h.runner().Run(ctx, command)
	if err != nil {
		return "", failure(command, output, err)
	}
	if output.Code != 0 {
		return strings.TrimPrefix(strings.TrimSuffix(said(output), "."), ":"), nil
	}
	for line := range strings.Lines(output.Stdout) {
		words := simulated.FindStringSubmatch(line)
		if words == nil {
			continue
		}
		versions := &compile.Map{}
		versions.Set("old", words[3])
		versions.Set("new", words[4])
		if named, ok := changes.Get(words[2]).(*compile.Map); !ok || named.Get("new") == newestVersion {
			changes.Set(words[2], versions)
		}
	}
	return "", nil
}

// withoutApt reports why packages cannot be managed here, "" if they can.
func (h *Host) withoutApt() string {
	for _, program := range []string{"dpkg-query", "apt-get"} {
		if !h.runner().Has(program) {
			return fmt.Sprintf("Packages are managed with dpkg-query and apt-get, as on Debian and its kind, and there is no %s here.", program)
		}
	}
	return ""
}

// packageStatus is dpkg's record of a package. Of one that it has never heard of, both are empty.
type packageStatus struct{ status, version string }

// installed is the status of packages that are there as a whole.
const installed = "installed"

func (h *Host) packageStatuses(ctx context.Context, all []packageVersion) (map[string]packageStatus, error) {
	statuses := map[string]packageStatus{}
	for _, p := range all {
		command := Command{Args: []string{"dpkg-query", "--show", "--showformat", `${db:Status-Status}\t${Version}\n`, p.name}}
		output, err := h.runner().Run(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("dpkg-query: %w", err)
		}
		for line := range strings.Lines(output.Stdout) { // one for each architecture
			status, version, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if ok && statuses[p.name].status != installed {
				statuses[p.name] = packageStatus{status, version}
			}
		}
	}
	return statuses, nil
}

// installedPackages returns the versions of those that are installed.
func (h *Host) installedPackages(ctx context.Context, all []packageVersion) (map[string]string, error) {
	statuses, err := h.packageStatuses(ctx, all)
	versions := map[string]string{}
	for name, s := range statuses {
		if s.status == installed {
			versions[name] = s.version
		}
	}
	return versions, err
}

// everyPackage returns the versions of all that is installed; those of another architecture than
// the machine's with it in their names.
func (h *Host) everyPackage(ctx context.Context) (map[string]string, error) {
	output, err := h.runner().Run(ctx, Command{
		Args: []string{"dpkg-query", "--show", "--showformat", `${db:Status-Status}\t${Version}\t${binary:Package}\n`},
	})
	if err != nil {
		return nil, fmt.Errorf("dpkg-query: %w", err)
	}
	versions := map[string]string{}
	for line := range strings.Lines(output.Stdout) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(words) == 3 && words[0] == installed {
			versions[words[2]] = words[1]
		}
	}
	return versions, nil
}

// broughtAlong adds to changes the other packages that have come or gone between two looks at all
// packages.
func broughtAlong(changes *compile.Map, before, after map[string]string) {
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if before[name] == after[name] {
			continue
		}
		if _, listed := changes.Lookup(name); !listed {
			versions := &compile.Map{}
			versions.Set("old", before[name])
			versions.Set("new", after[name])
			changes.Set(name, versions)
		}
	}
}
