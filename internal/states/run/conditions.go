// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// conditions are arguments of all functions: whether there is anything to do, whether it was done,
// and how long it may take.
var conditions = map[string]kind{"unless": texts, "onlyif": texts, "creates": texts, "check_cmd": texts, "timeout": seconds}

var errTimeout = errors.New("it took too long")

// limit returns ctx with the timeout of a call.
func (c *call) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	number, ok := asNumber(c.Args.Get("timeout"))
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Duration(number*float64(time.Second)), errTimeout)
}

// needed checks the conditions of a call and returns why it is not needed, "" if it is.
func (c *call) needed(ctx context.Context) (string, error) {
	if files := c.texts("creates"); len(files) > 0 {
		there, err := allExist(files)
		if err != nil || there {
			return "All that it creates is there.", err
		}
	}
	if missing, err := c.lacks(); err == nil && missing != "" {
		return "", nil // not known before it is there
	}
	for _, command := range c.texts("onlyif") {
		holds, err := c.holds(ctx, command)
		if err != nil || !holds {
			return "The condition \"onlyif\" does not hold.", err
		}
	}
	unless := c.texts("unless")
	for _, command := range unless {
		holds, err := c.holds(ctx, command)
		if err != nil || !holds {
			return "", err
		}
	}
	if len(unless) > 0 {
		return "The condition \"unless\" holds.", nil
	}
	return "", nil
}

func allExist(files []string) (bool, error) {
	for _, file := range files {
		_, err := os.Lstat(file)
		if isMissing(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// holds reports whether a command succeeds.
func (c *call) holds(ctx context.Context, command string) (bool, error) {
	output, err := c.host.runner().Run(ctx, c.commandLine(command))
	if err != nil {
		return false, fmt.Errorf("the condition %q cannot be checked: %w", command, err)
	}
	return output.Code == 0, nil
}

// verified lets the commands of "check_cmd" decide whether a call that was made has succeeded: all
// of them must succeed.
func (c *call) verified(ctx context.Context, outcome schedule.Outcome) schedule.Outcome {
	for _, command := range c.texts("check_cmd") {
		holds, err := c.holds(ctx, command)
		if err == nil && holds {
			continue
		}
		if err == nil {
			err = fmt.Errorf("the command %q of \"check_cmd\" does not succeed", command)
		}
		outcome.Failed = true
		outcome.Comment = strings.TrimSpace(outcome.Comment + "\n" + upperFirst(err.Error()) + ".")
		return outcome
	}
	if outcome.Failed {
		outcome.Failed, outcome.Changed = false, outcome.Changes.Len() > 0
		outcome.Comment = strings.TrimSpace(outcome.Comment + "\nBut \"check_cmd\" succeeds, and that counts.")
	}
	return outcome
}
