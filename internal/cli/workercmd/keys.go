// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workercmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
)

// keyEnding ends the names of files with keys, and runKeyFile has that of those who start work.
const (
	keyEnding  = ".key"
	runKeyFile = "run" + keyEnding
)

func keysCommand() *session.Command {
	var out string
	return &session.Command{
		Name:    "keys",
		Summary: "Makes the keys of pools and of those who start work on them.",
		Long: `
Who starts runs on workers has one key, and each pool of workers another one. What travels is sealed with them, so that
neither the queue nor the storage of the records can read it, and workers take only what is signed. The keys are written
into files that nobody else can read, run.key and POOL.key; keys that are there are kept. Their public halves, for the
block "workers" of cairn.workspace.hcl, are printed.`,
		Example: "cairn worker keys -out=keys default prod",
		Args:    "POOL...", MaxArgs: 1 << 10,
		Flags: func(f *session.Flags) {
			f.StringVar(&out, "out", ".", "write the files into `DIR`")
		},
		Run: func(_ context.Context, s *session.Session, pools []string) (int, error) {
			if len(pools) == 0 {
				pools = []string{config.DefaultPool}
			}
			for _, pool := range pools {
				if file := pool + keyEnding; filepath.Base(file) != file || !filepath.IsLocal(file) || file == runKeyFile {
					return 0, failure.Error("Invalid name", "%q cannot be the name of a pool, as its key would be in the file %s.", pool, file)
				}
			}
			if err := os.MkdirAll(out, 0o700); err != nil {
				return 0, failure.Error("Key not written", "The directory %s cannot be made: %s.", out, failure.Reason(err))
			}
			run, err := keyIn(filepath.Join(out, runKeyFile), envelope.NewRunKey, envelope.ParseRunKey, envelope.RunKey.Text)
			if err != nil {
				return 0, err
			}
			s.Print("trusted = %q\n", run.Public().String())
			for _, pool := range pools {
				key, err := keyIn(filepath.Join(out, pool+keyEnding), envelope.NewPoolKey, envelope.ParsePoolKey, envelope.PoolKey.Text)
				if err != nil {
					return 0, err
				}
				s.Print("pool %q {\n  recipient = %q\n}\n", pool, key.Recipient())
			}
			return cmdline.ExitOK, nil
		},
	}
}

// keyIn reads the key in a file, or makes one.
func keyIn[K any](name string, generate func() (K, error), parse func([]byte) (K, error), text func(K) string) (K, error) {
	content, err := os.ReadFile(name)
	if err == nil {
		var kept K
		if kept, err = parse(content); err == nil {
			return kept, nil
		}
	}
	var none K
	if !errors.Is(err, fs.ErrNotExist) {
		return none, failure.Error("Key not usable", "The file %s is kept, and cannot be used: %s.", name, failure.Reason(err))
	}
	key, err := generate()
	if err != nil {
		return none, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return none, failure.Error("Key not written", "The key %s cannot be written: %s.", name, failure.Reason(err))
	}
	_, err = file.WriteString(text(key) + "\n")
	return key, errors.Join(err, file.Close())
}
