// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

func packageFunctions() map[string]*function {
	return map[string]*function{
		"pkg.installed": {
			args:  map[string]kind{"version": precise, "pkgs": packages, "refresh": boolean},
			check: checkPackages,
			call:  func(ctx context.Context, c *call) lowdata.Outcome { return c.install(ctx) },
		},
	}
}

var (
	packageName    = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+(:[a-z0-9-]+)?$`)
	packageRelease = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+~:-]*$`)
)

func checkPackages(c *call) error {
	if c.given("pkgs") && c.given("version") {
		return fmt.Errorf("it has both \"pkgs\" and \"version\". Write versions into \"pkgs\"")
	}
	for _, p := range c.packages() {
		if !packageName.MatchString(p.name) {
			return fmt.Errorf("%q is no name of a package", p.name)
		}
		if p.version != "" && !packageRelease.MatchString(p.version) {
			return fmt.Errorf("%q is no version of a package. Give one version exactly", p.version)
		}
	}
	return nil
}

// packages returns what is to be installed.
func (c *call) packages() []packageVersion {
	if all, ok := packagesOf(c.Args.Get("pkgs")); ok {
		return all
	}
	version, _ := preciseText(c.Args.Get("version"))
	return []packageVersion{{c.Name, version}}
}

func (c *call) install(ctx context.Context) lowdata.Outcome {
	for _, program := range []string{"dpkg-query", "apt-get"} {
		if !c.host.runner().Has(program) {
			return failed("Packages are installed with dpkg-query and apt-get, and there is no %s here.", program)
		}
	}
	wanted := c.packages()
	before, err := c.host.installedPackages(ctx, wanted)
	if err != nil {
		return failed("%s", upperFirst(err.Error()))
	}
	var missing []packageVersion
	for _, p := range wanted {
		if version, ok := before[p.name]; !ok || p.version != "" && p.version != version {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return lowdata.Outcome{Comment: "All packages are installed."}
	}
	if c.Test {
		after := map[string]string{}
		for _, p := range missing {
			after[p.name] = p.version
			if p.version == "" {
				after[p.name] = "the newest version"
			}
		}
		return lowdata.Outcome{Changed: true, Changes: packageChanges(missing, before, after), Comment: "Packages would be installed."}
	}
	if err := c.host.aptGet(ctx, missing, c.boolean("refresh", false)); err != nil {
		return failed("%s", upperFirst(err.Error()))
	}
	after, err := c.host.installedPackages(ctx, missing)
	if err != nil {
		return failed("%s", upperFirst(err.Error()))
	}
	for _, p := range missing {
		if _, ok := after[p.name]; !ok {
			return failed("The package %s is not installed, though apt-get has succeeded. It may be a virtual one: name one that provides it.", p.name)
		}
	}
	return lowdata.Outcome{Changed: true, Changes: packageChanges(missing, before, after), Comment: "Packages were installed."}
}

func packageChanges(all []packageVersion, before, after map[string]string) *lowdata.Map {
	changes := &lowdata.Map{}
	for _, p := range all {
		versions := &lowdata.Map{}
		versions.Set("old", before[p.name])
		versions.Set("new", after[p.name])
		changes.Set(p.name, versions)
	}
	return changes
}

// installedPackages returns the versions of those that are installed.
func (h *Host) installedPackages(ctx context.Context, all []packageVersion) (map[string]string, error) {
	installed := map[string]string{}
	for _, p := range all {
		command := Command{Args: []string{"dpkg-query", "--show", "--showformat", `${db:Status-Status}\t${Version}\n`, p.name}}
		output, err := h.runner().Run(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("dpkg-query: %w", err)
		}
		for line := range strings.Lines(output.Stdout) {
			if status, version, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && status == "installed" {
				installed[p.name] = version
			}
		}
	}
	return installed, nil
}

func (h *Host) aptGet(ctx context.Context, all []packageVersion, refresh bool) error {
	env := []string{"DEBIAN_FRONTEND=noninteractive", "APT_LISTCHANGES_FRONTEND=none", "LC_ALL=C"}
	if refresh {
		if err := h.run(ctx, Command{Args: []string{"apt-get", "-q", "update"}, Env: env}); err != nil {
			return err
		}
	}
	args := []string{
		"apt-get", "-q", "-y", "-o", "DPkg::Options::=--force-confold", "-o", "DPkg::Options::=--force-confdef",
		"--allow-downgrades", "install", "--",
	}
	for _, p := range all {
		name := p.name
		if p.version != "" {
			name += "=" + p.version
		}
		args = append(args, name)
	}
	return h.run(ctx, Command{Args: args, Env: env})
}
