// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	"google.golang.org/protobuf/encoding/protowire"
)

// message builds a protobuf message of varints (int) and of strings or messages ([]byte, string).
func message(fields ...any) []byte {
	var msg []byte
	for i := 0; i < len(fields); i += 2 {
		f := field{num: protowire.Number(fields[i].(int))}
		switch v := fields[i+1].(type) {
		case int:
			f.varint = uint64(v)
		case string:
			f.bytes, f.isLen = []byte(v), true
		case []byte:
			f.bytes, f.isLen = v, true
		}
		msg = appendField(msg, f)
	}
	return msg
}

// TestReadAlteredFiles has the engine judge files that no module makes a released engine write:
// those in which one field was altered. Files that it refuses, we need not understand.
func TestReadAlteredFiles(t *testing.T) {
	m := newModule(t)
	const config = `
variable "rev" {
  default = 1
}
resource "terraform_data" "x" {
  input            = { a = "b" }
  triggers_replace = [var.rev]
}
`
	m.write(map[string]string{"main.tf": config})
	m.apply()
	planFile := m.plan(false, tfexec.Var("rev=2"))

	// A change of the one resource, whose field 9 is the change itself.
	var original []byte
	rewritePlan(t, planFile, func(f field) bool {
		if f.num == 3 {
			original = f.bytes
		}
		return true
	})
	withChange := func(extra []byte) []byte {
		var msg []byte
		err := eachField(original, func(f field) error {
			if f.num == 9 {
				f.bytes = slices.Concat(f.bytes, extra)
			}
			msg = appendField(msg, f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return msg
	}

	alterations := map[string][]byte{ // appended to the plan message
		"created, then forgotten": message(3, withChange(message(1, 9))),
		"import by name":          message(3, withChange(message(5, message(1, "an-id")))),
		"import not known":        message(3, withChange(message(5, message(2, 1)))),
		"configuration generated": message(3, withChange(message(5, message(1, "an-id"), 6, "resource {}"))),
		"deposed":                 message(3, slices.Concat(original, message(7, "0123abcd"))),
		"unknown fields":          message(90, 1, 91, "x", 92, message(1, 1)),
		"step into a list": message(3,
			withChange(message(4, message(1, message(1, "triggers_replace"), 1, message(2, message(1, "\x00")))))),
	}
	for reason := 1; reason <= 13; reason++ {
		alterations[fmt.Sprintf("action reason %d", reason)] = message(3, slices.Concat(original, message(12, reason)))
	}
	for reason := 1; reason <= 5; reason++ {
		alterations[fmt.Sprintf("deferred for reason %d", reason)] = message(27, message(1, message(1, reason), 2, original))
	}
	for name, extra := range alterations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m.isTofu() && terraformOnly.MatchString(name) {
				t.Skip("tofu has no such field")
			}
			data := appendToPlan(t, planFile, extra)
			altered := filepath.Join(t.TempDir(), "tfplan")
			if err := os.WriteFile(altered, data, 0o600); err != nil {
				t.Fatal(err)
			}
			want := comparableDoc(t, m.show(altered))
			plan, err := Read(data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := comparableDoc(t, document(t, plan))
			dropUnsaid(want, got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Read differs from show -json (-want +got):\n%s", diff)
			}
		})
	}
}

// terraformOnly are alterations of fields that plans of terraform alone have.
var terraformOnly = regexp.MustCompile(`^(created, then forgotten|import not known|deferred for reason \d)$`)

// appendToPlan returns the content of a plan file with extra fields at the end of the plan message.
func appendToPlan(t *testing.T, planFile string, extra []byte) []byte {
	t.Helper()
	members := membersOf(t, planFile)
	members["tfplan"] = slices.Concat(members["tfplan"], extra)
	return zipOf(t, members)
}
