// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore

import (
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// open decrypts the records of a snapshot in place.
func (t *sealedState) open(deployment string, snapshot *statestore.Snapshot) error {
	if t.ring == nil {
		return nil
	}
	delete(snapshot.Records, ringName)
	count(t.ring, &snapshot.Version, -1)
	stored := pairsOf(snapshot.Records)
	whole := make([]bool, len(stored))
	inParallel(len(stored), func(i int) {
		stored[i], whole[i] = t.openRecord(deployment, stored[i])
	})
	records := make(map[string][]byte, len(stored))
	for i, pair := range stored {
		if !whole[i] {
			return encryption.Damaged(describe(deployment))
		}
		records[pair.name] = pair.value
	}
	snapshot.Records = records
	return nil
}

// seal encrypts changes of records. Nil stands for one that is deleted, and stays nil.
func (t *sealedState) seal(deployment string, changes map[string][]byte) map[string][]byte {
	if t.ring == nil {
		return changes
	}
	pairs := pairsOf(changes)
	inParallel(len(pairs), func(i int) { pairs[i] = t.sealRecord(deployment, pairs[i]) })
	stored := make(map[string][]byte, len(pairs)+1)
	for _, pair := range pairs {
		stored[pair.name] = pair.value
	}
	return stored
}

// pair is a record.
type pair struct {
	name  string
	value []byte
}

func pairsOf(records map[string][]byte) []pair {
	pairs := make([]pair, 0, len(records))
	for name, value := range records {
		pairs = append(pairs, pair{name, value})
	}
	return pairs
}

func (t *sealedState) sealRecord(deployment string, plain pair) pair {
	name := plain.name
	if t.ring.Names == encryption.HiddenNames {
		name = hiddenPrefix + t.root.Name(plain.name)
	}
	switch {
	case plain.name == "": // which the store refuses
		return plain
	case plain.value == nil:
		return pair{name, nil}
	}
	content := make([]byte, 0, binary.MaxVarintLen64+len(plain.name)+len(plain.value))
	content = binary.AppendUvarint(content, uint64(len(plain.name)))
	content = append(content, plain.name...)
	content = append(content, plain.value...)
	return pair{name, t.root.Seal(recordPlace(deployment, name), content)}
}

func (t *sealedState) openRecord(deployment string, stored pair) (plain pair, whole bool) {
	content, whole := t.root.Open(recordPlace(deployment, stored.name), stored.value)
	length, n := binary.Uvarint(content)
	if !whole || n <= 0 || length > uint64(len(content)-n) {
		return pair{}, false
	}
	end := n + int(length) //nolint:gosec // no more than there is
	return pair{string(content[n:end]), content[end:]}, true
}

// recordPlace is the place of a record, by the name that the store knows.
func recordPlace(deployment, name string) string { return "record\x00" + deployment + "\x00" + name }

// fewRecords are not worth a second processor.
const fewRecords = 64

// inParallel calls a function for each number below n, on all processors.
func inParallel(n int, do func(int)) {
	workers := runtime.GOMAXPROCS(0)
	if n < fewRecords || workers == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for i := worker; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}
