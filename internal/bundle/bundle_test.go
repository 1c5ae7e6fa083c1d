// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// world is a server with a stack that uses it.
type world struct {
	*testing.T
	server  *sourcetest.Server
	dir     string
	environ []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := sourcetest.Start(t)
	return &world{T: t, server: server, dir: t.TempDir(), environ: server.Environ()}
}

func (w *world) options() Options {
	return Options{
		StackDir: w.dir, Dir: filepath.Join(w.dir, ".cairn", "sources"), Environ: w.environ,
		Client: w.server.Client,
	}
}

// stack writes the component file; HOST stands for the server's address.
func (w *world) stack(src string) { w.write("main.tfcomponent.hcl", src) }

func (w *world) write(name, content string) {
	w.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "HOST", w.server.Host)), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		w.Fatal(err)
	}
	return strings.ReplaceAll(string(content), w.server.Host, "HOST")
}

// load loads the stack and the modules of its components.
func (w *world) load(resolver stackconfig.Resolver) (*stackconfig.Config, hcl.Diagnostics) {
	config, diags := stackconfig.LoadWith(w.dir, stackconfig.LoadOptions{Resolver: resolver})
	if config == nil {
		return nil, diags
	}
	loader := module.NewLoader(module.Options{Base: w.dir, Resolver: resolver})
	config.Walk(func(stack *stackconfig.Stack) {
		for _, component := range stack.Components {
			if component.Source.Dir != "" {
				_, moreDiags := loader.Load(component.Source.Dir)
				diags = diags.Extend(moreDiags)
			}
		}
	})
	return config, diags
}

// fetch does the work of init.
func (w *world) fetch(ctx context.Context, change func(*FetcherOptions)) (*stackconfig.Config, hcl.Diagnostics, *Fetcher) {
	w.Helper()
	opts := FetcherOptions{Options: w.options()}
	if change != nil {
		change(&opts)
	}
	fetcher, err := NewFetcher(opts)
	if err != nil {
		w.Fatal(err)
	}
	fetcher.Prefetch(ctx)
	for {
		config, diags := w.load(fetcher.Resolver(ctx))
		if diags.HasErrors() {
			if err := fetcher.Keep(addressesOf(diags)); err != nil {
				w.Fatal(err)
			}
			return config, diags, fetcher
		}
		if fetcher.Again() {
			continue
		}
		if err := fetcher.Save(); err != nil {
			w.Fatal(err)
		}
		return config, diags, fetcher
	}
}

func addressesOf(diags hcl.Diagnostics) []string {
	var addresses []string
	for _, diag := range diags {
		if diag.Subject != nil {
			addresses = append(addresses, diag.Subject.Filename)
		}
	}
	return addresses
}

func upgrade(opts *FetcherOptions) { opts.Upgrade = true }

// mustFetch fetches packages that are there.
func (w *world) mustFetch(change func(*FetcherOptions)) *stackconfig.Config {
	w.Helper()
	config, diags, _ := w.fetch(context.Background(), change)
	if len(diags) > 0 {
		w.Fatal(diags)
	}
	return config
}

// offline loads the fetched packages, and fails if the server is asked for something.
func (w *world) offline() (*stackconfig.Config, hcl.Diagnostics) {
	w.Helper()
	w.server.Requests()
	config, diags := w.load(Open(w.options()))
	if asked := w.server.Requests(); len(asked) > 0 {
		w.Errorf("loading what was prepared asked for %q", asked)
	}
	return config, diags
}

func (w *world) mustOffline() *stackconfig.Config {
	w.Helper()
	config, diags := w.offline()
	if len(diags) > 0 {
		w.Fatal(diags)
	}
	return config
}

// wantError checks that there is one diagnostic, with a range, that has all the texts.
func (w *world) wantError(diags hcl.Diagnostics, texts ...string) {
	w.Helper()
	if len(diags) != 1 || diags[0].Subject == nil {
		w.Fatalf("got %v, want one diagnostic with a range", diags)
	}
	got := strings.ReplaceAll(diags[0].Summary+": "+diags[0].Detail, w.server.Host, "HOST")
	for _, text := range texts {
		if !strings.Contains(got, text) {
			w.Errorf("got %q, want it to have %q", got, text)
		}
	}
}

const emptyModule = `output "x" { value = 1 }`

func TestGitSourcesWithNestedRelativeOnes(t *testing.T) {
	w := newWorld(t)
	address, commit := w.server.Repository(t, "net.git", map[string]string{
		"stacks/app/main.tfcomponent.hcl": "component \"c\" {\n  source = \"../../modules/a\"\n}\n",
		"modules/a/main.tf":               "module \"b\" {\n  source = \"../b/\"\n}\n",
		"modules/b/main.tf":               emptyModule,
	}, "v1")
	w.stack(`stack "app" { source = "` + strings.Replace(address, "net.git", "net.git//stacks/app?ref=v1", 1) + `" }`)
	w.mustFetch(nil)
	config := w.mustOffline()

	app := config.Root.Children["app"]
	if got := app.Components["c"].Source.Dir; !strings.HasSuffix(filepath.ToSlash(got), "/modules/a") ||
		!strings.HasPrefix(got, w.options().Dir) {
		t.Errorf("got directory %s", got)
	}
	name := strings.ReplaceAll(app.Components["c"].Range.Filename, w.server.Host, "HOST")
	if want := "git::https://HOST/git/net.git//stacks/app/main.tfcomponent.hcl?ref=v1"; name != want {
		t.Errorf("got file name %q, want %q", name, want)
	}
	if path, ok := Open(w.options()).Path(app.Components["c"].Range.Filename); !ok ||
		path != config.Paths[app.Components["c"].Range.Filename] {
		t.Errorf("Path: got %q, %v", path, ok)
	}
	lock := w.read(LockFileName)
	for _, text := range []string{`remote "git::https://HOST/git/net.git?ref=v1" {`, `commit = "` + commit + `"`, `hash   = "h1:`} {
		if !strings.Contains(lock, text) {
			t.Errorf("the lock file lacks %s:\n%s", text, lock)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(app.Components["c"].Source.Dir)), ".git")); err == nil {
		t.Error("the package has git's files")
	}
}

func TestGitRefs(t *testing.T) {
	w := newWorld(t)
	_, first := w.server.Repository(t, "r.git", map[string]string{"m/main.tf": `output "first" { value = 1 }`}, "v1")
	w.server.Repository(t, "r.git", map[string]string{"m/main.tf": `output "second" { value = 1 }`}, "release/v2")
	for ref, want := range map[string]string{
		"": "second", "?ref=main": "second", "?ref=release%2Fv2": "second", "?ref=release/v2": "second", "?ref=v1": "first",
		"?ref=" + first: "first", "?ref=" + first[:8]: "first",
	} {
		t.Run("ref"+strings.ReplaceAll(ref, "/", "_"), func(t *testing.T) {
			w := &world{T: t, server: w.server, dir: t.TempDir(), environ: w.environ}
			w.stack(`component "c" { source = "git::https://HOST/git/r.git//m` + ref + `" }`)
			config := w.mustFetch(nil)
			content, err := os.ReadFile(filepath.Join(config.Root.Components["c"].Source.Dir, "main.tf"))
			if err != nil || !strings.Contains(string(content), want) {
				t.Errorf("got %s, %v", content, err)
			}
			w.mustOffline()
		})
	}
}

func TestLockedCommitIsKeptUntilUpgrade(t *testing.T) {
	w := newWorld(t)
	_, first := w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule}, "")
	w.stack(`component "c" { source = "git::https://HOST/git/r.git" }`)
	before := w.mustFetch(nil).Root.Components["c"].Source.Dir
	_, second := w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule + "\n"}, "")

	if err := os.RemoveAll(filepath.Join(w.dir, ".cairn")); err != nil {
		t.Fatal(err)
	}
	if after := w.mustFetch(nil).Root.Components["c"].Source.Dir; after != before || !strings.Contains(w.read(LockFileName), first) {
		t.Errorf("got %s, want the locked one in %s", after, before)
	}
	after := w.mustFetch(upgrade).Root.Components["c"].Source.Dir
	if after == before || !strings.Contains(w.read(LockFileName), second) {
		t.Errorf("got %s after an upgrade, want another than %s", after, before)
	}
	if _, err := os.Stat(before); err != nil {
		t.Errorf("what other commands may still use was removed: %v", err)
	}
}

func TestVanishedLockedCommitSaysUpgrade(t *testing.T) {
	w := newWorld(t)
	w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule}, "")
	w.stack(`component "c" { source = "git::https://HOST/git/r.git" }`)
	w.mustFetch(nil)
	lock := w.read(LockFileName)
	at := strings.Index(lock, `commit = "`) + len(`commit = "`)
	w.write(LockFileName, lock[:at]+strings.Repeat("1", 40)+lock[at+40:])
	if err := os.RemoveAll(filepath.Join(w.dir, ".cairn")); err != nil {
		t.Fatal(err)
	}
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "Source cannot be used here", strings.Repeat("1", 40), "it differs from its lock")
}

func TestRegistryVersions(t *testing.T) {
	w := newWorld(t)
	for _, version := range []string{"1.0.0", "1.2.0", "1.10.0", "2.0.0", "3.0.0-beta1"} {
		archive := w.server.Archive("m-"+version+".tgz", sourcetest.Pack(t,
			sourcetest.Entry{Name: "top/main.tf", Content: emptyModule}, sourcetest.Entry{
				Name:    "top/sub/main.tf",
				Content: `module "up" { source = "../" }`,
			}))
		w.server.Publish("modules/ns/m/aws", version, archive+"//top?archive=tgz&token=secret")
	}
	w.server.Publish("components/ns/pets", "0.0.1", "/archives/gone.tgz")
	w.server.Publish("components/ns/pets", "0.0.2", "../../../../archives/pets.tgz")
	w.server.Archive("pets.tgz", sourcetest.Pack(t,
		sourcetest.Entry{Name: "main.tfcomponent.hcl", Content: "component \"p\" {\n  source = \"./m\"\n}\n"},
		sourcetest.Entry{Name: "m/main.tf", Content: "module \"n\" {\n  source = \"" + w.server.Host +
			"/ns/m/aws\"\n  version = \"< 1.5\"\n}\n"}))
	w.stack(`
component "a" {
  source  = "HOST/ns/m/aws//sub"
  version = "~> 1.0"
}
component "b" {
  source  = "HOST/ns/m/aws"
  version = ">= 1.0"
}
stack "pets" {
  source  = "HOST/ns/pets"
  version = "~> 0.0"
}`)
	w.mustFetch(nil)
	config := w.mustOffline()
	for name, want := range map[string]string{"a": "@1.10.0//sub", "b": "@2.0.0"} {
		place, ok := config.Resolver.Locate(config.Root.Components[name].Source.Dir)
		if got := strings.ReplaceAll(place.Address, w.server.Host, "HOST"); !ok || got != "HOST/ns/m/aws"+want {
			t.Errorf("component %s: got %s, want %s", name, got, want)
		}
	}
	if got := config.Root.Children["pets"].Components["p"].Range.Filename; !strings.HasSuffix(got, "/ns/pets@0.0.2//main.tfcomponent.hcl") {
		t.Errorf("got file name %s", got)
	}
	lock := w.read(LockFileName)
	if got := strings.Count(lock, "module \""); got != 3 {
		t.Errorf("got %d versions in the lock file, want 3:\n%s", got, lock)
	}
	if manifest := w.read(".cairn/sources/" + manifestName); strings.Contains(lock+manifest, "secret") {
		t.Error("the location that the registry gave was stored")
	}
}

// A locked version is used for all constraints that it satisfies, in any order, now and later.
func TestLockedVersionBeatsNewerOne(t *testing.T) {
	w := newWorld(t)
	publish := func(version string) {
		archive := w.server.Archive("m-"+version+".tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
		w.server.Publish("modules/ns/m/aws", version, archive)
	}
	selected := func(config *stackconfig.Config, name string) string {
		place, _ := config.Resolver.Locate(config.Root.Components[name].Source.Dir)
		return place.Address[strings.Index(place.Address, "@")+1:]
	}
	publish("1.0.0")
	const a = "component \"a\" {\n  source = \"HOST/ns/m/aws\"\n  version = \">= 1.0\"\n}\n"
	w.stack(a)
	w.mustFetch(nil)
	publish("1.1.0")
	w.server.Requests()
	if got := selected(w.mustFetch(nil), "a"); got != "1.0.0" {
		t.Errorf("got %s without upgrade", got)
	}
	if asked := w.server.Requests(); len(asked) > 0 {
		t.Errorf("nothing was missing, but %q was asked for", asked)
	}
	if got := selected(w.mustFetch(upgrade), "a"); got != "1.1.0" {
		t.Errorf("got %s with upgrade", got)
	}

	publish("1.2.0")
	w.stack(a + "component \"b\" {\n  source = \"HOST/ns/m/aws\"\n  version = \">= 1.2\"\n}\n")
	fetched := w.mustFetch(nil)
	loaded := w.mustOffline()
	for _, config := range []*stackconfig.Config{fetched, loaded} {
		if a, b := selected(config, "a"), selected(config, "b"); a != "1.2.0" || b != "1.2.0" {
			t.Errorf("got %s and %s, want the new version for both", a, b)
		}
	}
	if lock := w.read(LockFileName); strings.Contains(lock, "1.1.0") {
		t.Errorf("the lock file has a version that is not used:\n%s", lock)
	}
}

func TestChangedContentIsRefused(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("m.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	w.stack(`component "c" { source = "https://HOST/archives/m.tgz" }`)
	w.mustFetch(nil)
	w.server.Archive("m.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: "# evil"}))
	if err := os.RemoveAll(filepath.Join(w.dir, ".cairn")); err != nil {
		t.Fatal(err)
	}
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "are others than when cairn.sources.lock.hcl was written")
	if code, _ := hcl.DiagnosticExtra[fault.Code](diags[0]); code != fault.SourceLocked {
		t.Errorf("the code of the fault is %q, want %q", code, fault.SourceLocked)
	}
	w.mustFetch(upgrade)
	w.mustOffline()
}

func TestOfflineSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("m.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	w.server.Publish("modules/ns/m/aws", "1.0.0", "/archives/m.tgz")
	w.stack("component \"c\" {\n  source = \"HOST/ns/m/aws\"\n  version = \"1.0.0\"\n}")
	_, diags := w.offline()
	w.wantError(diags, `Source not available: The source HOST/ns/m/aws is not part of the prepared source packages: it has not been fetched.`)
	if code := engine.FaultOf(diags[0]); code != fault.SourceNotPrepared {
		t.Errorf("the fault of a source that has not been fetched is %q", code)
	}

	w.mustFetch(nil)
	w.stack("component \"c\" {\n  source = \"HOST/ns/m/aws\"\n  version = \"2.0.0\"\n}")
	_, diags = w.offline()
	w.wantError(diags, `Source not available: The source HOST/ns/m/aws is not part of the prepared source packages: `+
		`it has not been fetched in a version that satisfies the constraint "2.0.0".`)

	// A lock file from elsewhere decides, not the packages that are in the directory.
	w.stack("component \"c\" {\n  source = \"HOST/ns/m/aws\"\n  version = \"1.0.0\"\n}")
	w.write(LockFileName, strings.Replace(w.read(LockFileName), "h1:", "h1:x", 1))
	_, diags = w.offline()
	w.wantError(diags, "Source not available", "it has not been fetched")

	w.write(LockFileName, "module {")
	_, diags = w.offline()
	w.wantError(diags, "the lock file is damaged")
}

func TestLockFileGoesWithTheLastPackage(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("m.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	w.stack(`component "c" { source = "https://HOST/archives/m.tgz" }`)
	w.mustFetch(nil)
	w.stack("")
	w.mustFetch(nil)
	if _, err := os.Stat(filepath.Join(w.dir, LockFileName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file is still there: %v", err)
	}
}

func TestPackagesAreFetchedOnce(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("m.tgz", sourcetest.Pack(t,
		sourcetest.Entry{Name: "a/main.tf", Content: emptyModule}, sourcetest.Entry{Name: "b/main.tf", Content: emptyModule}))
	w.stack(`
component "a" { source = "https://HOST/archives/m.tgz//a" }
component "b" { source = "https://HOST/archives/m.tgz//b" }`)
	w.mustFetch(nil)
	if asked := w.server.Requests(); !slices.Equal(asked, []string{"/archives/m.tgz"}) {
		t.Errorf("got requests %q", asked)
	}
}

// Where a package cannot be had, those that can are not fetched again by the next command.
func TestPackagesStayWhenAnotherFails(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("m.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	w.server.Archive("wrong.tgz", sourcetest.Pack(t,
		sourcetest.Entry{Name: "main.tfcomponent.hcl", Content: `component "x" { source = "../../../out" }`}))
	w.stack(`
component "a" { source = "https://HOST/archives/m.tgz" }
component "b" { source = "https://HOST/archives/later.tgz" }
stack "c" { source = "https://HOST/archives/wrong.tgz" }`)
	_, diags, _ := w.fetch(t.Context(), nil)
	if len(diags) != 2 {
		t.Errorf("got %s, want two errors", diags)
	}
	lock := w.read(LockFileName)
	if !strings.Contains(lock, "m.tgz") || strings.Contains(lock, "later.tgz") || strings.Contains(lock, "wrong.tgz") {
		t.Errorf("got the lock file\n%s", lock)
	}
	right := sourcetest.Pack(t, sourcetest.Entry{Name: "main.tfcomponent.hcl", Content: `required_providers {}`})
	w.server.Archive("wrong.tgz", right)
	_, diags, _ = w.fetch(t.Context(), nil)
	w.wantError(diags, "later.tgz")
	w.server.Archive("later.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	w.mustFetch(nil)
	asked := map[string]int{}
	for _, path := range w.server.Requests() {
		asked[path]++
	}
	want := map[string]int{"/archives/m.tgz": 1, "/archives/later.tgz": 3, "/archives/wrong.tgz": 2}
	if !maps.Equal(asked, want) {
		t.Errorf("got requests %v, want %v", asked, want)
	}
	w.mustOffline()
}

// So it is with an upgrade. A package that cannot be fetched stays locked as it was.
func TestUpgradeStaysWhenAnotherFails(t *testing.T) {
	w := newWorld(t)
	module := func(comment string) []byte {
		return sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: "# " + comment + "\n" + emptyModule})
	}
	w.server.Publish("modules/ns/m/aws", "1.0.0", w.server.Archive("m-1.0.0.tgz", module("1.0.0")))
	w.server.Archive("n.tgz", module("before"))
	w.server.Archive("gone.tgz", module("gone"))
	w.stack(`
component "a" {
  source  = "HOST/ns/m/aws"
  version = "~> 1.0"
}
component "b" { source = "https://HOST/archives/n.tgz" }
component "c" { source = "https://HOST/archives/gone.tgz" }`)
	w.mustFetch(nil)
	before := w.read(LockFileName)

	w.server.Publish("modules/ns/m/aws", "1.1.0", w.server.Archive("m-1.1.0.tgz", module("1.1.0")))
	w.server.Archive("n.tgz", module("after"))
	w.server.Handle("gone.tgz", http.NotFound)
	_, diags, _ := w.fetch(t.Context(), upgrade)
	w.wantError(diags, "gone.tgz")
	lock := w.read(LockFileName)
	hashes := func(lock string) []string { return regexp.MustCompile(`h1:[^"]+`).FindAllString(lock, -1) }
	kept := slices.DeleteFunc(hashes(before), func(hash string) bool { return !strings.Contains(lock, hash) })
	if !strings.Contains(lock, `"1.1.0"`) || len(kept) != 2 || len(hashes(lock)) != 4 {
		t.Errorf("got the lock file\n%s\nafter\n%s", lock, before)
	}

	// The next command goes on with these packages: nothing is fetched again.
	w.server.Requests()
	w.mustFetch(nil)
	if asked := w.server.Requests(); len(asked) > 0 {
		t.Errorf("got requests %q", asked)
	}
	if lock := w.read(LockFileName); strings.Contains(lock, `"1.0.0"`) || !strings.Contains(lock, `"1.1.0"`) {
		t.Errorf("got the lock file\n%s", lock)
	}
	w.mustOffline()
}
