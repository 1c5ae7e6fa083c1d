// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package testprovider

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// RecordDescriptors records descriptors if [DescriptorsVariable] asks for it.
func RecordDescriptors() error {
	path := os.Getenv(DescriptorsVariable)
	if path == "" {
		return nil
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("listing descriptors: %w", err)
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("recording descriptors: %w", err)
	}
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err != nil || number <= 2 {
			continue
		}
		name := filepath.Join("/proc/self/fd", entry.Name())
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeNamedPipe {
			continue
		}
		if _, err := fmt.Fprintf(out, "descriptor %s: %s\n", entry.Name(), readable(name)); err != nil {
			return fmt.Errorf("recording descriptors: %w", err)
		}
	}
	return out.Close()
}

// readable returns the data that can be read from a descriptor without waiting.
func readable(name string) []byte {
	descriptor, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(descriptor) //nolint:errcheck // only read
	buffer := make([]byte, 1<<16)
	n, err := syscall.Read(descriptor, buffer)
	if err != nil {
		return nil
	}
	return buffer[:n]
}
