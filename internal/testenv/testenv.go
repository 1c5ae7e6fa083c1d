// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package testenv gives tests their needs from outside: an engine, providers, a CLI configuration
// that keeps Terraform off the network, git, symbolic links, the rights of root, and for benchmarks
// the processor time. It also limits how long they wait for processes and goroutines.
//
// Where something is missing that a developer may well do without, a test is skipped and says why.
// Where the variable CI is set, it fails instead, so that nothing is skipped unseen there.
package testenv

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// Terraform returns the path of terraform.
//
// On CI a test that needs it is skipped, not failed, where tofu is there in its place.
func Terraform(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("terraform")
	if err == nil {
		return path
	}
	if engine := cache(t).Engine(); engine != "" {
		t.Skipf("needs terraform, and there is only %s", engine)
	}
	Missing(t, "needs terraform on PATH")
	return ""
}

// WithoutTofuVariable is set where tofu cannot be had, and somebody has said so: the gate, at its
// end. Then tests that need tofu are skipped also on CI.
const WithoutTofuVariable = "CAIRN_TEST_WITHOUT_TOFU"

// WithoutObjectsVariable is the same for the servers of object storage.
const WithoutObjectsVariable = "CAIRN_TEST_WITHOUT_OBJECTS"

// WithoutTemporalVariable is the same for cairn-server.
const WithoutTemporalVariable = "CAIRN_TEST_WITHOUT_TEMPORAL"

// Tofu returns the path of tofu, from PATH or as built earlier.
func Tofu(t testing.TB) string {
	t.Helper()
	tofu := cache(t).TofuIfThere()
	switch {
	case tofu != "":
	case os.Getenv(WithoutTofuVariable) != "":
		t.Skip("needs tofu, which cannot be had: see " + WithoutTofuVariable)
	default:
		Missing(t, "needs tofu: put it on PATH or run: go run ./internal/buildtool tofu")
	}
	return tofu
}

// Engine returns the path of terraform or, where that is missing, of tofu.
func Engine(t testing.TB) string {
	t.Helper()
	engine := cache(t).Engine()
	if engine == "" {
		Missing(t, "needs terraform or tofu on PATH, or built by: go run ./internal/buildtool engine")
	}
	return engine
}

// EngineVariable names the engine that tests of whole stacks and scripts use, where they are not
// about one: native, auto, terraform or tofu. Without it they use the default engine of cairn.
const EngineVariable = "CAIRN_TEST_ENGINE"

// OracleVariable names the part that terraform has in tests of cairn's own evaluation: "terraform"
// compares its answers with those that are recorded, "record" records them, and "new" does so where
// nothing is recorded. Without it, terraform is not asked, and tests that take minutes do not run.
const OracleVariable = "CAIRN_DIFFERENTIAL"

// NativeEngine and AutoEngine are the engines without a binary, and with one where it is needed.
const (
	NativeEngine = "native"
	AutoEngine   = "auto"
)

// EngineSetting returns [NativeEngine], [AutoEngine], or the path of terraform or tofu.
func EngineSetting(t testing.TB) string {
	t.Helper()
	switch setting := os.Getenv(EngineVariable); setting {
	case NativeEngine, AutoEngine:
		return setting
	case "":
		return Engine(t)
	case "terraform":
		return Terraform(t)
	case "tofu":
		return Tofu(t)
	default:
		badSetting(t, setting)
		return ""
	}
}

// EngineOnPath ends the test if [EngineVariable] names a binary that is not on PATH, where the
// command cairn looks for it, also if it is installed elsewhere.
func EngineOnPath(t testing.TB) {
	t.Helper()
	switch setting := os.Getenv(EngineVariable); setting {
	case "", NativeEngine, AutoEngine:
	case "terraform", "tofu":
		if _, err := exec.LookPath(setting); err != nil {
			Missing(t, "needs "+setting+" on PATH, which "+EngineVariable+" names; make test-tofu sees to that for tofu")
		}
	default:
		badSetting(t, setting)
	}
}

func badSetting(t testing.TB, setting string) {
	t.Helper()
	t.Fatalf("%s is %q; want native, auto, terraform or tofu", EngineVariable, setting)
}

// Engines returns the paths of all engines that are there, at least one.
func Engines(t testing.TB) []string {
	t.Helper()
	engines := cache(t).Engines()
	if len(engines) == 0 {
		Missing(t, "needs terraform or tofu on PATH, or built by: go run ./internal/buildtool engine")
	}
	return engines
}

// Git returns the path of git.
func Git(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		Missing(t, "needs git on PATH")
	}
	return path
}

// Symlink makes a symbolic link.
func Symlink(t testing.TB, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		Missing(t, "needs a file system with symbolic links: "+err.Error())
	}
}

// Root ends the test unless root runs it. It fits effects that only the system can show, such as
// that a file was given away; decisions of this program are to be tested as anybody.
//
// On CI, too, it is skipped, for nobody should have to run all as root: the gate says at its end
// that it was not.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs to be run by root")
	}
}

// FakeProviderMirror returns a filesystem mirror with the provider of package testprovider. It is
// built when its sources have changed, once for all processes.
func FakeProviderMirror(t testing.TB) string {
	t.Helper()
	dir, err := fakeMirror()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TimeProviderMirror is [FakeProviderMirror] with the real provider hashicorp/time besides the fake
// one.
func TimeProviderMirror(t testing.TB) string {
	t.Helper()
	FakeProviderMirror(t) // whose failure is never a reason to skip
	dir, err := timeMirror()
	if err != nil {
		Missing(t, "needs the provider hashicorp/time: "+err.Error())
	}
	return dir
}

// RealProviderMirror is [FakeProviderMirror] with real providers besides the fake one.
func RealProviderMirror(t testing.TB, providers ...toolcache.Provider) string {
	t.Helper()
	FakeProviderMirror(t) // whose failure is never a reason to skip
	dir, err := mirror(providers...)
	if err != nil {
		Missing(t, "needs providers from Go modules: "+err.Error())
	}
	return dir
}

var (
	fakeMirror = sync.OnceValues(func() (string, error) { return mirror(toolcache.Fake) })
	timeMirror = sync.OnceValues(func() (string, error) { return mirror(toolcache.Fake, toolcache.Time) })
)

func mirror(providers ...toolcache.Provider) (string, error) {
	c, err := toolcache.Open(os.Stderr)
	if err != nil {
		return "", err
	}
	return c.Mirror(context.Background(), providers...)
}

// CLIConfig sets up the environment of the test so that engines install providers from the given
// mirror alone, or none with an empty path, and call nobody. The test must not be parallel;
// [CLIConfigFile] suits those.
func CLIConfig(t testing.TB, mirrorDir string) {
	t.Helper()
	t.Setenv("TF_CLI_CONFIG_FILE", CLIConfigFile(t, mirrorDir))
	t.Setenv("CHECKPOINT_DISABLE", "1")
}

// CLIConfigFile returns the path of a CLI configuration, removed after the test, in which providers
// come from the given mirror alone. For tests that pass TF_CLI_CONFIG_FILE and CHECKPOINT_DISABLE=1
// to processes themselves.
func CLIConfigFile(t testing.TB, mirrorDir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cli.tfrc")
	if err := os.WriteFile(path, toolcache.CLIConfig(mirrorDir), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func cache(t testing.TB) *toolcache.Cache {
	t.Helper()
	c, err := toolcache.Open(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Missing ends the test because something is not there: it is skipped, and fails on CI.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	RecordSkipped(t.Name(), reason)
	t.Skip(reason)
}

// Chromium returns the path of a Chromium browser.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "needs chromium on PATH")
	return ""
}
