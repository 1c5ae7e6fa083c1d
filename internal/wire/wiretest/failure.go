// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wiretest

import (
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// failure is the encoding of an error: its text, and which one it is of those that callers tell
// apart.
type failure struct {
	Text     string
	Kind     string // of kinds, or ""
	Function *engine.FunctionError
}

// kinds are the errors of the contract that have no content.
var kinds = map[string]error{
	"unknown_work": engine.ErrUnknownWork,
	"no_providers": engine.ErrNoProviders,
}

// received is an error that was decoded.
type received struct {
	text string
	is   error // nil for one that callers do not tell apart
}

func (r *received) Error() string { return r.text }

func (r *received) Unwrap() error { return r.is }

// overError encodes an error and decodes it.
func overError(err error) error {
	if err == nil {
		return nil
	}
	sent := failure{Text: err.Error()}
	for kind, is := range kinds {
		if errors.Is(err, is) {
			sent.Kind = kind
		}
	}
	sent.Function, _ = errors.AsType[*engine.FunctionError](err)
	got, encodeErr := through(sent)
	switch {
	case encodeErr != nil:
		return fmt.Errorf("encoding an error: %w", encodeErr)
	case got.Function != nil:
		return &received{got.Text, got.Function}
	}
	return &received{got.Text, kinds[got.Kind]}
}
