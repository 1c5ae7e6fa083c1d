// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerfunc

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Results remember what functions of providers returned, to see that
// they return the same for the same arguments whenever they are called: what is
// applied would not be what was planned otherwise (docs/language.md, section 3.7).
//
// Only hashes are kept. The zero value is ready to use.
type Results struct {
	mu struct {
		sync.Mutex
		results map[stackplan.Hash]stackplan.Hash // by call
	}
}

// Start begins with what was returned before.
func (r *Results) Start(known []stackplan.FunctionResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.results = make(map[stackplan.Hash]stackplan.Hash, len(known))
	for _, one := range known {
		r.mu.results[one.Call] = one.Result
	}
}

// record remembers the result of a call, and fails if it was another before.
// Calls with something unknown are not settled yet and do not count.
func (r *Results) record(f *Function, args []cty.Value, result cty.Value) error {
	settled := slices.IndexFunc(args, func(arg cty.Value) bool { return !arg.IsWhollyKnown() }) < 0
	if !settled || !result.IsWhollyKnown() {
		return nil
	}
	call, err := hashValue(cty.ObjectVal(map[string]cty.Value{
		"provider":  cty.StringVal(f.provider.String()),
		"function":  cty.StringVal(f.name),
		"arguments": cty.TupleVal(args),
	}))
	if err != nil {
		return fmt.Errorf("remembering the arguments: %w", err)
	}
	returned, err := hashValue(result)
	if err != nil {
		return fmt.Errorf("remembering the result: %w", err)
	}
	if !r.isSame(call, returned) {
		return fmt.Errorf("provider %s has now returned something else for the same arguments than before, while planning or since. "+
			"A function of a provider must always return the same; this is a mistake in the provider", f.provider)
	}
	return nil
}

func (r *Results) isSame(call, returned stackplan.Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.mu.results[call]
	if known {
		return before == returned
	}
	if r.mu.results == nil {
		r.mu.results = make(map[stackplan.Hash]stackplan.Hash)
	}
	r.mu.results[call] = returned
	return true
}

// All returns what was recorded, sorted by call.
func (r *Results) All() []stackplan.FunctionResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	var results []stackplan.FunctionResult
	for call, result := range r.mu.results {
		results = append(results, stackplan.FunctionResult{Call: call, Result: result})
	}
	slices.SortFunc(results, func(a, b stackplan.FunctionResult) int { return bytes.Compare(a.Call[:], b.Call[:]) })
	return results
}

// hashValue hashes a known value without marks, with its type.
func hashValue(value cty.Value) (stackplan.Hash, error) {
	encoded, err := ctymsgpack.Marshal(value, cty.DynamicPseudoType)
	return sha256.Sum256(encoded), err
}
