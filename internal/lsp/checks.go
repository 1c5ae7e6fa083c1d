// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
)

// Timing is the timing of checks. Zero values stand for defaults that suit people.
type Timing struct {
	Quiet time.Duration // for how long nobody must have typed before stacks are checked
}

const usualQuiet = 120 * time.Millisecond

// maxEmbedders is the number of stacks of a workspace that are searched for embedders of the edited
// one.
const maxEmbedders = 500

// found are diagnostics by the paths of files.
type found map[string][]protocol.Diagnostic

// checks finds mistakes in the background, and tells the client.
//
// Syntax errors of a file are reported as soon as it is edited. Errors that take the whole stack to
// find are found once nobody has typed for a while.
type checks struct {
	server *server
	ctx    context.Context //nolint:containedctx // of all that runs in the background, which no call waits for
	quiet  time.Duration
	kicks  chan struct{}
	asks   chan struct{} // says that stacks were checked, whose providers may be unknown
	work   sync.WaitGroup

	mu struct {
		sync.Mutex
		generation int                // rises with each edit
		cancel     context.CancelFunc // of the run that is under way
		all        bool               // whether files on the disk may have changed

		checked   map[string]*snapshot.Snapshot // by the directory of the stack
		stacks    map[string]found              // by the same, without errors of the syntax
		syntax    found
		published map[string][]byte // the last report to the client, by path
	}
}

func newChecks(ctx context.Context, s *server) *checks {
	c := &checks{server: s, ctx: ctx, quiet: s.opts.Timing.Quiet, kicks: make(chan struct{}, 1), asks: make(chan struct{}, 1)}
	if c.quiet == 0 {
		c.quiet = usualQuiet
	}
	c.mu.checked, c.mu.stacks, c.mu.syntax = map[string]*snapshot.Snapshot{}, map[string]found{}, found{}
	c.mu.published = map[string][]byte{}
	c.background(c.loop)
	c.background(c.askProviders)
	return c
}

// background runs a function until the context of the server ends.
func (c *checks) background(run func(context.Context)) { c.work.Go(func() { run(c.ctx) }) }

func (c *checks) wait() { c.work.Wait() }

// edited says that a file was opened or edited.
func (c *checks) edited(path string) {
	c.checkSyntax(path)
	c.kick(false)
}

// changed says that files on the disk may have changed.
func (c *checks) changed() { c.kick(true) }

// closed says that a file is not open any more.
func (c *checks) closed(path string) {
	c.mu.Lock()
	delete(c.mu.syntax, path)
	c.mu.Unlock()
	c.kick(false)
}

// kick makes the current run obsolete, and begins anew after a while.
func (c *checks) kick(all bool) {
	c.mu.Lock()
	c.mu.generation++
	c.mu.all = c.mu.all || all
	if c.mu.cancel != nil {
		c.mu.cancel()
	}
	c.mu.Unlock()
	select {
	case c.kicks <- struct{}{}:
	default: // one is waiting
	}
}

// askProviders asks providers of which nothing is known, one after the other, whenever stacks were
// checked. An answer is one more reason to check.
func (c *checks) askProviders(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.asks:
		}
		c.mu.Lock()
		checked := maps.Clone(c.mu.checked)
		c.mu.Unlock()
		for _, dir := range slices.Sorted(maps.Keys(checked)) {
			if c.learns(ctx, checked[dir]) {
				c.kick(false)
			}
		}
	}
}

// learns reports whether the providers of a stack have said anything new.
func (c *checks) learns(ctx context.Context, snap *snapshot.Snapshot) bool {
	defer func() { c.server.logPanic("asking providers", recover()) }()
	return c.server.workspace.Ask(ctx, snap)
}

func (c *checks) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.kicks:
		}
		if !c.waitForQuiet(ctx) {
			return
		}
		c.guarded(ctx)
	}
}

// waitForQuiet reports whether the time of quiet has come before the end of the context.
func (c *checks) waitForQuiet(ctx context.Context) bool {
	timer := time.NewTimer(c.quiet)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-c.kicks:
			timer.Reset(c.quiet)
		case <-timer.C:
			return true
		}
	}
}

// guarded checks the open files and their stacks. A panic is logged, and the next edit begins anew
// (rule S4).
func (c *checks) guarded(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	generation, all := c.mu.generation, c.mu.all
	c.mu.cancel, c.mu.all = cancel, false
	c.mu.Unlock()
	defer func() { c.server.logPanic("checking", recover()) }()
	r := &run{checks: c, generation: generation, versions: c.server.versions()}
	if !r.do(ctx, all) && all {
		c.mu.Lock()
		c.mu.all = true
		c.mu.Unlock()
	}
}

// run is one look at all that is open.
type run struct {
	*checks
	generation int
	versions   map[string]int32
}

// do reports whether it came to its end.
func (r *run) do(ctx context.Context, all bool) bool {
	roots := r.roots(ctx)
	for _, root := range roots {
		if !r.stack(ctx, root, all) {
			return false
		}
	}
	select {
	case r.asks <- struct{}{}:
	default: // they are asked after those that are asked now
	}
	return r.current(ctx) && r.workspaceFiles(ctx) && r.forget(roots)
}

// current reports whether nothing was edited meanwhile.
func (r *run) current(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ctx.Err() == nil && r.mu.generation == r.generation
}

// roots returns the directories of the stacks to check: those with open files, or in place of these
// the stacks of the workspace that embed them.
func (r *run) roots(ctx context.Context) []string {
	open := map[string]bool{}
	for _, path := range r.server.workspace.Open() {
		if ofStack(path) {
			open[filepath.Dir(path)] = true
		}
	}
	roots := map[string]bool{}
	embedded := map[string]bool{}
	stacks := r.server.workspace.Stacks()
	if len(stacks) > maxEmbedders || len(open) == 0 {
		stacks = nil
	}
	for _, dir := range stacks {
		if ctx.Err() != nil {
			return nil
		}
		snap := r.server.workspace.Stack(dir)
		if snap == nil {
			continue
		}
		for _, part := range snap.StackDirs() {
			if part != dir && open[part] {
				roots[dir], embedded[part] = true, true
			}
		}
	}
	for dir := range open {
		if !embedded[dir] {
			roots[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(roots))
}

// stack checks one stack unless it is as it was. It reports whether the run goes on.
func (r *run) stack(ctx context.Context, root string, all bool) bool {
	snap := r.server.workspace.Stack(root)
	r.mu.Lock()
	same := snap == r.mu.checked[root]
	r.mu.Unlock()
	if snap == nil {
		return r.current(ctx)
	}
	if same && !all {
		return r.publishOpen(snap)
	}
	began := time.Now()
	diags := snap.Validate(ctx)
	if !r.current(ctx) {
		return false
	}
	reporter := newReporter(r.server, snap)
	syntax, semantic := reporter.divide(diags)
	r.server.log.Debug("checked", "stack", root, "took", time.Since(began), "diagnostics", len(diags))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.generation != r.generation {
		return false
	}
	concerned := map[string]bool{}
	for path := range r.mu.stacks[root] {
		concerned[path] = true
	}
	for path := range snap.Files {
		if _, had := r.mu.syntax[path]; had || len(syntax[path]) > 0 {
			concerned[path] = true
		}
		setOrDelete(r.mu.syntax, path, syntax[path])
	}
	for path := range semantic {
		concerned[path] = true
	}
	r.mu.checked[root], r.mu.stacks[root] = snap, semantic
	for path := range snap.Files {
		if r.server.workspace.IsOpen(path) {
			concerned[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(concerned)) {
		r.publish(path, r.versions)
	}
	return true
}

// publishOpen reports the diagnostics of the open files of a stack that was checked. The run that
// checked it may have read the versions of files before an edit, and their texts after it; then its
// report has the version before. It reports whether the run goes on.
func (r *run) publishOpen(snap *snapshot.Snapshot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.generation != r.generation {
		return false
	}
	for _, path := range snap.Paths() {
		if r.server.workspace.IsOpen(path) {
			r.publish(path, r.versions)
		}
	}
	return true
}

func setOrDelete(all found, path string, list []protocol.Diagnostic) {
	if len(list) == 0 {
		delete(all, path)
		return
	}
	all[path] = list
}

// forget drops the diagnostics of stacks that are not checked any more. It reports whether the run
// goes on.
func (r *run) forget(roots []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.generation != r.generation {
		return false
	}
	gone := map[string]bool{}
	for root, paths := range r.mu.stacks {
		if slices.Contains(roots, root) && r.server.workspace.Stack(root) != nil {
			continue
		}
		for path := range paths {
			gone[path] = true
		}
		if snap := r.mu.checked[root]; snap != nil {
			for path := range snap.Files {
				gone[path] = true
			}
		}
		delete(r.mu.stacks, root)
		delete(r.mu.checked, root)
	}
	for path := range r.mu.published {
		if !r.server.workspace.IsOpen(path) && !ofStack(path) {
			gone[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(gone)) {
		if !r.server.workspace.IsOpen(path) && !r.concerns(path) {
			delete(r.mu.syntax, path)
		}
		r.publish(path, r.versions)
	}
	return true
}

// concerns reports whether a file is part of a stack that is checked. The lock is held.
func (c *checks) concerns(path string) bool {
	for _, snap := range c.mu.checked {
		if snap.File(path) != nil {
			return true
		}
	}
	return false
}

// workspaceFiles checks the workspace files that are open. It reports whether the run goes on.
func (r *run) workspaceFiles(ctx context.Context) bool {
	for _, path := range r.server.workspace.Open() {
		if kindOf(path) != kindWorkspace {
			continue
		}
		src, err := r.server.workspace.Text(path)
		if err != nil {
			continue
		}
		_, diags := cairnfile.LoadText(filepath.Dir(path), src)
		diags = slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool { // of deployment files, which have their own
			return diag.Subject != nil && diag.Subject.Filename != path
		})
		if !r.current(ctx) {
			return false
		}
		text := position.NewText(src)
		r.mu.Lock()
		if r.mu.generation != r.generation {
			r.mu.Unlock()
			return false
		}
		setOrDelete(r.mu.syntax, path, reportsIn(diags, text))
		r.publish(path, r.versions)
		r.mu.Unlock()
	}
	return true
}

// checkSyntax reports the syntax errors of an open file. While there are some, nothing else is
// known of the file.
func (c *checks) checkSyntax(path string) {
	defer func() { c.server.logPanic("parsing", recover()) }()
	file := c.server.workspace.OpenFile(path)
	if file == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.mu.syntax[path]
	now := reportsIn(file.Diagnostics, file.Text)
	if len(before) == 0 && len(now) == 0 {
		return
	}
	setOrDelete(c.mu.syntax, path, now)
	for _, paths := range c.mu.stacks {
		delete(paths, path)
	}
	c.publish(path, c.server.versions())
}

// publish reports the diagnostics of a file to the client, unless its last report is the same. The
// lock is held, so that newer diagnostics are reported later.
func (c *checks) publish(path string, versions map[string]int32) {
	list := slices.Clone(c.mu.syntax[path])
	for _, root := range slices.Sorted(maps.Keys(c.mu.stacks)) {
		for _, diag := range c.mu.stacks[root][path] {
			// Several stacks can embed the one with this file, and find the same mistake in it.
			if !slices.ContainsFunc(list, func(other protocol.Diagnostic) bool { return sameDiagnostic(&diag, &other) }) {
				list = append(list, diag)
			}
		}
	}
	// An empty list takes earlier reports away; null is no list to the protocol.
	if list == nil {
		list = []protocol.Diagnostic{}
	}
	params := &protocol.PublishDiagnosticsParams{URI: c.server.uriOf(path), Diagnostics: list}
	if version, open := versions[path]; open && c.server.abilities().versions {
		params.Version = protocol.NewOptional(version)
	}
	message, err := protocol.Marshal(params)
	if err != nil || bytes.Equal(message, c.mu.published[path]) {
		return
	}
	if _, told := c.mu.published[path]; !told && len(list) == 0 && !c.server.workspace.IsOpen(path) {
		return
	}
	if len(list) == 0 && !c.server.workspace.IsOpen(path) {
		delete(c.mu.published, path)
	} else {
		c.mu.published[path] = message
	}
	if err := c.server.client.PublishDiagnostics(c.ctx, params); err != nil && c.ctx.Err() == nil {
		c.server.log.Warn("diagnostics are not told", "path", path, "error", err.Error())
	}
}
