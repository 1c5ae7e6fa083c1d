// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckFormat(t *testing.T) {
	elfOf := func(order, low, high byte) string {
		head := make([]byte, 20)
		copy(head, elf)
		head[elfOrder], head[elfMachine], head[elfMachine+1] = order, low, high
		return string(head)
	}
	for _, test := range []struct {
		name, head, system, architecture string
		want                             bool
	}{
		{"this one", elfOf(1, 62, 0), "linux", "amd64", true},
		{"its predecessor", elfOf(1, 3, 0), "linux", "amd64", true},
		{"another processor", elfOf(1, 183, 0), "linux", "amd64", false},
		{"another order of bytes", elfOf(2, 0, 22), "linux", "s390x", true},
		{"nothing known of the processor", elfOf(1, 9, 9), "linux", "mips", true},
		{"a part of a program", "\x7fELF", "linux", "amd64", false},
		{"another system", "MZ\x90", "linux", "amd64", false},
		{"a script", "#!/bin/sh", "linux", "arm64", true},
		{"empty", "", "linux", "amd64", false},
		{"windows", "MZ\x90", "windows", "amd64", true},
		{"script on windows", "#!/bin/sh", "windows", "amd64", false},
		{"macOS", "\xcf\xfa\xed\xfe", "darwin", "arm64", true},
		{"several processors", "\xca\xfe\xba\xbe", "darwin", "arm64", true},
		{"linux on macOS", elfOf(1, 183, 0), "darwin", "arm64", false},
	} {
		head := make([]byte, elfMachine+2)
		copy(head, test.head)
		if err := checkFormat(head, test.system, test.architecture); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestCheckProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform-provider-x")
	self, err := os.Executable()
	if err := errors.Join(err, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := CheckProgram(self); err != nil {
		t.Errorf("this program: %v", err)
	}
	for name, path := range map[string]string{"not executable": path, "a directory": filepath.Dir(path), "nothing": path + "-missing"} {
		if err := CheckProgram(path); err == nil {
			t.Errorf("%s: it can be started", name)
		}
	}
}
