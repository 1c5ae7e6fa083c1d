// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// Published holds the published values of a stack.
type Published struct {
	At     time.Time // of the latest change; zero if nothing was ever published
	Values map[string]cty.Value
}

// publication is one deployment's changes to the stack's published values. Those values are the
// combination of all its deployments' publications ([combine]), so that an apply keeps no more than
// its own changes, however many deployments publish.
type publication struct {
	at      time.Time // of the latest change; zero if there was none
	since   time.Time // earlier changes of any deployment count no more
	changes map[string]change
}

// change is one of a published value.
type change struct {
	at    time.Time
	value cty.Value // [cty.NilVal]: it is not published any more
}

// publicationRecord is the record with the key publishedKind, as JSON.
type publicationRecord struct {
	At    time.Time `json:"at"`
	Since time.Time `json:"since,omitzero"`

	// Times has when each value was changed. Those without a record of their own are not published any
	// more. Null is for records by versions that kept all that was published with each apply.
	Times map[string]time.Time `json:"times"`
}

// PublishedAt returns the time of the latest change to the stack's published values by an apply of
// this deployment, zero if there was none.
func (t *Stored) PublishedAt() (time.Time, error) {
	record, err := t.publicationRecord()
	return record.At, err
}

func (t *Stored) publicationRecord() (publicationRecord, error) {
	var record publicationRecord
	raw, ok := t.Records[publishedKind]
	if !ok {
		return record, nil
	}
	if err := json.Unmarshal(raw, &record); err != nil {
		return record, unreadableKept(publishedKind, err)
	}
	if record.Times == nil {
		record.Since = record.At
	}
	return record, nil
}

// Published returns the values that applies of this deployment have published, except those that
// they have removed.
func (t *Stored) Published() (Published, error) {
	publication, err := t.publication()
	if err != nil {
		return Published{}, err
	}
	published := Published{At: publication.at, Values: map[string]cty.Value{}}
	for name, change := range publication.changes {
		if change.value != cty.NilVal {
			published.Values[name] = change.value
		}
	}
	return published, nil
}

func (t *Stored) publication() (*publication, error) {
	record, err := t.publicationRecord()
	if err != nil {
		return nil, err
	}
	publication := &publication{at: record.At, since: record.Since, changes: map[string]change{}}
	for name, at := range record.Times {
		publication.changes[name] = change{at: at}
	}
	for key, raw := range t.Records {
		name, ok := strings.CutPrefix(key, publishedKind)
		if !ok || name == "" {
			continue
		}
		value, err := decodeKept(raw)
		if err != nil {
			return nil, unreadableKept(key, err)
		}
		at, ok := record.Times[name]
		if !ok {
			at = record.At
		}
		publication.changes[name] = change{at, value}
	}
	return publication, nil
}

// combined is the combination of the publications of all deployments.
type combined struct {
	at, since time.Time
	newest    map[string]newestChange // of each value
	number    map[string]int          // of deployments that have a change of the value, which may be out of date
}

type newestChange struct {
	change
	deployment string
}

// combine takes the newest change of each value.
func combine(of map[string]*publication) *combined {
	all := &combined{newest: map[string]newestChange{}, number: map[string]int{}}
	for _, publication := range of {
		all.at = later(all.at, publication.at)
		all.since = later(all.since, publication.since)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for value, change := range of[name].changes {
			all.number[value]++
			if !change.at.Before(all.since) && change.at.After(all.newest[value].at) {
				all.newest[value] = newestChange{change, name}
			}
		}
	}
	return all
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// published returns the values that count. The zero time is for a stack that has never published.
func (c *combined) published() Published {
	published := Published{At: c.at, Values: map[string]cty.Value{}}
	for name, newest := range c.newest {
		if newest.value != cty.NilVal {
			published.Values[name] = newest.value
		}
	}
	return published
}

// publish returns the publication that a deployment has to keep so that these values are published,
// and false if they are already.
func (c *combined) publish(deployment string, values map[string]cty.Value, now time.Time) (*publication, bool) {
	before := c.published()
	if !now.After(c.at) {
		now = c.at.Add(time.Microsecond) // by the clock of another machine
	}
	own := &publication{at: now, since: c.since, changes: map[string]change{}}
	changed := c.at.IsZero()
	for name, newest := range c.newest {
		if newest.deployment == deployment {
			own.changes[name] = newest.change
		}
	}
	for name, value := range values {
		if old, ok := before.Values[name]; !ok || !old.RawEquals(value) {
			own.changes[name], changed = change{now, value}, true
		}
	}
	for name := range before.Values {
		if _, ok := values[name]; !ok {
			own.changes[name], changed = change{at: now}, true
		}
	}
	// A value that nobody else has need not be said to be gone.
	maps.DeleteFunc(own.changes, func(name string, change change) bool {
		return change.value == cty.NilVal && (c.number[name] == 0 || c.number[name] == 1 && c.newest[name].deployment == deployment)
	})
	return own, changed
}

// publicationRecords returns the changes of records that replace the stored publication by another
// one.
func (t *Stored) publicationRecords(publication *publication) (map[string][]byte, error) {
	record := publicationRecord{At: publication.at, Since: publication.since, Times: map[string]time.Time{}}
	values := map[string]cty.Value{}
	for name, change := range publication.changes {
		record.Times[name] = change.at
		if change.value != cty.NilVal {
			values[name] = change.value
		}
	}
	marker, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	changes := map[string][]byte{publishedKind: marker}
	for key := range t.Records {
		if strings.HasPrefix(key, publishedKind) && key != publishedKind {
			changes[key] = nil
		}
	}
	return changes, addKept(changes, publishedKind, values)
}
