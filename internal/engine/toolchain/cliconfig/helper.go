// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	svchost "github.com/hashicorp/terraform-svchost"
)

// Helper is a program that keeps tokens in a place of its own, such as a keychain.
type Helper struct {
	name    string
	program string // empty if it is not installed
	args    []string
	environ []string
}

// helperTime is how long a helper may take. It may ask the user.
const helperTime = time.Minute

var helperName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

func (c *Hosts) addHelper(block *hcl.Block, environ []string) error {
	helper := &Helper{name: block.Labels[0], environ: environ}
	if !helperName.MatchString(helper.name) {
		return fmt.Errorf("%q is not the name of a credentials helper", helper.name)
	}
	attrs, diags := block.Body.JustAttributes()
	if diags.HasErrors() {
		return diags
	}
	if attr := attrs["args"]; attr != nil {
		list, diags := attr.Expr.Value(nil)
		if diags.HasErrors() {
			return diags
		}
		if !list.CanIterateElements() {
			return errors.New("the arguments of the credentials helper are not a list")
		}
		for _, arg := range list.AsValueSlice() {
			if !isText(arg) {
				return errors.New("the arguments of the credentials helper are not all text")
			}
			helper.args = append(helper.args, arg.AsString())
		}
	}
	helper.program = findHelper(helper.name, environ)
	c.Helper = helper
	return nil
}

// findHelper returns the path of a helper's program among the plugins of the user, "" if there is
// none.
func findHelper(name string, environ []string) string {
	program := "terraform-credentials-" + name
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	plugins := filepath.Join(Dir(environ), "plugins")
	for _, dir := range []string{plugins, filepath.Join(plugins, runtime.GOOS+"_"+runtime.GOARCH)} {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// helperToken is the input and the output of helpers.
type helperToken struct {
	Token string `json:"token"`
}

// get asks for the token of a host, which is "" if there is none.
func (h *Helper) get(ctx context.Context, host svchost.Hostname) (string, error) {
	output, err := h.run(ctx, "get", host, nil)
	if err != nil {
		return "", err
	}
	var answer helperToken
	if err := json.Unmarshal(output, &answer); err != nil {
		return "", fmt.Errorf("the credentials helper %q gives an answer for %s that is not JSON", h.name, host.ForDisplay())
	}
	return answer.Token, nil
}

// store gives a token to the helper.
func (h *Helper) store(ctx context.Context, host svchost.Hostname, token string) error {
	input, err := json.Marshal(helperToken{token}) //nolint:gosec // for the helper alone
	if err != nil {
		return err
	}
	_, err = h.run(ctx, "store", host, input)
	return err
}

// run calls the helper. Its input and output are secret, and not in errors.
func (h *Helper) run(ctx context.Context, verb string, host svchost.Hostname, input []byte) ([]byte, error) {
	if h.program == "" {
		return nil, fmt.Errorf("the credentials helper %q is not installed: there is no terraform-credentials-%s in the directory for plugins",
			h.name, h.name)
	}
	limited, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	//nolint:gosec // the user has chosen it
	cmd := exec.CommandContext(limited, h.program, append(slices.Clone(h.args), verb, host.ForDisplay())...)
	cmd.Env, cmd.Stdin, cmd.WaitDelay = h.environ, bytes.NewReader(input), time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	output, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		return nil, fmt.Errorf("the credentials helper %q did not answer within %s", h.name, helperTime)
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("the credentials helper %q failed to %s the token of %s: %w: %s", h.name, verb, host.ForDisplay(), err, line)
	}
	return output, nil
}
