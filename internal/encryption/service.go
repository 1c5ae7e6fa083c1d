// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

const kindService = "service"

// serviceTime is how long a service may take, with all that its library tries again.
const serviceTime = time.Minute

// service wraps root keys by a key in a key service.
type service struct {
	source
	url string
}

// serviceKey is a key in a key service.
type serviceKey interface {
	encrypt(ctx context.Context, plain []byte) ([]byte, error)
	decrypt(ctx context.Context, encrypted []byte) ([]byte, error)
	close() error
}

// services are the key services, by the schemes of URLs of their keys.
var services = map[string]func(context.Context, *service, *url.URL) (serviceKey, error){
	"hashivault": openTransit,
	"openbao":    openTransit,
}

func (s *service) kind() string   { return kindService }
func (s *service) String() string { return "the key " + s.url }

func (s *service) wrap(ctx context.Context, key []byte) (*Slot, error) {
	var wrapped []byte
	err := s.with(ctx, func(ctx context.Context, k serviceKey) (err error) {
		wrapped, err = k.encrypt(ctx, key)
		return err
	})
	return &Slot{Kind: kindService, For: []string{s.url}, Key: wrapped}, err
}

func (s *service) unwrap(ctx context.Context, slot Slot) ([]byte, error) {
	var key []byte
	err := s.with(ctx, func(ctx context.Context, k serviceKey) (err error) {
		key, err = k.decrypt(ctx, slot.Key)
		return err
	})
	if err != nil && !slices.Contains(slot.For, s.url) {
		return nil, errOtherKey // an alias might have been another name of the same key
	}
	return key, err
}

// with opens the key for a call. It is needed too rarely to be kept open.
func (s *service) with(ctx context.Context, do func(context.Context, serviceKey) error) error {
	location, err := url.Parse(s.url)
	if err != nil {
		return fail(CodeKeyFailed, "Unusable encryption key", "%q is no URL of a key.", s.url)
	}
	open := services[location.Scheme]
	if open == nil {
		return fail(CodeKeyFailed, "Unknown key service", "There is no key service for %s://. Those that there are: %s.", location.Scheme,
			strings.Join(slices.Sorted(maps.Keys(services)), ", "))
	}
	limited, cancel := context.WithTimeout(ctx, serviceTime)
	defer cancel()
	key, err := open(limited, s, location)
	if err == nil {
		err = do(limited, key)
		_ = key.close() //nolint:errcheck // whatever it was for is done
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fail(CodeKeyFailed, "Key service failed", "The key %s could not be used: %s.", s.url, strings.TrimSuffix(err.Error(), "."))
	}
	return nil
}
