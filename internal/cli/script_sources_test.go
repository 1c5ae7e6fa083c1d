// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
)

// scriptSources implements the command sources of scripts:
//
//   - sources start: starts a server; the registry is registry.example.test, repositories are below
//     https://git.example.test/, and $SOURCES is the server's address
//   - sources repository NAME DIR [TAG]: adds a commit with the files of a directory, tagged
//   - sources archive NAME DIR: publishes an archive with the files of a directory
//   - sources publish PATH VERSION LOCATION: makes a version known to the registry
//   - sources token TOKEN: makes the registry demand a token
//   - sources stop: stops the server
type scriptSources struct {
	t      *testing.T
	server *sourcetest.Server
}

func sourcesCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var servers sync.Map // by script
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) == 1 && args[0] == "start" {
			s := &scriptSources{t: t, server: sourcetest.Start(t)}
			servers.Store(ts, s)
			s.start(ts)
			return
		}
		found, ok := servers.Load(ts)
		s, isSources := found.(*scriptSources)
		if !ok || !isSources {
			ts.Fatalf("sources start comes first")
		}
		s.run(ts, args)
	}
}

func (s *scriptSources) start(ts *testscript.TestScript) {
	ts.Setenv("SOURCES", s.server.Host)
	ts.Setenv("SSL_CERT_FILE", s.server.CAFile)
	ts.Setenv("GIT_SSL_CAINFO", s.server.CAFile)
	ts.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	ts.Setenv("GIT_CONFIG_COUNT", "1")
	ts.Setenv("GIT_CONFIG_KEY_0", "url.https://"+s.server.Host+"/git/.insteadOf")
	ts.Setenv("GIT_CONFIG_VALUE_0", "https://git.example.test/")
	config := `host "registry.example.test" {
  services = {
    "modules.v1"    = "https://` + s.server.Host + `/modules/"
    "components.v1" = "https://` + s.server.Host + `/components/"
  }
}
`
	ts.Check(os.WriteFile(ts.Getenv("TF_CLI_CONFIG_FILE"), []byte(config), 0o600))
}

func (s *scriptSources) run(ts *testscript.TestScript, args []string) {
	switch {
	case args[0] == "repository" && len(args) >= 3:
		tag := ""
		if len(args) > 3 {
			tag = args[3]
		}
		s.server.Repository(s.t, args[1], filesBelow(ts, args[2]), tag)
	case args[0] == "archive" && len(args) == 3:
		var entries []sourcetest.Entry
		for name, content := range filesBelow(ts, args[2]) {
			entries = append(entries, sourcetest.Entry{Name: name, Content: content})
		}
		s.server.Archive(args[1], sourcetest.Pack(s.t, entries...))
	case args[0] == "publish" && len(args) == 4:
		s.server.Publish(args[1], args[2], args[3])
	case args[0] == "token" && len(args) == 2:
		s.server.RequireToken(args[1])
	case args[0] == "stop":
		s.server.Stop()
	default:
		ts.Fatalf("unknown use of sources: %q", args)
	}
}

// filesBelow returns the contents of all files below a directory, by slash-separated relative name.
func filesBelow(ts *testscript.TestScript, dir string) map[string]string {
	files := map[string]string{}
	root := os.DirFS(ts.MkAbs(dir))
	ts.Check(fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, path)
		files[filepath.ToSlash(path)] = string(content)
		return err
	}))
	return files
}
