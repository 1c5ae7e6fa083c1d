// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// SQLite reads a log that a killed process left up to the first frame that differs from its
// checksum, and silently ignores the rest: for all it knows, that was never committed. So a damaged
// log would give an older state. But the log's index, in the -shm file, says up to which frame the
// log was committed, and it is written after the log has reached the disk: a log with fewer frames
// is damaged, and the cut-off end of a commit that never finished is not.
//
// Without the index only a later commit proves that an earlier one was finished. Of the last one
// nothing does: the disk may have anything of a commit that the power failed in, so that neither
// its frames nor seals within them tell it from one that was damaged, or cut off, afterwards. That
// would take a second file, written and synced after each commit, for a fault that two files must
// have.
//
// Source of the formats: https://sqlite.org/walformat.html.

// connected counts the connections of this process by path. Where there are
// any, the log was looked at before, and must not be opened again: closing a
// file drops all locks that the process has on it.
var connected = struct {
	sync.Mutex
	stores map[string]int
}{stores: map[string]int{}}

// announce notes a connection that is about to be made, unless committed
// changes are missing from the log.
func (s *sqliteStore) announce() error {
	connected.Lock()
	defer connected.Unlock()
	if connected.stores[s.path] == 0 {
		if err := s.checkLog(); err != nil {
			return err
		}
	}
	connected.stores[s.path]++
	return nil
}

// withdraw undoes announce when a connection is closed.
func withdraw(path string) {
	connected.Lock()
	defer connected.Unlock()
	connected.stores[path]--
	if connected.stores[path] == 0 {
		delete(connected.stores, path)
	}
}

// checkLog fails if committed changes are missing from the log that is next to
// the file.
func (s *sqliteStore) checkLog() error {
	// A log that changes meanwhile belongs to a running process, which
	// relies on its own knowledge of it, as this one will.
	for range 10 {
		index, err := readLogIndex(s.path + "-shm")
		if err != nil {
			return s.explainLog(err)
		}
		problem, err := s.checkLogAgainst(index)
		if err != nil {
			return s.explainLog(err)
		}
		if problem == "" {
			return nil
		}
		again, err := readLogIndex(s.path + "-shm")
		if err != nil {
			return s.explainLog(err)
		}
		if index == again {
			return s.fault(statestore.ProblemCorrupt,
				"cannot be read: "+s.path+"-wal, which holds its last changes, "+problem,
				"keep a copy of the file and of those next to it, then restore a backup of all of them;"+
					" if the file is a backup that was put in the place of another state, move its -wal and -shm files away", nil)
		}
	}
	return nil
}

func (s *sqliteStore) explainLog(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return nil // and SQLite can't read it either; it says so where it matters
	}
	return s.unusable(err)
}

// checkLogAgainst returns the fault of the log, a clause, if it has one.
func (s *sqliteStore) checkLogAgainst(index logIndex) (problem string, err error) {
	file, err := os.Open(s.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		if index.inFile() {
			return "", nil
		}
		return "is missing", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	log, err := scanLog(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return "", err
	}
	// SQLite ignores a log whose header is damaged, without an error: changes that are committed and
	// not in the file yet would be gone.
	switch {
	case !log.usable && index.inFile() && (index.known || log.empty):
		return "", nil // ignored, and not needed
	case !log.usable:
		return "is damaged at its beginning", nil
	case index.known && index.frames > 0 && index.salt != log.salt:
		return "is not the log that belongs to it", nil
	case index.known && log.frames < int(index.frames):
		return "is damaged or cut short", nil
	case !index.known && log.commitBeyond:
		return "is damaged", nil
	}
	return "", nil
}

// logIndex is the description of a log in its index.
type logIndex struct {
	known      bool // the index is there and intact
	frames     uint32
	backfilled uint32 // number of the frames that were copied into the file
	salt       [8]byte
}

// inFile reports whether the file has everything, whatever there is of a log.
func (i logIndex) inFile() bool { return i.backfilled >= i.frames }

// readLogIndex reads the index at a path. One that is damaged, half written, or not there is not
// known.
func readLogIndex(path string) (logIndex, error) {
	const (
		version = 3007000
		header  = 48 // there are two copies, and the number of backfilled frames
	)
	content := make([]byte, 2*header+4)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return logIndex{}, nil
	}
	if err != nil {
		return logIndex{}, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	_, err = io.ReadFull(file, content)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return logIndex{}, nil
	}
	if err != nil {
		return logIndex{}, err
	}
	native := binary.NativeEndian
	sum := logChecksum{}.add(native, content[:40])
	if !bytes.Equal(content[:header], content[header:2*header]) || native.Uint32(content) != version || content[12] != 1 ||
		sum != (logChecksum{native.Uint32(content[40:]), native.Uint32(content[44:])}) {
		return logIndex{}, nil
	}
	return logIndex{
		known:      true,
		frames:     native.Uint32(content[16:]),
		backfilled: native.Uint32(content[2*header:]),
		salt:       [8]byte(content[32:40]),
	}, nil
}

// logContent is the content of a log.
type logContent struct {
	empty  bool // not even a part of a header
	usable bool // its header is intact
	salt   [8]byte
	frames int // that are intact, from the first

	// commitBeyond: after the first frame that is not intact there is one
	// that ends a transaction of the same log.
	commitBeyond bool
}

// scanLog reads a log.
func scanLog(r io.Reader) (logContent, error) {
	var log logContent
	header := make([]byte, 32)
	switch n, err := io.ReadFull(r, header); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		log.empty = n == 0
		return log, nil
	case err != nil:
		return log, err
	}
	big := binary.BigEndian
	var order binary.ByteOrder = binary.LittleEndian
	magic, pageSize := big.Uint32(header), big.Uint32(header[8:])
	// The lowest bit is the byte order of the checksums alone: all other numbers are big-endian.
	if magic&1 != 0 {
		order = big
	}
	sum := logChecksum{}.add(order, header[:24])
	if magic&^1 != 0x377f0682 || pageSize < 512 || pageSize > 65536 || pageSize&(pageSize-1) != 0 ||
		sum != readLogChecksum(header[24:]) {
		return log, nil
	}
	log.usable = true
	log.salt = [8]byte(header[16:24])

	frame := make([]byte, 24+pageSize)
	intact := true
	for {
		_, err := io.ReadFull(r, frame)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return log, nil
		}
		if err != nil {
			return log, err
		}
		stored := readLogChecksum(frame[16:])
		fits := [8]byte(frame[8:16]) == log.salt && big.Uint32(frame) != 0 &&
			sum.add(order, frame[:8]).add(order, frame[24:]) == stored
		sum = stored // the next sum was made from this
		switch {
		case intact && fits:
			log.frames++
		// Only the last frame of a transaction has the size of the database.
		case fits && big.Uint32(frame[4:]) != 0:
			log.commitBeyond = true
		}
		intact = intact && fits
	}
}

// logChecksum is SQLite's checksum of logs and their indexes.
type logChecksum [2]uint32

// add continues the checksum over content, whose length is a multiple of 8.
func (c logChecksum) add(order binary.ByteOrder, content []byte) logChecksum {
	for ; len(content) >= 8; content = content[8:] {
		c[0] += order.Uint32(content) + c[1]
		c[1] += order.Uint32(content[4:]) + c[0]
	}
	return c
}

func readLogChecksum(stored []byte) logChecksum {
	return logChecksum{binary.BigEndian.Uint32(stored), binary.BigEndian.Uint32(stored[4:])}
}
