// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package maintask

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
)

// Panics are those of all tasks of operations on the same objects, whoever waited for the tasks.
// Each operation from then on reports them: a value that could not be computed for one is missing
// in any of its results. The zero value has none.
type Panics struct {
	mu struct {
		sync.Mutex
		all []*promising.UnresolvedError
	}
}

// note is the handler for [promising.WithPanicHandler].
func (p *Panics) note(err *promising.UnresolvedError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.all = append(p.mu.all, err)
}

// Any reports whether there were any.
func (p *Panics) Any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mu.all) > 0
}

// diagnostics has an error for each place in the code where there was a panic.
func (p *Panics) diagnostics() hcl.Diagnostics {
	p.mu.Lock()
	all := slices.Clone(p.mu.all)
	p.mu.Unlock()

	slices.SortStableFunc(all, func(a, b *promising.UnresolvedError) int {
		return slices.Compare(a.Names(), b.Names())
	})
	var diags hcl.Diagnostics
	seen := make(map[string]bool)
	for _, err := range all {
		place := framesOf(err.Stack)
		if seen[place] {
			continue
		}
		seen[place] = true
		during := ""
		if len(err.IDs) > 0 {
			during = " while computing " + strings.Join(err.Names(), ", ")
		}
		diags = diags.Append(diagnostics.Bug("Internal evaluation error",
			"The evaluator broke off%s: %s.\n\n%s\n", during, panicText(err.Panic), place))
	}
	return diags
}

// panicText describes the value of a panic. Only texts of the Go runtime are shown: others may be
// made of values of the stack, which may be secrets.
func panicText(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a panic with a %T, which is not shown as it may be made of values", value)
}

const shownFrames = 8

// framesOf lists the functions that a panic came through, innermost first, from the result of
// debug.Stack.
func framesOf(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "panic(") {
			lines = lines[i+2:] // each function is followed by its place
			break
		}
	}
	var frames []string
	for i := 0; i+1 < len(lines) && len(frames) < shownFrames; i += 2 {
		function, file := lines[i], strings.TrimSpace(lines[i+1])
		if strings.HasPrefix(function, "created by ") {
			break
		}
		if strings.HasPrefix(function, "runtime.") {
			continue
		}
		if open := strings.LastIndexByte(function, '('); open > 0 {
			function = function[:open]
		}
		file, _, _ = strings.Cut(file, " +0x")
		frames = append(frames, fmt.Sprintf("  %s (%s)", path.Base(function), path.Base(file)))
	}
	return strings.Join(frames, "\n")
}

// isPanic reports whether a diagnostic is that of a task that waited for one that panicked.
func isPanic(diag *hcl.Diagnostic) bool {
	err, ok := diag.Extra.(*promising.UnresolvedError)
	return ok && err.Panic != nil
}
