// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// SQLite ignores the frames after the first damage in a log, which may be the last changes of a
// process that was killed.
func TestDamagedLog(t *testing.T) {
	path := newFile(t)
	s := newSQLiteStore(path)
	lock := storetest.MustLock(t, s, "default")
	w := storetest.MustBegin(t, lock, statestore.Base{})
	for i := range 5 {
		storetest.MustWrite(t, w, map[string][]byte{fmt.Sprint(i): {byte(i)}})
	}
	subject := takeSubject(t, "killed", path)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log := subject.files["-wal"]
	const frame = 4096 + 24
	frames := (len(log) - 32) / frame
	read := func(t *testing.T, what string, files map[string][]byte) {
		t.Helper()
		path := newFile(t)
		(&damageSubject{files: files}).write(t, path)
		s := openStore(t, path)
		for call, read := range map[string]func() error{
			"Read": func() error { _, err := s.Read(t.Context(), "default"); return err },
			"Lock": func() error { _, err := s.Lock(t.Context(), "default", statestore.LockRequest{}); return err },
		} {
			wantProblem(t, what+": "+call, read(), statestore.ProblemCorrupt, path)
		}
	}
	with := func(log []byte, index bool) map[string][]byte {
		files := map[string][]byte{"": subject.files[""]}
		if log != nil {
			files["-wal"] = log
		}
		if index {
			files["-shm"] = subject.files["-shm"]
		}
		return files
	}
	flipped := func(at int) []byte {
		log := bytes.Clone(log)
		log[at] ^= 1
		return log
	}
	for i := range frames {
		read(t, fmt.Sprintf("%d of %d frames", i, frames), with(log[:32+i*frame], true))
		read(t, fmt.Sprintf("a bit of frame %d", i+1), with(flipped(32+i*frame+1000), true))
	}
	read(t, "no log", with(nil, true))
	read(t, "empty log", with([]byte{}, true))
	read(t, "a bit of its header", with(flipped(16), true))
	read(t, "a bit of its header, without index", with(flipped(16), false))
	read(t, "a bit in the middle, without index", with(flipped(32+frames/2*frame+1000), false))

	t.Run("unfinished", func(t *testing.T) {
		// The write that was under way when the power failed.
		torn := append(bytes.Clone(log), log[len(log)-frame:len(log)-100]...)
		for _, index := range []bool{true, false} {
			path := newFile(t)
			(&damageSubject{files: with(torn, index)}).write(t, path)
			truth, errs := readTruth(t, path)
			if wrong := truth.differs(subject.truth); wrong != "" || len(errs) > 0 {
				t.Errorf("with index: %t: %v %s", index, errs, wrong)
			}
		}
	})
}
