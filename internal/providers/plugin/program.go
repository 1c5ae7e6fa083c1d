// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// CheckProgram returns why a file cannot be started on this platform, as far as that can be known
// without starting it. It reads a few bytes.
func CheckProgram(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		return errors.New("it is not executable")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // an executable file need not be readable
	}
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, elfMachine+2)
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	return checkFormat(head, runtime.GOOS, runtime.GOARCH)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// elfMachine is where the header of an ELF file names the processor, and elfOrder where it says how
// numbers are written.
const (
	elfOrder   = 5
	elfMachine = 18
)

// The first bytes of programs.
var (
	script   = []byte("#!")
	elf      = []byte("\x7fELF")
	windows  = []byte("MZ")
	machOSet = [][]byte{ // of one processor in either order of bytes, or of several
		[]byte("\xcf\xfa\xed\xfe"), []byte("\xfe\xed\xfa\xcf"), []byte("\xca\xfe\xba\xbe"), []byte("\xca\xfe\xba\xbf"),
	}
)

// elfMachines are the processors whose programs run on an architecture of Go. For one that is
// missing, nothing is known.
var elfMachines = map[string][]uint16{
	"386": {3}, "amd64": {62, 3}, "arm": {40}, "arm64": {183, 40},
	"loong64": {258}, "ppc64": {21}, "ppc64le": {21}, "riscv64": {243}, "s390x": {22},
}

// checkFormat compares the beginning of a file with the formats of programs that a system can
// start.
func checkFormat(head []byte, system, architecture string) error {
	var fits bool
	switch system {
	case "windows":
		fits = bytes.HasPrefix(head, windows)
	case "darwin":
		fits = bytes.HasPrefix(head, script)
		for _, magic := range machOSet {
			fits = fits || bytes.HasPrefix(head, magic)
		}
	default:
		fits = bytes.HasPrefix(head, script) || bytes.HasPrefix(head, elf) && isOfMachine(head, architecture)
	}
	if !fits {
		return fmt.Errorf("it is no program for %s_%s", system, architecture)
	}
	return nil
}

func isOfMachine(head []byte, architecture string) bool {
	machines, known := elfMachines[architecture]
	if !known || len(head) < elfMachine+2 {
		return !known
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if head[elfOrder] == 2 {
		order = binary.BigEndian
	}
	machine := order.Uint16(head[elfMachine:])
	for _, one := range machines {
		if one == machine {
			return true
		}
	}
	return false
}
