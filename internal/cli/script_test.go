// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

func testContext() context.Context { return context.Background() }

// TestScripts runs the scripts in testdata/script, which say what users see.
//
// Besides those of package testscript, scripts know the conditions [engine], where there is
// terraform or tofu; [tofu], where commands use tofu unless another one is named; [terraform], for
// behaviour of terraform alone; [native], where commands evaluate modules themselves unless
// another engine is named; [git]; [temporal], where there is a cairn-server; [unprivileged], where
// the modes of files can be obeyed; and [realproviders], where make differential runs them. The
// variable EXAMPLES names the directory of the examples. BINARY is the name of the terraform or
// tofu that is on PATH, for scripts that are about one: env CAIRN_ENGINE=$BINARY; the others use
// the engine of CAIRN_TEST_ENGINE, where that is set. They know these commands:
//
//   - fakeprovider: lets the engine install the provider of package testprovider, and nothing else;
//     FAKE_PACKAGE names the directory of its package, which is for PLATFORM
//   - attachprovider: starts that provider for TF_REATTACH_PROVIDERS, as a debugger does
//   - timeprovider: lets it install hashicorp/time as well, a real one
//   - realproviders: lets it install further real ones, which take minutes to build
//   - sources: serves repositories, archives and registries; see scriptSources
//   - registry: serves providers; see registryCommand
//   - backends: serves states of root modules; see backendsCommand
//   - otlp: receives traces and metrics; see otlpCommand
//   - postgres: runs a PostgreSQL server; see postgresCommand
//   - temporal: runs cairn-server; see temporalCommand
//   - releases: serves releases of terraform and tofu; see releasesCommand
//   - forge: serves pull and merge requests, and plays their jobs; see forgeCommand
//   - waitfor FILE [TEXT]: waits until a file exists, or a text is in it; commands that the script
//     runs can call the program await for that
//   - truncate FILE BYTES: cuts a file
//   - refused CODE PLACE ARGUMENT...: cairn finds a problem and runs nothing; see refusedCommand
//   - warned CODE PLACE ARGUMENT...: cairn warns
//   - unprivileged: has cairn obey the modes of files from then on, as root does not
//   - fetch FILE PATH [TEXT]: has the answer of the page, whose address with a token is in a file,
//     as the output, if a text is given once the answer has it; "!" for an answer that refuses
//   - alter FILE OFFSET: changes one byte of a file; a negative offset counts from its end
func TestScripts(t *testing.T) {
	testenv.EngineOnPath(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_GOLDEN") == "1",
		Setup:               setUpScript,
		Condition:           scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fakeprovider": func(ts *testscript.TestScript, _ bool, _ []string) {
				mirror := testenv.FakeProviderMirror(t)
				ts.Setenv("TF_CLI_CONFIG_FILE", testenv.CLIConfigFile(t, mirror))
				platform := release.CurrentPlatform.String()
				ts.Setenv("FAKE_PACKAGE", filepath.Join(mirror, "registry.terraform.io", "cairnstacks", "fake", "1.0.0", platform))
				ts.Setenv("PLATFORM", platform)
			},
			"attachprovider": attachProvider,
			"timeprovider": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("TF_CLI_CONFIG_FILE", testenv.CLIConfigFile(t, testenv.TimeProviderMirror(t)))
			},
			"realproviders": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("TF_CLI_CONFIG_FILE", testenv.CLIConfigFile(t, testenv.RealProviderMirror(t, toolcache.Real...)))
			},
			"sources":  sourcesCommand(t),
			"backends": backendsCommand(t),
			"postgres": postgresCommand(t),
			"temporal": temporalCommand(t),
			"otlp":     otlpCommand(t),
			"objects":  objectsCommand(t),
			"ci":       ciCommand(t),
			"forge":    forgeCommand(t),
			"releases": releasesCommand(t),
			"registry": registryCommand(t),
			"waitfor":  waitForFile,
			"fetch":    fetchPage,
			"truncate": truncateFile,
			"alter":    alterFile,
			"refused":  refusedCommand,
			"warned":   warnedCommand,

			"unprivileged": runUnprivileged,
		},
	})
}

func setUpScript(env *testscript.Env) error {
	env.Values[forgeKey{}] = new(*forgeOf)
	config := filepath.Join(env.WorkDir, ".cli.tfrc")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		return err
	}
	env.Setenv("TF_CLI_CONFIG_FILE", config)
	env.Setenv("CHECKPOINT_DISABLE", "1")
	env.Setenv("COLUMNS", "1000") // so that patterns match whole sentences
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("GORACE", os.Getenv("GORACE")) // cairn is this test program, so that it has the race detector's options, too
	program, err := exec.LookPath("cairn")
	if err != nil {
		return err
	}
	env.Setenv("CAIRN", program)                              // for scripts that change PATH
	binaries := []string{toolchain.Tofu, toolchain.Terraform} // as cairn looks for them
	if i := slices.IndexFunc(binaries, isOnPath); i >= 0 {
		env.Setenv("BINARY", binaries[i])
	}
	if setting := os.Getenv(testenv.EngineVariable); setting != "" {
		env.Setenv("CAIRN_ENGINE", setting)
		if slices.Contains(binaries, setting) {
			env.Setenv("BINARY", setting)
		}
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	env.Setenv("EXAMPLES", examples)
	return err
}

// scriptCondition implements the conditions. Where the variable CI is set, no script is skipped for
// want of an engine or git.
func scriptCondition(cond string) (bool, error) {
	tofu, terraform := isOnPath("tofu"), isOnPath("terraform")
	switch cond {
	case "realproviders":
		return os.Getenv(testenv.OracleVariable) != "", nil
	case "race":
		return testenv.RaceDetector, nil
	case "unprivileged":
		return os.Geteuid() > 0 || os.Geteuid() == 0 && isOnPath("setpriv"), nil
	case "engine":
		if !tofu && !terraform && os.Getenv("CI") != "" {
			return false, errors.New("neither terraform nor tofu is on PATH, and CI must have one")
		}
		if !tofu && !terraform {
			testenv.RecordSkipped("TestScripts", "scripts, or parts of them, need terraform or tofu on PATH")
		}
		return tofu || terraform, nil
	case "git":
		if !isOnPath("git") && os.Getenv("CI") != "" {
			return false, errors.New("git is not on PATH, and CI must have it")
		}
		return isOnPath("git"), nil
	case "terraform":
		return terraform, nil
	case "temporal":
		return hasTemporal()
	case "native":
		return slices.Contains([]string{"", testenv.NativeEngine, testenv.AutoEngine}, os.Getenv(testenv.EngineVariable)), nil
	case "tofu": // it comes first where both are there
		return tofu, nil
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
}

func isOnPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// waitForFile waits until a file exists, or until a text is in it.
func waitForFile(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if !errors.Is(err, fs.ErrNotExist) {
			ts.Check(err)
			if len(args) == 1 || bytes.Contains(content, []byte(args[1])) {
				return
			}
		}
		select {
		case <-deadline:
			ts.Fatalf("%s did not appear within a minute", strings.Join(args, " with "))
		case <-tick.C:
		}
	}
}

func truncateFile(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(number(ts, args[1]))))
}

func alterFile(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	at := number(ts, args[1])
	if at < 0 {
		at += len(content)
	}
	content[at] ^= 0x20
	ts.Check(os.WriteFile(path, content, 0o600))
}

// attachProvider serves the fake provider until the script ends.
func attachProvider(ts *testscript.TestScript, _ bool, _ []string) {
	ctx, cancel := context.WithCancel(testContext())
	configs, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		failed <- tf6server.Serve(testprovider.Address, testprovider.New, tf6server.WithDebug(ctx, configs, closed),
			tf6server.WithoutLogStderrOverride())
	}()
	select {
	case config := <-configs:
		ts.Setenv("TF_REATTACH_PROVIDERS",
			fmt.Sprintf(`{"cairnstacks/fake":{"Protocol":"grpc","ProtocolVersion":6,"Pid":%d,"Test":true,"Addr":{"Network":%q,"String":%q}}}`,
				config.Pid, config.Addr.Network(), config.Addr.String()))
		ts.Defer(func() {
			cancel()
			<-closed
		})
	case err := <-failed:
		cancel()
		ts.Fatalf("serving the provider: %v", err)
	}
}

func number(ts *testscript.TestScript, text string) int {
	var n int
	if _, err := fmt.Sscan(strings.TrimSpace(text), &n); err != nil {
		ts.Fatalf("not a number: %s", text)
	}
	return n
}

// runUnprivileged puts another cairn first on the path: root without the capabilities by which it
// reads and writes whatever the mode of a file is.
func runUnprivileged(ts *testscript.TestScript, _ bool, _ []string) {
	if os.Geteuid() != 0 {
		return
	}
	dir := ts.MkAbs(".unprivileged")
	ts.Check(os.Mkdir(dir, 0o755)) //nolint:gosec // as directories on the path are
	program := "#!/bin/sh\nexec setpriv --bounding-set=-dac_override,-dac_read_search \"$CAIRN\" \"$@\"\n"
	ts.Check(os.WriteFile(filepath.Join(dir, "cairn"), []byte(program), 0o755)) //nolint:gosec // it is to be run
	ts.Setenv("PATH", dir+string(filepath.ListSeparator)+ts.Getenv("PATH"))
}
