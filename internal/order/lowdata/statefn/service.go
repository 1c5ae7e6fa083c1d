// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

func serviceFunctions() map[string]*function {
	return map[string]*function{
		"service.running": {
			args:  map[string]kind{"enable": boolean, "reload": boolean},
			check: checkService,
			call:  func(ctx context.Context, c *call) lowdata.Outcome { return c.serve(ctx) },
			react: func(ctx context.Context, c *call) lowdata.Outcome { return c.restart(ctx) },
		},
	}
}

var serviceName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9@_.:\\-]*$`)

func checkService(c *call) error {
	if !serviceName.MatchString(c.Name) {
		return fmt.Errorf("%q is no name of a service", c.Name)
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
		return s, fmt.Errorf("services are run with %s, and there is none here", program)
	}
	return s, nil
}

// do starts, stops or restarts a service, or makes it start with the machine.
func (s services) do(ctx context.Context, verb, name string) error {
	args := []string{"systemctl", verb, name}
	if !s.systemd {
		args = []string{"service", name, verb}
		if verb == "enable" || verb == "disable" {
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

func (s services) isEnabled(ctx context.Context, name string) (bool, error) {
	if s.systemd {
		return s.ask(ctx, []string{"systemctl", "is-enabled", "--quiet", name})
	}
	links, err := filepath.Glob("/etc/rc[2-5].d/S[0-9][0-9]" + name)
	return len(links) > 0, err
}

func (s services) ask(ctx context.Context, args []string) (bool, error) {
	output, err := s.host.runner().Run(ctx, Command{Args: args})
	if err != nil {
		return false, fmt.Errorf("%s: %w", args[0], err)
	}
	return output.Code == 0, nil
}

// started is the key of changes that says that a service was started.
const started = "started"

func (c *call) serve(ctx context.Context) lowdata.Outcome {
	changes, err := c.serviceChanges(ctx)
	switch {
	case err != nil:
		return failed("%s", upperFirst(err.Error()))
	case changes.Len() == 0:
		return lowdata.Outcome{Comment: fmt.Sprintf("The service %s is running.", c.Name)}
	case c.Test:
		return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s would be changed.", c.Name)}
	}
	s, err := c.host.services()
	if err != nil {
		return failed("%s", upperFirst(err.Error()))
	}
	for _, step := range changes.Entries {
		verb := "start"
		if step.Key == "enabled" {
			verb = "disable"
			if step.Value == true {
				verb = "enable"
			}
		}
		if err := s.do(ctx, verb, c.Name); err != nil {
			return failed("%s", upperFirst(err.Error()))
		}
	}
	if runs, err := s.runs(ctx, c.Name); err != nil || !runs {
		return failed("The service %s is not running, though it was started. Its log may say why.", c.Name)
	}
	return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s is running now.", c.Name)}
}

// serviceChanges says what has to change, in the order in which it is done.
func (c *call) serviceChanges(ctx context.Context) (*lowdata.Map, error) {
	s, err := c.host.services()
	if err != nil {
		return nil, err
	}
	changes := &lowdata.Map{}
	if c.given("enable") {
		wanted := c.boolean("enable", false)
		enabled, err := s.isEnabled(ctx, c.Name)
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
	if !runs {
		changes.Set(started, true)
	}
	return changes, nil
}

// restart is the reaction to changes of what a service watches. One that was started only now has seen them.
func (c *call) restart(ctx context.Context) lowdata.Outcome {
	if c.Changes.Get(started) == true {
		return lowdata.Outcome{}
	}
	verb, done := "restart", "restarted"
	if c.boolean("reload", false) {
		verb, done = "reload", "reloaded"
	}
	changes := &lowdata.Map{}
	changes.Set(done, true)
	if c.Test {
		return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s would be %s.", c.Name, done)}
	}
	s, err := c.host.services()
	if err == nil {
		err = s.do(ctx, verb, c.Name)
	}
	if err != nil {
		return failed("%s", upperFirst(err.Error()))
	}
	return lowdata.Outcome{Changed: true, Changes: changes, Comment: fmt.Sprintf("The service %s was %s.", c.Name, done)}
}
