// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func serviceFunctions() map[string]*function {
	return map[string]*function{
		"service.running": {
			args:  map[string]kind{"enable": boolean, "reload": boolean},
			check: checkService,
			call:  func(ctx context.Context, c *call) schedule.Outcome { return c.serve(ctx, true) },
			react: func(ctx context.Context, c *call) schedule.Outcome { return c.restart(ctx) },
		},
		"service.dead": {
			args:  map[string]kind{"enable": boolean},
			check: checkService,
			call:  func(ctx context.Context, c *call) schedule.Outcome { return c.serve(ctx, false) },
		},
		"service.enabled": {
			check: checkService, call: func(ctx context.Context, c *call) schedule.Outcome { return c.enable(ctx, true) },
		},
		"service.disabled": {
			check: checkService, call: func(ctx context.Context, c *call) schedule.Outcome { return c.enable(ctx, false) },
		},
	}
}

var serviceName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9@_.:\\-]*$`)

func checkService(c *call) error {
	if !serviceName.MatchString(c.Name) {
		return wrongArgument("name", "%q is not a name of a service", c.Name)
	}
	return nil
}

// services are commands for the services of a machine.
type services struct {
	host    *Host
	systemd bool
}

func (h *Host) services() (services, error) {
	systemd := h.Systemd
	if systemd == nil {
		systemd = func() bool {
			_, err := os.Stat("/run/systemd/system") // as sd_booted(3) does
			return err == nil
		}
	}
	s := services{h, systemd()}
	program := "service"
	if s.systemd {
		program = "systemctl"
	}
	if !h.runner().Has(program) {
		return s, fmt.Errorf("services are run with %s, which is not installed", program)
	}
	return s, nil
}

// do starts, stops or restarts a service, or makes it start with the machine.
func (s services) do(ctx context.Context, verb, name string) error {
	args := []string{"systemctl", verb, name}
	if !s.systemd {
		args = []string{"service", name, verb}
		if verb == "enable" || verb == "disable" {
			if verb == "enable" && !hasLinks("[SK]", name) {
				verb = "defaults" // those of the script, since there is nothing that could be switched on again
			}
			args = []string{"update-rc.d", name, verb}
		}
	}
	return s.host.run(ctx, Command{Args: args})
}

func (s services) runs(ctx context.Context, name string) (bool, error) {
	args := []string{"service", name, "status"}
	if s.systemd {
		args = []string{"systemctl", "is-active", "--quiet", name}
	}
	return s.ask(ctx, args)
}

// isEnabled reports whether a service starts with the machine, as is wanted or not. Services of
// systemd about which nothing can be changed, since others start them, are as is wanted.
func (s services) isEnabled(ctx context.Context, name string, wanted bool) (bool, error) {
	if !s.systemd {
		return hasLinks("S", name), nil
	}
	output, err := s.host.runner().Run(ctx, Command{Args: []string{"systemctl", "is-enabled", name}})
	if err != nil {
		return false, fmt.Errorf("systemctl: %w", err)
	}
	switch strings.TrimSpace(output.Stdout) {
	case "static", "indirect", "generated", "transient":
		return wanted, nil
	}
	return output.Code == 0, nil
}

// hasLinks reports whether one of the directories for run levels has a link that starts or stops a
// service.
func hasLinks(kind, name string) bool {
	links, err := filepath.Glob("/etc/rc[2-5].d/" + kind + "[0-9][0-9]" + name)
	return err == nil && len(links) > 0
}

// missing says that there is no such service, "" if there is one.
func (s services) missing(ctx context.Context, name string) string {
	if !s.systemd {
		if _, err := os.Stat("/etc/init.d/" + name); !isMissing(err) {
			return ""
		}
		return fmt.Sprintf("There is no script /etc/init.d/%s, and systemd, which may have a service of this name, does not run here.", name)
	}
	output, err := s.host.runner().Run(ctx, Command{Args: []string{"systemctl", "show", "--property=LoadState", name}})
	if err != nil || strings.TrimSpace(output.Stdout) != "LoadState=not-found" {
		return ""
	}
	return fmt.Sprintf("systemd has no service %s.", name)
}

// would is the outcome of a call in test mode. That there is no such service yet is not a failure:
// another call may bring it.
func (s services) would(ctx context.Context, name string, changes *compile.Map, comment string) schedule.Outcome {
	if missing := s.missing(ctx, name); missing != "" {
		comment += " " + upperFirst(missing)
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: comment}
}

// failure is the outcome of a call that has failed.
func (s services) failure(ctx context.Context, name string, err error) schedule.Outcome {
	outcome := failed("%s.", upperFirst(err.Error()))
	if missing := s.missing(ctx, name); missing != "" {
		outcome.Comment += "\n" + upperFirst(missing)
	}
	return outcome
}

func (s services) ask(ctx context.Context, args []string) (bool, error) {
	output, err := s.host.runner().Run(ctx, Command{Args: args})
	if err != nil {
		return false, fmt.Errorf("%s: %w", args[0], err)
	}
	return output.Code == 0, nil
}

// The keys of changes that say that a service was started or stopped.
const (
	started = "started"
	stopped = "stopped"
)

// serve makes a service run, or not run.
func (c *call) serve(ctx context.Context, running bool) schedule.Outcome {
	s, err := c.host.services()
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	state := "running"
	if !running {
		state = "stopped"
	}
	changes, err := c.serviceChanges(ctx, s, running)
	switch {
	case err != nil:
		return failed("%s.", upperFirst(err.Error()))
	case changes.Len() == 0:
		return schedule.Outcome{Comment: fmt.Sprintf("The service %s is %s.", c.Name, state)}
	case c.Test:
		return s.would(ctx, c.Name, changes, fmt.Sprintf("The service %s would be changed.", c.Name))
	}
	for _, step := range changes.Entries {
		if err := s.do(ctx, verbOf(step), c.Name); err != nil {
			return s.failure(ctx, c.Name, err)
		}
	}
	if runs, err := s.runs(ctx, c.Name); err != nil || runs != running {
		return failed("The service %s is not %s, though it was asked to be. Its log may say why.", c.Name, state)
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s is %s now.", c.Name, state)}
}

// enable makes a service start with the machine, or not, and leaves alone whether it runs now.
func (c *call) enable(ctx context.Context, wanted bool) schedule.Outcome {
	s, err := c.host.services()
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	enabled, err := s.isEnabled(ctx, c.Name, wanted)
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	change := compile.Entry{Key: "enabled", Value: wanted}
	changes := &compile.Map{Entries: []compile.Entry{change}}
	switch {
	case enabled == wanted:
		return schedule.Outcome{Comment: fmt.Sprintf("The service %s is %sd.", c.Name, verbOf(change))}
	case c.Test:
		return s.would(ctx, c.Name, changes, fmt.Sprintf("The service %s would be %sd.", c.Name, verbOf(change)))
	}
	if err := s.do(ctx, verbOf(change), c.Name); err != nil {
		return s.failure(ctx, c.Name, err)
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s is %sd now.", c.Name, verbOf(change))}
}

func verbOf(change compile.Entry) string {
	switch {
	case change.Key == started:
		return "start"
	case change.Key == stopped:
		return "stop"
	case change.Value == true:
		return "enable"
	}
	return "disable"
}

// serviceChanges returns the necessary changes, in the order in which they are made.
func (c *call) serviceChanges(ctx context.Context, s services, running bool) (*compile.Map, error) {
	changes := &compile.Map{}
	if c.given("enable") {
		wanted := c.boolean("enable", false)
		enabled, err := s.isEnabled(ctx, c.Name, wanted)
		if err != nil {
			return nil, err
		}
		if enabled != wanted {
			changes.Set("enabled", wanted)
		}
	}
	runs, err := s.runs(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	if runs != running {
		key := started
		if !running {
			key = stopped
		}
		changes.Set(key, true)
	}
	return changes, nil
}

// restart is the reaction to changes of the objects that a service watches. A service that was
// started only now has seen them.
func (c *call) restart(ctx context.Context) schedule.Outcome {
	if c.Changes.Get(started) == true {
		return schedule.Outcome{}
	}
	verb, done := "restart", "restarted"
	if c.boolean("reload", false) {
		verb, done = "reload", "reloaded"
	}
	changes := &compile.Map{}
	changes.Set(done, true)
	if c.Test {
		return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s would be %s.", c.Name, done)}
	}
	s, err := c.host.services()
	if err == nil {
		err = s.do(ctx, verb, c.Name)
	}
	if err != nil {
		return failed("%s.", upperFirst(err.Error()))
	}
	return schedule.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s was %s.", c.Name, done)}
}
