// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary"
)

// busyLoad is the load average from which on other work on the machine counts.
const busyLoad = 1

// describeMachine names the conditions of the results, as a paragraph.
func describeMachine(ctx context.Context, program, workDir string) (string, error) {
	engine, err := binary.New(ctx, binary.Options{Binary: program, WorkDir: filepath.Join(workDir, "version")})
	if err != nil {
		return "", err
	}
	info := engine.Info()
	text := fmt.Sprintf("Measured %s UTC on %s, %d CPUs, %s/%s, %s, %s %s",
		time.Now().UTC().Format("2006-01-02 15:04"), processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), info.Name, info.Version)
	if revision := revision(ctx); revision != "" {
		text += ", cairn at " + revision
	}
	load, known := loadAverage()
	switch {
	case !known:
		return text + ".", nil
	case load >= busyLoad:
		text += fmt.Sprintf(". **Preliminary**: the load average was %.1f before the run, so that other work took part of the machine.", load)
		return text, nil
	default:
		return fmt.Sprintf("%s. The load average was %.1f before the run.", text, load), nil
	}
}

// processor returns the model of the processor, where the system has it in a file.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "an unnamed processor"
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unnamed processor"
}

// loadAverage returns that of the last minute.
func loadAverage() (load float64, known bool) {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err = strconv.ParseFloat(first, 64)
	return load, err == nil
}

// revision returns the commit of the working tree, if it is one.
func revision(ctx context.Context) string {
	output, err := command(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(output))
}
