// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/page"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// pictures is the variable that has the pictures of the documents made anew.
const pictures = "UPDATE_PICTURES"

// browser is a tab of a real browser.
type browser struct {
	*testing.T

	ctx  context.Context //nolint:containedctx // of the tab
	site *site
}

func newBrowser(t *testing.T, s *site) *browser {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(t.Context(),
		chromedp.ExecPath(testenv.Chromium(t)), chromedp.NoSandbox, // which root cannot have
		chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU,
		chromedp.WindowSize(1180, 720), chromedp.Flag("force-color-profile", "srgb"))
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	return &browser{t, ctx, s}
}

// do performs actions of a person.
func (b *browser) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	testenv.Within(b, what, func() {
		if err := chromedp.Do(b.ctx, actions...); err != nil {
			b.Errorf("%s: %v", what, err)
		}
	})
	if b.Failed() {
		body, _ := chromedp.Run(b.ctx, chromedp.OuterHTML("body"))
		b.Fatalf("the page is\n%.4000s", body)
	}
}

// sees waits until a text is on the page, and visible.
func (b *browser) sees(text string) {
	b.Helper()
	b.do("the page shows "+text, until("document.body.innerText.includes("+quoteJS(text)+")"))
}

// until waits until an expression is true, also where the page is replaced meanwhile.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for {
			if ok, err := chromedp.Evaluate[bool]("document.body !== null && Boolean("+expression+")")(ctx, target); err == nil && ok {
				return nil
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// value returns the value of an expression.
func value[T any](b *browser, expression string, options ...chromedp.EvaluateOption) T {
	b.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return got
}

// lacks makes sure that a text is not visible.
func (b *browser) lacks(text string) {
	b.Helper()
	if value[bool](b, "document.body.innerText.includes("+quoteJS(text)+")") {
		b.Errorf("the page shows %q", text)
	}
}

func quoteJS(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// picture takes a picture for the documents, if they are to be made anew; else it makes sure that
// one can be taken.
func (b *browser) picture(name, scheme string) {
	b.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params)
	if err != nil {
		b.Fatal(err)
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil || len(png) < 1000 {
		b.Fatalf("the picture %s has %d bytes: %v", name, len(png), err)
	}
	if os.Getenv(pictures) == "" {
		return
	}
	if err := safefile.Replace(filepath.Join("..", "..", "docs", "images", "page-"+name+".png"), png, 0o644); err != nil {
		b.Fatal(err)
	}
}

// write writes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// shop is a repository with two stacks, one of which has two deployments.
var shop = map[string]string{
	"network/main.tfcomponent.hcl": `
component "vpc" {
  source = "../module"
  inputs = { name = "vpc", size = 1 }
}
`,
	"app/main.tfcomponent.hcl": `
variable "size" {
  type = number
}
variable "password" {
  type      = string
  sensitive = true
}
component "network" {
  source = "../module"
  inputs = { name = "network", size = var.size }
}
component "database" {
  source = "../module"
  inputs = { name = "database of ${component.network.name}", size = var.size, password = var.password }
}
component "cache" {
  source = "../module"
  inputs = { name = "cache of ${component.network.name}", size = 1 }
}
component "api" {
  for_each = toset(["eu", "us"])
  source   = "../module"
  inputs   = { name = "api of ${component.database.name} and ${component.cache.name}", size = var.size }
}
component "web" {
  source = "../module"
  inputs = { name = "web of ${join(", ", [for api in component.api : api.name])}", size = var.size }
}
`,
	"app/app.tfdeploy.hcl": `
deployment "dev" {
  inputs = { size = 1, password = "hunter2" }
}
deployment "prod" {
  inputs = { size = 2, password = "hunter2" }
}
`,
	"module/main.tf": `
variable "name" {
  type = string
}
variable "size" {
  type = number
}
variable "password" {
  type      = string
  default   = ""
  sensitive = true
}
resource "terraform_data" "server" {
  input            = { name = var.name, size = var.size, tags = { team = "shop" } }
  triggers_replace = var.password
}
output "name" {
  value = terraform_data.server.output.name
}
`,
	"slow/main.tfcomponent.hcl": `
component "first" {
  source = "./first"
}
component "second" {
  source = "./second"
  inputs = { after = component.first.id }
}
`,
	"slow/first/main.tf": `
resource "terraform_data" "quick" {}
output "id" {
  value = terraform_data.quick.id
}
`,
	"slow/second/main.tf": `
variable "after" {
  type = string
}
resource "terraform_data" "slow" {
  input = var.after
  provisioner "local-exec" {
    command = "while [ ! -e GATE ]; do sleep 0.05; done"
  }
}
`,
}

// openStack opens a stack with the engine that needs no binary.
func openStack(u *fleet.Unit, deployment string) *operation.Stack {
	return operation.Open(operation.Options{
		Env: env.Options{Dir: u.Dir, Deployment: deployment}, Engine: engines.Request{Named: "native"},
	})
}

func apply(t *testing.T, u *fleet.Unit, deployment string) {
	t.Helper()
	stack := openStack(u, deployment)
	defer stack.Close() //nolint:errcheck // the apply has saved everything
	if diags := stack.Apply(t.Context(), operation.Request{}, operation.Caller{Approve: operation.ApproveAll}); diags.HasErrors() {
		t.Fatal(diags)
	}
}

// A person looks at all views of a repository, finds things by the keyboard, follows an apply, and
// approves a plan.
func TestBrowser(t *testing.T) {
	testenv.SkipUnderRace(t, "a browser does one thing after the other")
	testenv.Chromium(t)
	dir := t.TempDir()
	write(t, dir, shop)
	gate := filepath.Join(dir, "slow", "gate")
	write(t, dir, map[string]string{"slow/second/main.tf": strings.ReplaceAll(shop["slow/second/main.tf"], "GATE", gate)})
	unit := func(name, deployment string) *fleet.Unit {
		stack, _, _ := strings.Cut(name, ":")
		return &fleet.Unit{Name: name, Kind: rollout.Components, Dir: filepath.Join(dir, stack), Directory: stack, Deployment: deployment}
	}
	network, dev, prod, slow := unit("network", ""), unit("app:dev", "dev"), unit("app:prod", "prod"), unit("slow", "")
	apply(t, network, "")
	apply(t, dev, "dev")
	apply(t, prod, "prod")
	write(t, dir, map[string]string{"app/app.tfdeploy.hcl": strings.Replace(shop["app/app.tfdeploy.hcl"], "size = 2", "size = 3", 1)})
	stack := openStack(prod, "prod")
	file := stack.Env().WaitingPlan("prod")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	planned, diags := stack.Plan(t.Context(), operation.Request{}, operation.Caller{}, file)
	if diags.HasErrors() || planned.Plan == nil {
		t.Fatal(diags)
	}
	if err := stack.Close(); err != nil {
		t.Fatal(err)
	}
	allow := make(chan struct{})
	site := newSite(t, func(ctx context.Context, a page.Approval) error {
		a.Asking()
		select {
		case <-allow:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		a.Applying()
		stack := openStack(prod, "prod")
		defer stack.Close() //nolint:errcheck // the apply has saved everything
		plan, made, err := stack.ReadPlan(ctx, a.Unit.Waiting.File)
		if err != nil || made.Identity != a.Plan {
			return errors.Join(err, errors.New("another plan"))
		}
		request := operation.Request{Approval: operation.Approval{ApprovedBy: operation.ByPage}}
		if diags := stack.ApplySaved(ctx, plan, made, request, operation.Caller{}); diags.HasErrors() {
			return diags
		}
		return os.Remove(a.Unit.Waiting.File)
	}, dev, prod, network, slow)
	b := newBrowser(t, site)
	at := "http://" + site.host

	b.do("without the token nothing is shown", chromedp.Navigate(at+"/"))
	b.sees("Open the address that was printed on the terminal.")
	b.do("the address is opened", chromedp.Navigate(at+"/?token="+site.token))
	if address := value[string](b, "location.href"); address != at+"/" {
		t.Errorf("the address has become %s", address)
	}
	b.sees("app:prod")
	b.sees("a plan waits for approval")
	b.picture("overview", "light")

	// The keyboard: the first step leads to the content, letters filter, Enter searches.
	const focus = "document.activeElement.className || document.activeElement.id"
	b.do("Tab", chromedp.KeyEvent(kb.Tab))
	if focused := value[string](b, focus); focused != "skip" {
		t.Errorf("the first Tab leads to %q", focused)
	}
	b.do("Enter", chromedp.KeyEvent(kb.Enter), until("location.hash == '#main'"))
	if focused := value[string](b, focus); focused != "main" {
		t.Errorf("the skip link leads to %q", focused)
	}
	b.do("letters are typed", chromedp.Focus("#q"), chromedp.KeyEvent("netw"))
	b.sees("1 on this page")
	b.lacks("app:prod")
	b.do("the form is sent", chromedp.KeyEvent(kb.Enter), until("location.search.includes('q=netw')"))
	b.sees("1 found")
	b.lacks("app:dev")

	b.do("the stack is opened", chromedp.Navigate(at+"/"), chromedp.Click("a[href='/stack?unit=app%3aprod']"))
	b.sees("Components by the plan that waits for approval")
	b.do("the picture is there", until("document.querySelector('.picture img').naturalWidth > 300"))
	b.picture("stack", "dark")

	b.do("the plan is opened", chromedp.Click("a[href='/plan?unit=app%3aprod']"))
	b.sees("Approve and apply this plan")
	b.lacks("hunter")
	b.do("a component is unfolded", chromedp.Focus("details.component summary"), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("details.component[open] table.values"))
	b.sees("input.size")
	b.picture("plan", "light")
	b.do("a search for one", chromedp.Focus("#q"), chromedp.KeyEvent("api"), chromedp.KeyEvent(kb.Enter),
		until("location.search.includes('q=api')"))
	b.sees("2 found")
	b.lacks("component.web")

	// An apply of somebody else, as it goes on: the page is not loaded again.
	b.do("progress is opened", chromedp.Navigate(at+"/progress?unit=slow"))
	b.sees("Nothing is running.")
	loaded := value[string](b, "document.getElementById('as-of').innerText")
	applied := make(chan struct{})
	go func() { // until the gate is there, for which this test waits
		defer close(applied)
		running := openStack(slow, "")
		defer running.Close() //nolint:errcheck // the apply has saved everything
		if diags := running.Apply(t.Context(), operation.Request{}, operation.Caller{Approve: operation.ApproveAll}); diags.HasErrors() {
			t.Error(diags)
		}
	}()
	b.sees("component.first")
	b.sees("running)")
	b.do("the picture of the progress is there", until(`(() => {
		const drawn = document.querySelector("#live .picture img"); // anew for each state, as browsers keep pictures by their addresses
		return drawn.src.includes("at=1-1-") && drawn.naturalWidth > 200;
	})()`))
	svg := value[string](b, "fetch(document.querySelector('#live .picture img').src).then((answer) => answer.text())",
		chromedp.EvalAwaitPromise)
	if !strings.Contains(svg, `class="node done"`) {
		t.Errorf("the picture shows no component that is done:\n%s", svg)
	}
	b.picture("progress", "dark")
	write(t, dir, map[string]string{"slow/gate": ""})
	testenv.Receive(t, "the apply ends", applied)
	b.sees("component.second")
	b.sees("Nothing is running.")
	b.lacks(loaded) // the state was asked a second later

	// Approval, with consent of the terminal.
	b.do("the plan is approved", chromedp.Navigate(at+"/plan?unit=app%3aprod"), chromedp.Click(".approve button"))
	b.sees("Somebody has to allow it on the terminal that serves this page.")
	close(allow)
	b.sees("The plan was applied.")

	b.do("the history is opened", chromedp.Click("a[href='/history?unit=app%3aprod']"))
	b.sees("page")
	b.picture("history", "light")
	b.do("what the apply has changed", chromedp.Click("a[href='/change?unit=app%3aprod&serial=2']"))
	b.sees("input.size")
	b.lacks("hunter")
	b.do("since when", chromedp.Navigate(at+"/blame?unit=app%3aprod&address=component.database.terraform_data.server"))
	b.sees("(sensitive value)")
	b.lacks("hunter")
	b.picture("blame", "dark")

	// Another page gets nothing, and this one loads nothing from elsewhere.
	if value[bool](b, `(() => {
		const script = document.createElement("script");
		script.textContent = "window.wasRun = true";
		document.body.append(script);
		return window.wasRun === true;
	})()`) {
		t.Error("a script in the page was run")
	}
	b.do("another origin is opened", chromedp.Navigate("http://localhost"+at[strings.LastIndex(at, ":"):]+"/"))
	answer := value[string](b, "fetch("+quoteJS(at+"/")+", {credentials: 'include'}).then(() => 'answered', () => 'refused')",
		chromedp.EvalAwaitPromise)
	if answer != "refused" {
		t.Errorf("a page of another origin is %s", answer)
	}
}

// A page that nobody serves any more says so, as what it shows stays as it was.
func TestBrowserWithoutServer(t *testing.T) {
	testenv.SkipUnderRace(t, "a browser does one thing after the other")
	testenv.Chromium(t)
	s := newSite(t, nil, newStack(t, "app"))
	b := newBrowser(t, s)
	b.do("progress is opened", chromedp.Navigate("http://"+s.host+"/progress?unit=app&token="+s.token))
	b.sees("Nothing is running.")
	b.lacks("The page gets no answer")
	s.end()
	b.sees("The page gets no answer")
	b.sees("Nothing is running.")
}
