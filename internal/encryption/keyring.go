// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/settings"
)

// Keyring has the keys that the settings of a stack and its environment name. A nil one has none,
// and demands nothing. It is safe for concurrent use.
type Keyring struct {
	present       []keeper // wrap and unwrap
	former        []keeper // unwrap only
	demands       bool
	clearMetadata bool

	mu struct {
		sync.Mutex
		unwrapped map[[sha256.Size]byte]*Root // by its wrapped copies
		files     *Root                       // of the files that this process writes; nil before the first
	}
}

// keeper wraps root keys in one way.
type keeper interface {
	// wrap returns the wrapped copy of a root key, nil if this keeper only unwraps.
	wrap(ctx context.Context, key []byte) (*Slot, error)

	// unwrap returns the root key of a slot.
	//
	// Errors: errOtherKey; that this keeper does not work, as a diagnostic.
	unwrap(ctx context.Context, slot Slot) ([]byte, error)

	kind() string
	String() string // for messages: where its keys are
}

// errOtherKey is for a slot that is wrapped for another key.
var errOtherKey = errors.New("it is wrapped for another key")

// Open returns the keys that the settings and the environment of a stack name. Dir is the directory
// of the stack, from which relative paths count and in which programs are run. No file is read, no
// program run and no service asked before a key is needed.
func Open(block *settings.Encryption, environment []string, dir string) (*Keyring, error) {
	k := &Keyring{}
	k.mu.unwrapped = map[[sha256.Size]byte]*Root{}
	from := source{environ: environment, dir: dir}
	text := environ.Get(environment, settings.EncryptionVariable)
	named, err := parseVariable(text)
	if err != nil {
		return nil, err
	}
	k.demands = block != nil || text != ""
	k.clearMetadata = named.clearMetadata || block != nil && block.ClearMetadata
	recipients := named.recipients
	if block != nil {
		recipients = append(slices.Clone(block.Recipients), recipients...)
		k.present = append(k.present, from.keepers(block.Keys)...)
		for _, keys := range block.Former {
			k.former = append(k.former, from.keepers(keys)...)
		}
	}
	k.present = append(k.present, from.named(named)...)
	age, err := newAgeKeeper(recipients, from.identities(block, named))
	if err != nil {
		return nil, err
	}
	if age != nil {
		k.present = append([]keeper{age}, k.present...)
	}
	return k, nil
}

// Demands reports whether what is in clear is refused, and nothing is written in clear.
func (k *Keyring) Demands() bool { return k != nil && k.demands }

// ClearMetadata reports whether names of records are to stay readable.
func (k *Keyring) ClearMetadata() bool { return k != nil && k.clearMetadata }

// NewRoot makes a root key, and wraps it for all present keys. It can be unwrapped again with what
// is given, or there is an error: nothing is encrypted that its writer cannot decrypt.
func (k *Keyring) NewRoot(ctx context.Context) (*Root, error) {
	root := newRoot(newRootKey())
	for _, keeper := range k.present {
		slot, err := keeper.wrap(ctx, root.key)
		if err != nil {
			return nil, err
		}
		if slot != nil {
			root.wrapped.Slots = append(root.wrapped.Slots, *slot)
		}
	}
	if len(root.wrapped.Slots) == 0 {
		return nil, NoKey()
	}
	if slices.ContainsFunc(k.present, func(keeper keeper) bool { return keeper.kind() == kindPassphrase }) {
		return root, nil // by which it can be unwrapped, and finding that out takes a while
	}
	again, err := k.Unwrap(ctx, root.wrapped, "a new key")
	if err != nil {
		return nil, err
	}
	return again, nil
}

// Unwrap returns a root key. The text names what is encrypted with it, in messages.
func (k *Keyring) Unwrap(ctx context.Context, w Wrapped, what string) (*Root, error) {
	if k == nil || len(k.present)+len(k.former) == 0 {
		return nil, missingKey(what, w)
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	k.mu.Lock()
	root := k.mu.unwrapped[sum]
	k.mu.Unlock()
	if root != nil {
		return root, nil
	}
	key, err := k.unwrap(ctx, w, what)
	if err != nil {
		return nil, err
	}
	root = newRoot(key)
	root.wrapped = w
	k.mu.Lock()
	k.mu.unwrapped[sum] = root
	k.mu.Unlock()
	return root, nil
}

func (k *Keyring) unwrap(ctx context.Context, w Wrapped, what string) ([]byte, error) {
	var tried []string
	var failed error
	for _, keeper := range slices.Concat(k.present, k.former) {
		for _, slot := range w.Slots {
			if slot.Kind != keeper.kind() {
				continue
			}
			key, err := keeper.unwrap(ctx, slot)
			if err == nil && len(key) == keySize && newRoot(key).ID() == w.ID {
				return key, nil
			}
			if err != nil && !errors.Is(err, errOtherKey) && failed == nil {
				failed = err
			}
		}
		tried = append(tried, keeper.String())
	}
	if failed != nil { // which may be the only reason
		return nil, failed
	}
	return nil, wrongKey(what, w, tried)
}

// ForFiles returns the root key of the files that this process writes, nil if none has to be
// encrypted. It is made and wrapped once: no key service is asked again in the middle of an apply.
func (k *Keyring) ForFiles(ctx context.Context) (*Root, error) {
	if !k.Demands() {
		return nil, nil //nolint:nilnil // see above
	}
	k.mu.Lock()
	root := k.mu.files
	k.mu.Unlock()
	if root != nil {
		return root, nil
	}
	root, err := k.NewRoot(ctx)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.files == nil {
		k.mu.files = root
	}
	return k.mu.files, nil
}
