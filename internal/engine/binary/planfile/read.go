// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// formatVersion is the only version of the format that terraform and tofu have written since 2018.
const formatVersion = 3

// maxMember bounds the size of a member of the zip, against files made to exhaust memory.
const maxMember = 4 << 30

// Read reads the content of a plan file.
//
// Errors: always a [*FormatError]. No content whatsoever makes it panic.
func Read(data []byte, opts Options) (*Plan, error) {
	plan, err := read(data, opts)
	if err != nil && !errors.As(err, new(*FormatError)) {
		err = &FormatError{Err: err}
	}
	return plan, err
}

func read(data []byte, opts Options) (*Plan, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	msg, err := member(archive, "tfplan")
	if err != nil {
		return nil, err
	}
	p, err := newPlanParser(msg, opts)
	if err != nil {
		return nil, err
	}
	if p.plan.PriorState, err = member(archive, "tfstate"); err != nil {
		return nil, err
	}
	if p.plan.PreviousState, err = member(archive, "tfstate-prev"); err != nil {
		return nil, err
	}
	if !p.stated && !p.plan.Errored {
		p.deriveApplyable()
	}
	return p.plan, nil
}

// member returns the content of the named member of the zip.
func member(archive *zip.Reader, name string) (content []byte, err error) {
	i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s is missing", name)
	}
	file := archive.File[i]
	r, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close() //nolint:errcheck // reads memory
	content, err = io.ReadAll(io.LimitReader(r, maxMember))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return content, nil
}

// newPlanParser decodes the Plan message.
func newPlanParser(msg []byte, opts Options) (*planParser, error) {
	version, err := planVersion(msg)
	if err != nil {
		return nil, err
	}
	if version != formatVersion {
		return nil, &FormatError{
			Version: version,
			Err:     fmt.Errorf("format version is %d, not %d", version, formatVersion),
		}
	}
	p := &planParser{
		plan:      &Plan{Outputs: make(map[string]*OutputChange), Variables: make(map[string]cty.Value)},
		resources: resourceReader{opts: opts, providers: make(map[string]stackaddrs.Provider)},
	}
	if err := eachField(msg, p.field); err != nil {
		return nil, err
	}
	return p, p.finish()
}

// planVersion looks for the version first, since nothing else can be relied on before it is known.
func planVersion(msg []byte) (version uint64, err error) {
	err = eachField(msg, func(f field) error {
		if f.num == 1 {
			return f.setUint(&version)
		}
		return nil
	})
	return version, err
}

type planParser struct {
	plan           *Plan
	resources      resourceReader
	changes, drift []*engine.Change
	mode           uint64
	timestamp      string
	stated         bool
}

// field decodes one field of the Plan message.
func (p *planParser) field(f field) error {
	switch f.num {
	case 2, 4:
		return p.rootValue(f)
	case 3:
		return p.appendChange(&p.changes, f)
	case 18:
		return p.appendChange(&p.drift, f)
	case 27:
		return p.deferredChange(f)
	case 5:
		return f.appendString(&p.plan.TargetAddrs)
	case 6:
		return f.appendString(&p.plan.ExcludeAddrs)
	case 16:
		return f.appendString(&p.plan.ForceReplaceAddrs)
	case 14:
		return f.setString(&p.plan.EngineVersion)
	case 17:
		return f.setUint(&p.mode)
	case 19:
		return p.checkResult(f)
	case 20:
		return f.setBool(&p.plan.Errored)
	case 21:
		return f.setString(&p.timestamp)
	case 25:
		p.stated = true
		return f.setBool(&p.plan.Applyable)
	case 26:
		p.stated = true
		return f.setBool(&p.plan.Complete)
	}
	return nil
}

// rootValue decodes the value of a variable, or the change of an output.
func (p *planParser) rootValue(f field) error {
	if f.num == 2 {
		name, value, err := parseVariable(f)
		p.plan.Variables[name] = value
		return err
	}
	name, change, err := parseOutputChange(f)
	p.plan.Outputs[name] = change
	return err
}

func (p *planParser) appendChange(dst *[]*engine.Change, f field) error {
	change, err := p.resources.parse(f)
	if err == nil {
		*dst = append(*dst, change)
	}
	return err
}

func (p *planParser) deferredChange(f field) error {
	deferred, err := p.resources.parseDeferred(f)
	if err == nil {
		p.plan.DeferredChanges = append(p.plan.DeferredChanges, deferred)
	}
	return err
}

func (p *planParser) checkResult(f field) error {
	msg, err := f.message()
	if err != nil {
		return err
	}
	result, err := parseCheckResult(msg)
	p.plan.Checks = append(p.plan.Checks, result)
	return err
}

// finish completes the plan once all fields are there.
func (p *planParser) finish() error {
	plan := p.plan
	if p.mode > uint64(ModeRefreshOnly) {
		return fmt.Errorf("unknown plan mode %d", p.mode)
	}
	plan.Mode = Mode(p.mode)
	timestamp, err := time.Parse(time.RFC3339, p.timestamp)
	if err != nil {
		return fmt.Errorf("timestamp: %w", err)
	}
	plan.Timestamp = timestamp.UTC()

	slices.SortStableFunc(p.changes, compareChanges)
	for _, change := range p.changes {
		// A data source that the module no longer has is only dropped from the state: no change of the
		// user's.
		if change.Addr.Resource.Mode != stackaddrs.DataResource || change.Action != engine.ActionDelete {
			plan.ResourceChanges = append(plan.ResourceChanges, change)
		}
	}
	slices.SortStableFunc(p.drift, compareChanges)
	for _, change := range p.drift {
		// Objects that only moved are among the resource changes, unless there are none.
		if plan.Mode == ModeRefreshOnly || change.Action != engine.ActionNoOp {
			plan.ResourceDrift = append(plan.ResourceDrift, change)
		}
	}
	slices.SortStableFunc(plan.DeferredChanges, func(a, b engine.DeferredChange) int { return compareChanges(a.Change, b.Change) })
	slices.SortStableFunc(plan.Checks, func(a, b engine.CheckResult) int { return cmp.Compare(a.Address, b.Address) })
	return nil
}

// deriveApplyable fills Applyable and Complete of a plan that says neither: one of tofu, or one of
// terraform of which neither is true. The rules, which are both programs' own, give the right
// answer for either.
func (p *planParser) deriveApplyable() {
	plan := p.plan
	plan.Complete = len(plan.TargetAddrs) == 0 && len(plan.ExcludeAddrs) == 0 && len(plan.DeferredChanges) == 0
	plan.Applyable = p.changesAnything() ||
		plan.Mode == ModeRefreshOnly && !sameManagedResources(plan.PriorState, plan.PreviousState)
}

func (p *planParser) changesAnything() bool {
	for _, change := range p.changes {
		if !change.IsNoOp() {
			return true
		}
	}
	for _, output := range p.plan.Outputs {
		if output.Action != engine.ActionNoOp {
			return true
		}
	}
	return false
}

// sameManagedResources compares two states; those that don't parse are not the same.
func sameManagedResources(a, b []byte) bool {
	x, errX := managedEntries(a)
	y, errY := managedEntries(b)
	return errX == nil && errY == nil && slices.EqualFunc(x, y, tfstate.Entry.Equal)
}

func managedEntries(state []byte) ([]tfstate.Entry, error) {
	doc, err := tfstate.Parse(state)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(doc.Entries()), func(e tfstate.Entry) bool {
		return e.Addr.Resource.Mode != stackaddrs.ManagedResource
	}), nil
}
