// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// soundness records the components of a stack that were sound when it was last validated, and the
// dependencies of that. It is safe for concurrent use.
//
// The checks of a component see all of other components but their inputs. So a component is as
// sound as it was if its own inputs are the same, and the texts of all files but for the inputs of
// components.
type soundness struct {
	sync.Mutex
	of         *dependencies
	components stackruntime.SoundComponents
}

// dependencies are the texts that checks of components depend on, and the modules.
type dependencies struct {
	modules *moduleSet
	common  [][]byte // for all components
	inputs  map[stackaddrs.ConfigComponent]ownDependencies
}

// ownDependencies are those of one component only.
type ownDependencies struct {
	inputs []byte
	module string // directory
}

// known returns the components that are still sound.
func (s *soundness) known(now *dependencies) stackruntime.SoundComponents {
	s.Lock()
	defer s.Unlock()
	if s.of == nil || s.of.modules != now.modules || readsFile(now.common...) || !slices.EqualFunc(s.of.common, now.common, bytes.Equal) {
		return nil
	}
	known := make(stackruntime.SoundComponents, len(s.components))
	for addr := range s.components {
		own, was := now.inputs[addr], s.of.inputs[addr]
		if own.module == was.module && bytes.Equal(own.inputs, was.inputs) && !readsFile(own.inputs) {
			known[addr] = true
		}
	}
	return known
}

// keep records the sound components.
func (s *soundness) keep(of *dependencies, components stackruntime.SoundComponents) {
	s.Lock()
	defer s.Unlock()
	s.of, s.components = of, components
}

// dependencies returns those of the components of the snapshot.
func (s *Snapshot) dependencies() *dependencies {
	d := &dependencies{modules: s.modules, inputs: map[stackaddrs.ConfigComponent]ownDependencies{}}
	for _, provider := range slices.SortedFunc(maps.Keys(s.asked), stackaddrs.Provider.Compare) { // whose functions are known
		d.common = append(d.common, []byte(provider.String()))
	}
	for _, path := range s.Paths() {
		d.common = append(d.common, []byte(path))
		d.common = appendWithoutInputs(d.common, s.Files[path])
	}
	s.Config.Walk(func(stack *stackconfig.Stack) {
		for name, component := range stack.Components {
			own := ownDependencies{module: component.Source.Dir}
			if component.Inputs != nil {
				own.inputs = s.textAt(component.Inputs.Range())
			}
			d.inputs[stackaddrs.ConfigComponent{Stack: stack.Addr, Item: stackaddrs.Component{Name: name}}] = own
		}
	})
	return d
}

// textAt returns the text of a range of a component file.
func (s *Snapshot) textAt(rng hcl.Range) []byte {
	if file := s.Config.Files[rng.Filename]; file != nil && rng.CanSliceBytes(file.Bytes) {
		return rng.SliceBytes(file.Bytes)
	}
	return nil
}

// appendWithoutInputs appends the text of a file without the inputs of components.
func appendWithoutInputs(texts [][]byte, file *File) [][]byte {
	src, end := file.Text.Bytes(), 0
	body := file.Body()
	if body == nil || len(file.Diagnostics) > 0 {
		return append(texts, src)
	}
	for _, block := range body.Blocks {
		if attr := block.Body.Attributes["inputs"]; block.Type == "component" && attr != nil {
			inputs := attr.Expr.Range()
			texts, end = append(texts, src[end:inputs.Start.Byte]), inputs.End.Byte
		}
	}
	return append(texts, src[end:])
}

// readsFile reports whether texts may call a function that reads a file: all of them have names
// with "file". Files change without a text that does.
func readsFile(texts ...[]byte) bool {
	for _, text := range texts {
		for {
			_, after, found := bytes.Cut(text, []byte("file"))
			if !found {
				break
			}
			text = after
			if rest := bytes.TrimLeft(bytes.TrimLeft(after, "abcdefghijklmnopqrstuvwxyz0123456789"), " \t\r\n"); len(rest) > 0 &&
				(rest[0] == '(' || rest[0] == '/') {
				return true
			}
		}
	}
	return false
}
