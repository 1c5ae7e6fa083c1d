// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"archive/zip"
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// membersOf returns the members of a plan file.
func membersOf(t testing.TB, planFile string) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader(planFile)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // only read
	members := make(map[string][]byte)
	for _, file := range archive.File {
		if members[file.Name], err = member(&archive.Reader, file.Name); err != nil {
			t.Fatal(err)
		}
	}
	return members
}

// rewritePlan returns the content of a plan file with only those fields of the plan message that
// keep accepts.
func rewritePlan(t *testing.T, planFile string, keep func(field) bool) []byte {
	t.Helper()
	members := membersOf(t, planFile)
	var msg []byte
	err := eachField(members["tfplan"], func(f field) error {
		if keep(f) {
			msg = appendField(msg, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	members["tfplan"] = msg
	return zipOf(t, members)
}

func appendField(msg []byte, f field) []byte {
	if f.isLen {
		msg = protowire.AppendTag(msg, f.num, protowire.BytesType)
		return protowire.AppendBytes(msg, f.bytes)
	}
	msg = protowire.AppendTag(msg, f.num, protowire.VarintType)
	return protowire.AppendVarint(msg, f.varint)
}

// zipOf returns a zip with the given members.
func zipOf(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, content := range members {
		m, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
