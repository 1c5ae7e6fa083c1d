// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginelog_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/cairnstacks/cairn/internal/enginelog"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		env            string
		core, provider hclog.Level
		json           bool
	}{
		"nothing":         {env: ""},
		"empty":           {env: "TF_LOG="},
		"off":             {env: "TF_LOG=off"},
		"path alone":      {env: "TF_LOG_PATH=/x"},
		"all":             {env: "TF_LOG=debug", core: hclog.Debug, provider: hclog.Debug},
		"one":             {env: "TF_LOG_PROVIDER=INFO", provider: hclog.Info},
		"the other":       {env: "TF_LOG_CORE=warn", core: hclog.Warn},
		"parts beat all":  {env: "TF_LOG=trace TF_LOG_CORE=off TF_LOG_PROVIDER=error", provider: hclog.Error},
		"JSON":            {env: "TF_LOG=JSON", core: hclog.Trace, provider: hclog.Trace, json: true},
		"JSON of a level": {env: "TF_LOG=json TF_LOG_PROVIDER=info TF_LOG_CORE=off", provider: hclog.Info, json: true},
		"no level":        {env: "TF_LOG=1", core: hclog.Trace, provider: hclog.Trace},
		"the last counts": {env: "TF_LOG=debug TF_LOG=", core: hclog.NoLevel},
	} {
		t.Run(name, func(t *testing.T) {
			got := enginelog.Read(strings.Fields(c.env))
			if got.Core != c.core || got.Provider != c.provider || got.JSON != c.json {
				t.Errorf("Read(%q) = %v, %v, %t, want %v, %v, %t", c.env, got.Core, got.Provider, got.JSON, c.core, c.provider, c.json)
			}
			if got.Asked() != (c.core != 0 || c.provider != 0) || got.InWorkDir() != got.Asked() {
				t.Errorf("Read(%q): asked %t, in the working directory %t", c.env, got.Asked(), got.InWorkDir())
			}
		})
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	for named, env := range map[bool][]string{
		true:  {"TF_LOG=debug", "TF_LOG_PATH=" + filepath.Join(dir, "none", "x.log")},
		false: {"TF_LOG=debug"},
	} {
		_, err := enginelog.Read(env).Open(filepath.Join(dir, "none"))
		if failure := (*enginelog.FileError)(nil); !errors.As(err, &failure) || failure.Named != named || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Open with %q: error %v, want one about the file", env, err)
		}
	}
	file, err := enginelog.Read([]string{"TF_LOG=debug"}).Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	info, err := os.Stat(filepath.Join(dir, enginelog.FileName))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v, want mode 0600", info, err)
	}
}
