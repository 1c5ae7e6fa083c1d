// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providercall

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

// Hash identifies a call, or a result.
type Hash = [sha256.Size]byte

// Result is the result of a call.
type Result struct{ Call, Result Hash }

// Results remember the results of functions of providers, and of those that read files, to see that
// they return the same for the same arguments whenever they are called: an apply would differ from
// its plan otherwise (docs/language.md, section 3.7).
//
// Only hashes are kept. The zero value is ready to use. Results are safe for concurrent use.
type Results struct {
	mu struct {
		sync.Mutex
		results map[Hash]Hash // by call
	}
}

// Expect adds the result of an earlier call.
func (r *Results) Expect(known Result) { r.isSame(known.Call, known.Result) }

// record remembers the result of a call, and fails if it was another before.
func (r *Results) record(f *Function, args []cty.Value, result cty.Value) error {
	same, err := r.confirms(
		map[string]cty.Value{"provider": cty.StringVal(f.Provider.String()), "function": cty.StringVal(f.Name)}, args, result,
	)
	if err != nil || same {
		return err
	}
	return fmt.Errorf("provider %s has now returned something else for the same arguments than before, while planning or since. "+
		"A function of a provider must always return the same; this is a mistake in the provider", f.Provider)
}

// confirms remembers the result of a call of a function, and reports whether it was the same
// before, or there was none. Calls with something unknown are not settled yet and do not count.
func (r *Results) confirms(function map[string]cty.Value, args []cty.Value, result cty.Value) (bool, error) {
	if r == nil || !result.IsWhollyKnown() || slices.ContainsFunc(args, func(arg cty.Value) bool { return !arg.IsWhollyKnown() }) {
		return true, nil
	}
	function["arguments"] = cty.TupleVal(args)
	call, err := hashValue(cty.ObjectVal(function))
	if err != nil {
		return false, fmt.Errorf("remembering the arguments: %w", err)
	}
	returned, err := hashValue(result)
	if err != nil {
		return false, fmt.Errorf("remembering the result: %w", err)
	}
	return r.isSame(call, returned), nil
}

// InSameDirectory remembers the directory of the stack, and reports whether it was the same before.
func (r *Results) InSameDirectory(dir string) bool {
	same, err := r.confirms(map[string]cty.Value{"directory": cty.True}, nil, cty.StringVal(dir))
	return same || err != nil
}

func (r *Results) isSame(call, returned Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.mu.results[call]
	if known {
		return before == returned
	}
	if r.mu.results == nil {
		r.mu.results = make(map[Hash]Hash)
	}
	r.mu.results[call] = returned
	return true
}

// All returns the recorded results, sorted by call.
func (r *Results) All() []Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	var results []Result
	for call, result := range r.mu.results {
		results = append(results, Result{call, result})
	}
	slices.SortFunc(results, func(a, b Result) int { return bytes.Compare(a.Call[:], b.Call[:]) })
	return results
}

// hashValue hashes a known value without marks, with its type.
func hashValue(value cty.Value) (Hash, error) {
	encoded, err := ctymsgpack.Marshal(value, cty.DynamicPseudoType)
	return sha256.Sum256(encoded), err
}
