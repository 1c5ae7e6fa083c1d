// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// programIn returns the provider's program in a mirror.
func programIn(t *testing.T, mirror, source string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(mirror, "registry.terraform.io", filepath.FromSlash(source), "*",
		runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("programs of %s in %s: %v (%v), want one", source, mirror, found, err)
	}
	return found[0]
}

func newPool(t *testing.T, opts instances.Options) *instances.Pool {
	t.Helper()
	opts.FunctionsOnly = true
	pool, err := instances.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

// oddPool returns a pool for functions, and the program of the tests as a provider with a
// behaviour.
func oddPool(t *testing.T, behaviour string, opts instances.Options) (*instances.Pool, instances.Package) {
	t.Helper()
	opts.Environ = odd(behaviour)
	return newPool(t, opts), instances.Package{Program: program(t)}
}

// Protocol 6, with the provider of package testprovider.
func TestFakeProvider(t *testing.T) {
	pkg := instances.Package{Program: programIn(t, testenv.FakeProviderMirror(t), "cairnstacks/fake")}
	pool := newPool(t, instances.Options{})
	functions, err := pool.Functions(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	echo := functions["echo"]
	if len(functions) != 1 || echo == nil || len(echo.Parameters) != 1 ||
		echo.Variadic != nil || echo.Return != cty.DynamicPseudoType || echo.Summary == "" {
		t.Fatalf("functions: %#v, want echo with one parameter and a result of any type", functions)
	}
	if p := echo.Parameter(0); p.Name != "value" || p.Type != cty.DynamicPseudoType || !p.AllowNull || !p.AllowUnknown {
		t.Errorf("parameter of echo: %#v, want one that takes everything", p)
	}
	for _, value := range []cty.Value{
		cty.StringVal("ä\x00"),
		cty.MustParseNumberVal("0.1"),
		cty.NullVal(cty.DynamicPseudoType),
		cty.NullVal(cty.List(cty.String)),
		cty.UnknownVal(cty.String),
		cty.ObjectVal(map[string]cty.Value{"a": cty.UnknownVal(cty.Bool), "b": cty.SetVal([]cty.Value{cty.Zero})}),
		cty.EmptyTupleVal,
	} {
		got, err := pool.CallFunction(t.Context(), pkg, "", "echo", []cty.Value{value})
		if err != nil || !got.RawEquals(value) {
			t.Errorf("echo(%#v) = %#v, %v", value, got, err)
		}
	}
	if _, err := pool.CallFunction(t.Context(), pkg, "", "echo", nil); err == nil {
		t.Error("echo() without an argument: no error")
	}
	if _, err := pool.CallFunction(t.Context(), pkg, "", "shout", []cty.Value{cty.True}); err == nil {
		t.Error("shout(true), which there is not: no error")
	}
}

// Protocol 5, with a provider as it is released.
func TestTimeProvider(t *testing.T) {
	pkg := instances.Package{Program: programIn(t, testenv.TimeProviderMirror(t), "hashicorp/time")}
	pool := newPool(t, instances.Options{})
	result, err := pool.CallFunction(t.Context(), pkg, "", "rfc3339_parse", []cty.Value{cty.StringVal("2023-07-25T23:43:16Z")})
	if err != nil {
		t.Fatal(err)
	}
	if year := result.GetAttr("year"); !year.RawEquals(cty.NumberIntVal(2023)) {
		t.Errorf("year = %#v, want 2023", year)
	}
	var failure *engine.FunctionError
	_, err = pool.CallFunction(t.Context(), pkg, "", "rfc3339_parse", []cty.Value{cty.StringVal("noon")})
	if !errors.As(err, &failure) || failure.Argument != 0 || failure.Problem != "" || !strings.Contains(failure.Said, "noon") {
		t.Errorf("parsing \"noon\": %#v, want an error about the first argument", err)
	}
}

func TestOddAnswers(t *testing.T) {
	pool, pkg := oddPool(t, "odd", instances.Options{CallTimeout: time.Minute})
	for name, want := range map[string]engine.FunctionError{
		"fail":    {Said: "not this", Argument: 1},
		"error":   {Problem: "failed", Said: "out of order", Argument: -1},
		"nothing": {Problem: "returned something that is not a number", Said: "there is no value", Argument: -1},
		"wrong":   {Problem: "returned something that is not a number", Argument: -1},
		"exit":    {Problem: "has crashed", Argument: -1},
		"panic":   {Problem: "has crashed", Said: "Its last words were: panic: at the disco", Argument: -1},
	} {
		_, err := pool.CallFunction(t.Context(), pkg, "", name, []cty.Value{cty.StringVal("x"), cty.StringVal("y")})
		var got *engine.FunctionError
		if !errors.As(err, &got) {
			t.Errorf("%s: error %v, want one of the provider", name, err)
			continue
		}
		if got.Argument != want.Argument || !strings.Contains(got.Problem, want.Problem) ||
			(want.Problem == "") != (got.Problem == "") || !strings.Contains(got.Said, want.Said) {
			t.Errorf("%s: error %#v, want %#v", name, *got, want)
		}
	}
	functions, err := pool.Functions(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	if pid := functions["pid"]; pid == nil || pid.Deprecated != "Ask the system." ||
		pid.Variadic == nil || pid.Parameter(3).Type != cty.String {
		t.Errorf("function pid: %#v, want a deprecated one with any number of strings", pid)
	}
}

func pidOf(t *testing.T, pool *instances.Pool, pkg instances.Package) string {
	t.Helper()
	pid, err := pool.CallFunction(t.Context(), pkg, "", "pid", nil)
	if err != nil {
		t.Fatal(err)
	}
	return pid.AsBigFloat().String()
}

// One process serves all, at the same time too, until it crashes: then there is another (rule S4).
func TestFunctionsOneProcess(t *testing.T) {
	pool, pkg := oddPool(t, "odd", instances.Options{})
	pids := make([]string, 8)
	var all sync.WaitGroup
	for i := range pids {
		all.Go(func() {
			if pid, err := pool.CallFunction(t.Context(), pkg, "", "pid", nil); err == nil {
				pids[i] = pid.AsBigFloat().String()
			}
		})
	}
	all.Wait()
	if pids = slices.Compact(pids); len(pids) != 1 || pids[0] == "" {
		t.Fatalf("calls went to processes %q, want one", pids)
	}
	if _, err := pool.CallFunction(t.Context(), pkg, "", "panic", nil); err == nil {
		t.Fatal("no error from a provider that panics")
	}
	if again := pidOf(t, pool, pkg); again == pids[0] {
		t.Error("the process that has crashed still answers")
	}
}

func TestHang(t *testing.T) {
	pool, pkg := oddPool(t, "odd", instances.Options{CallTimeout: 3 * time.Second})
	first := pidOf(t, pool, pkg)
	_, err := pool.CallFunction(t.Context(), pkg, "", "hang", nil)
	if err == nil || !strings.Contains(err.Error(), "did not answer within 3s and was ended") {
		t.Errorf("error %v, want that the provider did not answer", err)
	}
	if again := pidOf(t, pool, pkg); again == first {
		t.Error("the process that hung was not replaced")
	}
}

// An interrupt ends waiting at once, and the process is none the worse.
func TestInterruptedCall(t *testing.T) {
	pool, pkg := oddPool(t, "odd", instances.Options{})
	first := pidOf(t, pool, pkg)
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(interrupted) })
	if _, err := pool.CallFunction(ctx, pkg, "", "hang", nil); !errors.Is(err, interrupted) {
		t.Errorf("error %v, want the cause of the interrupt", err)
	}
	if again := pidOf(t, pool, pkg); again != first {
		t.Error("the process was replaced for nothing")
	}
}

func TestStartFailures(t *testing.T) {
	for behaviour, want := range map[string]string{
		"panic at start": "it has crashed. Its last words were: panic: no wish to start",
		"no plugin":      "could not be started",
		"failing list":   "failed to list its functions. Storm. Come back tomorrow.",
	} {
		t.Run(behaviour, func(t *testing.T) {
			pool, pkg := oddPool(t, behaviour, instances.Options{})
			_, err := pool.Functions(t.Context(), pkg)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		pool, pkg := oddPool(t, "silent at start", instances.Options{StartTimeout: 200 * time.Millisecond})
		if _, err := pool.Functions(t.Context(), pkg); err == nil || !strings.Contains(err.Error(), "it did not answer in time") {
			t.Errorf("error %v, want that the program did not answer", err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		pool := newPool(t, instances.Options{})
		if _, err := pool.Functions(t.Context(), instances.Package{Program: filepath.Join(t.TempDir(), "none")}); err == nil ||
			!strings.Contains(err.Error(), "could not be started") {
			t.Errorf("error %v, want that the program could not be started", err)
		}
	})
	for content, mode := range map[string]os.FileMode{"\x7fELF\x02\x01\x01": 0o700, "": 0o600} {
		program := filepath.Join(t.TempDir(), "terraform-provider-x")
		if err := os.WriteFile(program, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := newPool(t, instances.Options{}).Functions(t.Context(), instances.Package{Program: program}); err == nil ||
			!strings.Contains(err.Error(), "Its package is damaged, or is one for another platform") {
			t.Errorf("a program of mode %s: error %v", mode, err)
		}
	}
	t.Run("interrupted", func(t *testing.T) {
		pool, pkg := oddPool(t, "silent at start", instances.Options{})
		interrupted := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(interrupted) })
		if _, err := pool.Functions(ctx, pkg); !errors.Is(err, interrupted) {
			t.Errorf("error %v, want the cause of the interrupt", err)
		}
	})
}

// Providers that want it are asked for their schema before anything else.
func TestSchemaFirst(t *testing.T) {
	pool, pkg := oddPool(t, "schema first", instances.Options{})
	pidOf(t, pool, pkg)
}

func TestWithoutTLS(t *testing.T) {
	t.Setenv("TF_DISABLE_PLUGIN_TLS", "1")
	pool, pkg := oddPool(t, "odd", instances.Options{})
	pidOf(t, pool, pkg)
}

func TestFunctionsClosed(t *testing.T) {
	pool, pkg := oddPool(t, "odd", instances.Options{})
	pid := pidOf(t, pool, pkg)
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/" + pid); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("process %s is still there after Close: %v", pid, err)
		}
	}
	if _, err := pool.CallFunction(t.Context(), pkg, "", "pid", nil); err == nil {
		t.Error("a closed pool has started a process")
	}
}
