// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sealing

import "context"

const kindService = "service"

// service wraps root keys by a key in a key service.
type service struct{ url string }

func (s *service) kind() string   { return kindService }
func (s *service) String() string { return "the key " + s.url }

func (s *service) wrap(context.Context, []byte) (*Slot, error) { return nil, s.unknown() }

func (s *service) unwrap(context.Context, Slot) ([]byte, error) { return nil, s.unknown() }

func (s *service) unknown() error {
	return fail(CodeKeyFailed, "Unknown key service", "There is no key service for %s.", s.url)
}
