// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/deployments/secretoutput"
	"github.com/cairnstacks/cairn/internal/environ"
)

const kindCommand = "command"

// The arguments that a program is called with after its own. As text that is one line, keys pass
// through any shell.
const (
	wrapArgument   = "wrap"   // the key in Base64 on standard input; any text on standard output
	unwrapArgument = "unwrap" // that text on standard input; the key in Base64 on standard output
)

// maxWrapped is how much a program may print, in bytes: with a line feed, it is given back through
// a pipe.
const maxWrapped = 4<<10 - 1

// program wraps root keys by a program.
type program struct {
	source
	command []string
	timeout time.Duration
}

func (p *program) kind() string   { return kindCommand }
func (p *program) String() string { return "the command " + p.command[0] }

func (p *program) wrap(ctx context.Context, key []byte) (*Slot, error) {
	wrapped, err := p.run(ctx, wrapArgument, base64.StdEncoding.EncodeToString(key))
	if err != nil {
		return nil, err
	}
	if len(wrapped) == 0 {
		return nil, p.fail("it has printed nothing for: "+wrapArgument, "")
	}
	return &Slot{Kind: kindCommand, For: p.command[:1], Key: wrapped}, nil
}

func (p *program) unwrap(ctx context.Context, slot Slot) ([]byte, error) {
	text, err := p.run(ctx, unwrapArgument, string(slot.Key))
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || len(key) != keySize {
		return nil, p.fail("it has printed no key in Base64 for: "+unwrapArgument, "")
	}
	return key, nil
}

func (p *program) run(ctx context.Context, argument, input string) ([]byte, error) {
	output, err := secretoutput.Run(ctx, secretoutput.Command{
		Command: append(slices.Clone(p.command), argument), Dir: p.dir, Env: environ.WithoutOwn(p.environ), Timeout: p.timeout,
		Input: []byte(input + "\n"), Limit: maxWrapped,
	})
	failed, isFailure := errors.AsType[*secretoutput.FailedError](err)
	switch {
	case isFailure:
		return nil, p.fail(failed.Err.Error(), failed.Said())
	case err != nil:
		return nil, p.fail(strings.TrimSuffix(err.Error(), "."), "")
	}
	return bytes.TrimSpace(output), nil
}

func (p *program) fail(reason, said string) error {
	return fail(CodeKeyFailed, "Encryption command failed",
		"The command %s, which wraps and unwraps keys, failed: %s.%s", p.command[0], reason, said)
}
