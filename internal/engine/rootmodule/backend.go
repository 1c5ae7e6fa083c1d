// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/process"
)

// backendPaths are the arguments that are paths of files, at any depth, of the backends that leave
// all but the state to the engine: the public documentation of terraform and OpenTofu lists them.
// Those of other backends, as "remote" and "cloud", run plans elsewhere, or are not known.
var backendPaths = map[string][]string{
	"azurerm":            {"client_certificate_path", "client_id_file_path", "client_secret_file_path", "oidc_token_file_path"},
	"consul":             {"ca_file", "cert_file", "key_file"},
	"cos":                {},
	"gcs":                {"credentials"}, // or the contents of such a file
	"http":               {},
	"kubernetes":         {"config_path", "config_paths"},
	initdir.LocalBackend: {}, // whose paths are made absolute by themselves
	"oss":                {"shared_credentials_file"},
	"pg":                 {},
	"s3": {
		"custom_ca_bundle", "shared_config_files", "shared_credentials_file", "shared_credentials_files", "web_identity_token_file",
	},
}

// relativeCertificate matches a parameter that names a file by a relative path in a text with the
// parameters of a connection to PostgreSQL.
var relativeCertificate = regexp.MustCompile(`ssl(rootcert|cert|key)=[^/&\s]`)

// backend returns where the state of the module is, from the record of init, in a form that means
// the same in every directory. Arguments that are null are left out.
//
// Errors: a [*WaitError] for a backend that may mean something else in another directory.
func (w *Work) backend() (initdir.Backend, error) {
	found, err := w.dir().Backend()
	if err != nil {
		return found, waitFor("the record of its backend cannot be read: %s", failure.Reason(err))
	}
	paths, known := backendPaths[found.Type]
	if !known {
		return found, waitFor("a working copy cannot use its backend %q", found.Type)
	}
	if relativeCertificate.MatchString(found.Text("conn_str")) {
		return found, waitFor("the connection of its backend %q names a file by a relative path", found.Type)
	}
	found.Config = withoutNulls(found.Config)
	for name, value := range found.Config {
		found.Config[name] = w.absolutePaths(paths, name, value)
	}
	if found.Type == initdir.LocalBackend {
		places := w.dir().Local(found.Text("path"), found.Text("workspace_dir"))
		found.Config["path"], found.Config["workspace_dir"] = places.File, places.Workspaces
	}
	return found, nil
}

// withoutNulls returns an object without the attributes that are null.
func withoutNulls(config map[string]any) map[string]any {
	given := map[string]any{}
	for name, value := range config {
		switch value := value.(type) {
		case nil:
		case map[string]any:
			given[name] = withoutNulls(value)
		default:
			given[name] = value
		}
	}
	return given
}

// absolutePaths returns the value of an argument of a backend with absolute paths in place of those
// that are relative to the module.
func (w *Work) absolutePaths(paths []string, name string, value any) any {
	switch value := value.(type) {
	case string:
		if !slices.Contains(paths, name) || filepath.IsAbs(value) || strings.HasPrefix(value, "~") {
			return value
		}
		path := filepath.Join(w.opts.Dir, value)
		if _, err := os.Stat(path); err != nil { // contents in place of a path, or the engine reports it missing
			return value
		}
		return path
	case []any:
		for i, element := range value {
			value[i] = w.absolutePaths(paths, name, element)
		}
	case map[string]any:
		for inner, element := range value {
			value[inner] = w.absolutePaths(paths, inner, element)
		}
	}
	return value
}

// backendFile is read by init, and not part of any module.
const backendFile = "zz_stack_backend.tf.json"

// initCopy tells the engine where the state is. Nothing is installed.
func (w *Work) initCopy(ctx context.Context) error {
	if err := process.Stopped(ctx); err != nil {
		return err
	}
	backend, err := w.backend()
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"terraform": map[string]any{"backend": map[string]any{backend.Type: backend.Config}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.latch.copy.Root, backendFile), text, 0o600); err != nil {
		return err
	}
	args, env := w.inCopy([]string{"init", "-input=false", "-reconfigure", "-get=false", "-lockfile=readonly", "-no-color"})
	var output bytes.Buffer
	err = w.engine.Processes.Run(process.Command{
		Program: w.engine.Path, Args: args, Dir: w.opts.Dir, Env: env, Stdout: &output, Stderr: &output,
	})
	if _, failed := errors.AsType[*process.ExitError](err); failed {
		writeLine(w.out.Stderr, bytes.TrimRight(output.Bytes(), "\n"))
		w.printed = append(w.printed, failure.New("Working copy not initialized",
			"The command init has failed in a working copy of the root module, and says why in its output."))
	}
	return err
}

// backupFile is where the engine keeps the state before the last change; "" with a backend that
// keeps none.
func (w *Work) backupFile() (string, error) {
	state, err := w.localState()
	if state == "" {
		return "", err
	}
	return state + ".backup", err
}

// localState returns the file with the state of the workspace that is worked on; "" with a backend
// that keeps it elsewhere.
func (w *Work) localState() (string, error) {
	backend, err := w.backend()
	if err != nil || backend.Type != initdir.LocalBackend {
		return "", err
	}
	workspace, err := w.dir().Workspace()
	if err != nil {
		return "", err
	}
	return w.dir().Local(backend.Text("path"), backend.Text("workspace_dir")).Of(workspace), nil
}
