// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"io"

	"google.golang.org/protobuf/proto"
)

// An object is a line that says what it is, a message of package statelogv1, deflated, and the
// SHA-256 of both.
const (
	magic         = "cairn state log 1\n"
	formatVersion = 2 // of the messages: locks of parts came with 2
)

// hash is the SHA-256 of an object.
type hash = [sha256.Size]byte

// errDamaged is the fault of an object that is not as it was written.
var errDamaged = errors.New("it has changed since it was written")

// frame returns an object.
func frame(message proto.Message) ([]byte, error) {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(magic)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), sum[:]...), nil
}

// unframe reads an object into a message.
func unframe(object []byte, message proto.Message) error {
	end := len(object) - sha256.Size
	if end < len(magic) {
		return errDamaged
	}
	if sum := sha256.Sum256(object[:end]); !bytes.Equal(sum[:], object[end:]) {
		return errDamaged
	}
	if string(object[:len(magic)]) != magic {
		return errNewer
	}
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(object[len(magic):end])))
	if err != nil {
		return errDamaged
	}
	if err := proto.Unmarshal(raw, message); err != nil {
		return errDamaged
	}
	return nil
}

// The faults of objects of formats that are not known here.
var (
	errNewer = errors.New("it was written by a newer cairn")
	errOlder = errors.New("it was written by an older cairn")
)

// checkFormat fails for messages of another version of the format. The older one was never
// released.
func checkFormat(version uint32) error {
	switch {
	case version > formatVersion:
		return errNewer
	case version < formatVersion:
		return errOlder
	}
	return nil
}
