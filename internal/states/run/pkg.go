// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func packageFunctions() map[string]*function {
	return map[string]*function{
		"pkg.installed": {
			args:  map[string]kind{"version": precise, "pkgs": packages, "refresh": boolean, "install_recommends": boolean},
			check: checkPackages,
			call:  func(ctx context.Context, c *call) schedule.Outcome { return c.install(ctx, false) },
		},
		"pkg.latest": {
			args:  map[string]kind{"pkgs": packages, "refresh": boolean, "install_recommends": boolean},
			check: checkUnversioned,
			call:  func(ctx context.Context, c *call) schedule.Outcome { return c.install(ctx, true) },
		},
		"pkg.removed": {
			args:  map[string]kind{"pkgs": packages},
			check: checkUnversioned,
			call:  func(ctx context.Context, c *call) schedule.Outcome { return c.uninstall(ctx, "remove") },
		},
		"pkg.purged": {
			args:  map[string]kind{"pkgs": packages},
			check: checkUnversioned,
			call:  func(ctx context.Context, c *call) schedule.Outcome { return c.uninstall(ctx, "purge") },
		},
	}
}

var (
	packageName    = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+(:[a-z0-9-]+)?$`)
	packageRelease = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+~:-]*$`)
)

func checkPackages(c *call) error {
	if c.given("pkgs") && c.given("version") {
		return wrongArgument("version", "it has both \"pkgs\" and \"version\". Write versions into \"pkgs\"")
	}
	for _, p := range c.packages() {
		if !packageName.MatchString(p.name) {
			return wrongArgument(c.packagesArgument("name"), "%q is not a name of a package", p.name)
		}
		if p.version != "" && !packageRelease.MatchString(p.version) {
			return wrongArgument(c.packagesArgument("version"), "%q is not a version of a package. Give one version exactly", p.version)
		}
	}
	return nil
}

// checkUnversioned is [checkPackages] for functions to which versions mean nothing.
func checkUnversioned(c *call) error {
	for _, p := range c.packages() {
		if p.version != "" {
			return wrongArgument("pkgs", "the package %s has a version, which means nothing to %s.%s. Leave it out", p.name, c.Module, c.Function)
		}
	}
	return checkPackages(c)
}

// packagesArgument is the argument that packages are taken from, or otherwise.
func (c *call) packagesArgument(otherwise string) string {
	if c.given("pkgs") {
		return "pkgs"
	}
	return otherwise
}

// packages returns the packages of the call.
func (c *call) packages() []packageVersion {
	if all, ok := packagesOf(c.Args.Get("pkgs")); ok {
		return all
	}
	version, ok := preciseText(c.Args.Get("version"))
	if !ok {
		version = ""
	}
	return []packageVersion{{c.Name, version}}
}

// install installs missing packages; with latest also those with a newer version.
func (c *call) install(ctx context.Context, latest bool) schedule.Outcome {
	if why := c.host.withoutApt(); why != "" {
		return failed("%s", why)
	}
	wanted := c.packages()
	before, err := c.host.installedPackages(ctx, wanted)
	note := ""
	if err == nil && latest {
		wanted, note, err = c.candidates(ctx, wanted)
	}
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	var missing []packageVersion
	for _, p := range wanted {
		if version, ok := before[p.name]; !ok || p.version != "" && p.version != version {
			missing = append(missing, p)
		}
	}
	switch {
	case len(missing) == 0 && latest:
		return schedule.Outcome{Comment: "All packages are installed in their newest versions." + note}
	case len(missing) == 0:
		return schedule.Outcome{Comment: "All packages are installed."}
	}
	// A call can ask for an older version than the installed one, which apt-get refuses otherwise.
	options := []string{"--allow-downgrades"}
	if !c.boolean("install_recommends", true) {
		options = append(options, "--no-install-recommends")
	}
	if c.Test {
		return c.wouldChange(ctx, packageChanges(missing, before, expected(missing)), "install", missing, options...)
	}
	if note, err = c.host.apt.refresh(ctx, c.host, c.refreshWanted()); err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	others, err := c.host.aptGet(ctx, "install", missing, options...)
	if err != nil {
		return failed("%s.%s", upperFirst(err.Error()), note)
	}
	return c.wereInstalled(ctx, missing, before, others)
}

// wouldChange asks apt-get for the changes that it would make. A request that it refuses now it may
// not refuse after the other calls of the run, so that this is not a failure.
func (c *call) wouldChange(
	ctx context.Context, changes *compile.Map, verb string, all []packageVersion, options ...string,
) schedule.Outcome {
	done := map[string]string{"install": "installed", "remove": "removed", "purge": "removed"}[verb]
	outcome := schedule.Outcome{Changed: true, Changes: changes, Comment: "Packages would be " + done + "."}
	refusal, err := c.host.simulateApt(ctx, changes, verb, all, options...)
	switch {
	case err != nil:
		return failed("%s.", upperFirst(err.Error()))
	case refusal != "":
		outcome.Comment = "Packages are to be " + done + ", but as things are now, apt-get would refuse it:" + refusal
	}
	return outcome
}

// newestVersion stands for the version of a package in test mode, if it is not known.
const newestVersion = "the newest version"

// expected returns the versions that packages are to have.
func expected(all []packageVersion) map[string]string {
	versions := map[string]string{}
	for _, p := range all {
		versions[p.name] = p.version
		if p.version == "" {
			versions[p.name] = newestVersion
		}
	}
	return versions
}

// wereInstalled looks at the results of apt-get.
func (c *call) wereInstalled(
	ctx context.Context, missing []packageVersion, before map[string]string, others func(*compile.Map),
) schedule.Outcome {
	after, err := c.host.installedPackages(context.WithoutCancel(ctx), missing)
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	for _, p := range missing {
		_, ok := after[p.name]
		switch {
		case ok:
		case ctx.Err() != nil:
			return c.endedEarly(ctx)
		default:
			return failed("The package %s is not installed, though apt-get has succeeded. "+
				"It may be a virtual one: name one that provides it.", p.name)
		}
	}
	changes := packageChanges(missing, before, after)
	others(changes)
	return schedule.Outcome{Changed: true, Changes: changes, Comment: "Packages were installed."}
}

// endedEarly is the outcome if apt-get has ended before it was done, which is a success for it.
func (c *call) endedEarly(ctx context.Context) schedule.Outcome {
	return failed("%s The next run can go on from there.", c.ended("The command apt-get", context.Cause(ctx)))
}

// candidates adds to packages the newest versions that apt-get knows. In test mode, these may be
// outdated. The note is that of [apt.refresh].
func (c *call) candidates(ctx context.Context, all []packageVersion) (newest []packageVersion, note string, err error) {
	if !c.Test {
		if note, err = c.host.apt.refresh(ctx, c.host, c.refreshWanted()); err != nil {
			return nil, "", err
		}
	}
	command := []string{"apt-cache"}
	if c.Test {
		command = append(command, aptUnchanged...)
	}
	newest = make([]packageVersion, len(all))
	for i, p := range all {
		output, err := c.host.runner().Run(ctx, Command{Args: append(slices.Clone(command), "policy", "--", p.name), Env: aptEnvironment})
		if err != nil {
			return nil, "", fmt.Errorf("apt-cache: %w", err)
		}
		newest[i].name = p.name
		for line := range strings.Lines(output.Stdout) {
			if version, ok := strings.CutPrefix(strings.TrimSpace(line), "Candidate: "); ok && version != "(none)" {
				newest[i].version = version
			}
		}
		if newest[i].version == "" {
			return nil, "", fmt.Errorf("apt-get knows no version of the package %s%s", p.name, note)
		}
	}
	return newest, note, nil
}

// uninstall removes packages, or with "purge" their configuration, too.
func (c *call) uninstall(ctx context.Context, verb string) schedule.Outcome {
	if why := c.host.withoutApt(); why != "" {
		return failed("%s", why)
	}
	statuses, err := c.host.packageStatuses(ctx, c.packages())
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	var there []packageVersion
	before := map[string]string{}
	for _, p := range c.packages() {
		if s := statuses[p.name]; s.status == installed || verb == "purge" && s.status != "" && s.status != "not-installed" {
			there = append(there, p)
			before[p.name] = s.version
		}
	}
	changes := packageChanges(there, before, nil)
	switch {
	case len(there) == 0:
		return schedule.Outcome{Comment: "None of the packages is there."}
	case c.Test:
		return c.wouldChange(ctx, changes, verb, there)
	}
	others, err := c.host.aptGet(ctx, verb, there)
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	if ctx.Err() != nil {
		left, err := c.host.installedPackages(context.WithoutCancel(ctx), there)
		if err != nil || len(left) > 0 {
			return c.endedEarly(ctx)
		}
	}
	others(changes)
	return schedule.Outcome{Changed: true, Changes: changes, Comment: "Packages were removed."}
}

func packageChanges(all []packageVersion, before, after map[string]string) *compile.Map {
	changes := &compile.Map{}
	for _, p := range all {
		versions := &compile.Map{}
		versions.Set("old", before[p.name])
		versions.Set("new", after[p.name])
		changes.Set(p.name, versions)
	}
	return changes
}
