// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// kind is the kind of event that a record is about.
type kind string

const (
	opened       kind = "opened"       // the file, of which it is the first record
	lost         kind = "lost"         // something of the record of earlier work
	began        kind = "began"        // the work, with the state that it began with
	intended     kind = "intended"     // something is about to be done with an object
	stored       kind = "stored"       // an object was written
	removed      kind = "removed"      // an object is gone
	unchanged    kind = "unchanged"    // nothing came of the intention
	finished     kind = "finished"     // the apply came to its end
	acknowledged kind = "acknowledged" // the result is safe elsewhere
	seen         kind = "seen"         // somebody has seen the doubts
	forgotten    kind = "forgotten"    // nobody needs to hear of the work any more
	unreported   kind = "unreported"   // more may have been done than was reported
	restored     kind = "restored"     // the file was made from a copy: all work before may have done more
)

// record is a line of a journal.
type record struct {
	Kind kind          `json:"kind"`
	Work engine.WorkID `json:"work"`

	// Of began.
	Component string       `json:"component,omitempty"`
	Mode      engine.Mode  `json:"mode,omitempty"`
	StartedAt time.Time    `json:"started_at,omitzero"`
	Plan      string       `json:"plan,omitempty"`
	Serial    int64        `json:"serial,omitempty"`
	State     engine.State `json:"state,omitempty"`
	Elsewhere []byte       `json:"elsewhere,omitempty"` // about the session that does it, if it was delegated

	// Of those about an object.
	Object  string          `json:"object,omitempty"` // address of the resource instance
	Deposed string          `json:"deposed,omitempty"`
	Action  engine.Action   `json:"action,omitempty"`
	Entry   json.RawMessage `json:"entry,omitempty"`

	// Of those that another session has reported: their number there, from 1.
	Number int64 `json:"number,omitempty"`

	// Of opened: the key of all further records, if they are encrypted.
	Key *encryption.Wrapped `json:"key,omitempty"`

	// Of lost, and of began where records of the work are lost: the damage to the file. Of unreported:
	// the reason.
	Damage string `json:"damage,omitempty"`
}

// signer signs the lines of a file, each together with all before, and encrypts them.
type signer struct {
	secret []byte
	last   []byte
	root   *encryption.Root // nil for a file in clear
}

// recordPlace is the place of encrypted records. Their order is signed.
const recordPlace = "journal record"

// line returns a record as it is written.
func (s *signer) line(r *record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if s.root != nil && r.Kind != opened {
		text = base64.StdEncoding.AppendEncode(nil, s.root.Seal(recordPlace, text))
	}
	s.last = s.sum(text)
	line := append(text, '\t')
	line = hex.AppendEncode(line, s.last)
	return append(line, '\n'), nil
}

func (s *signer) sum(text []byte) []byte {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write(s.last) // never fails
	mac.Write(text)
	return mac.Sum(nil)
}

// errForeign says that a file was signed with another secret, or changed.
var errForeign = errors.New("the journal was not written for this state")

// errEmpty means that a file has no whole line, and yet more than the beginning of a line that
// remains when the program is killed while it makes the file: a disk may have such a file, if it
// was not synced yet when the power was cut.
var errEmpty = errors.New("the journal has lost all that was in it")

// maxLine is how long a record may be.
const maxLine = 1 << 30

// padding fills a file after its lines. It is in no line, and no disk has it where nothing was
// written.
const padding = '\r'

// contents are the records of a file.
type contents struct {
	records []record
	size    int64 // of the lines

	// damage describes the lines after these, as the end of a sentence about the file; "" if they
	// are whole. A line that is not whole and is followed by padding is none: it was being written
	// when the program was killed.
	damage string
}

// read reads a file.
//
// Errors: [errForeign] if it does not begin as one; [errEmpty] if it does not end its first line;
// that it cannot be read, or not be decrypted.
func (s *signer) read(ctx context.Context, from io.Reader, keys journalKeys) (contents, error) {
	var c contents
	reader := bufio.NewReader(from)
	for {
		line, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			c.damage = damageOf(line)
			if len(c.records) == 0 && c.damage != "" && len(line) > 0 {
				return c, errEmpty
			}
			return c, nil
		}
		if err != nil {
			return c, err
		}
		text, sum, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
		given, err := hex.DecodeString(string(sum))
		want := s.sum(text)
		if !found || err != nil || !hmac.Equal(given, want) {
			if len(c.records) == 0 {
				return c, errForeign
			}
			c.damage = "was changed, or is damaged"
			return c, nil
		}
		r, err := s.parse(ctx, text, keys)
		if err != nil {
			return c, err
		}
		s.last = want
		c.size += int64(len(line))
		c.records = append(c.records, r)
	}
}

// journalKeys are the keys of a journal that is read, and its name in messages.
type journalKeys struct {
	ring *encryption.Keyring
	what string
}

// parse parses the text of a line whose signature is right. The first record of a file says whether
// the others are encrypted.
func (s *signer) parse(ctx context.Context, text []byte, keys journalKeys) (record, error) {
	if s.root != nil {
		content, err := base64.StdEncoding.AppendDecode(nil, text)
		text, whole := s.root.Open(recordPlace, content)
		if err != nil || !whole {
			return record{}, encryption.Damaged(keys.what)
		}
		var r record
		err = json.Unmarshal(text, &r)
		return r, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	var err error
	switch {
	case r.Key != nil:
		s.root, err = keys.ring.Unwrap(ctx, *r.Key, keys.what)
	case r.Kind == opened && keys.ring.Demands():
		err = encryption.Clear(keys.what)
	}
	return r, err
}

// damageOf describes the damage after the last whole line.
func damageOf(rest []byte) string {
	torn := bytes.TrimRight(rest, string(padding))
	switch {
	case len(torn) == len(rest):
		return "was cut short"
	case bytes.ContainsAny(torn, "\x00"+string(padding)):
		return "is damaged"
	}
	return ""
}

// readLine returns the next whole line. At the end of the file, it returns the rest after the last
// one, with [io.EOF].
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return line, err
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, errors.New("a record is too long")
		}
	}
}
