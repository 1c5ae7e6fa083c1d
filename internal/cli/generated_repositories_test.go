// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const (
	// repositoriesVariable names how many repositories are generated, in place of a few.
	repositoriesVariable = "CAIRN_REPOSITORIES"

	usualRepositories = 3
)

// TestGeneratedRepositories checks the rules for every repository of stacks, deployments and root
// modules with values from each other:
//
//   - R1. The plans of a set do not depend on how many stacks are planned at the same time.
//   - R2. Values known when planning are the same after the apply, and every output has the value
//     that the configuration says.
//   - R3. After an apply there is nothing left to plan.
//   - R4. Which units of a set fail, are skipped and are applied follows from the broken ones,
//     however many stacks are worked on at the same time, and so do the outputs then. Without a
//     set, some units are not started instead. When the causes are gone, the same command ends in
//     the state that there is without failures, and so does a set of which the failed units were
//     applied by themselves.
//   - R5. Destroying leaves nothing in any state.
//
// Root modules, which need a binary, are in them if [repositoriesVariable] is set.
func TestGeneratedRepositories(t *testing.T) {
	seed := testenv.Seed(t)
	count, long := usualRepositories, os.Getenv(repositoriesVariable)
	if long != "" {
		var err error
		if count, err = strconv.Atoi(long); err != nil {
			t.Fatal(err)
		}
		testenv.CLIConfig(t, "")
	}
	for n := range uint64(count) { //nolint:gosec // fits
		t.Run(fmt.Sprint(seed+n), func(t *testing.T) {
			r := generateRepository(rand.New(rand.NewPCG(seed+n, 0)), long != "") //nolint:gosec // to be repeated
			r.check(t)
		})
	}
}

// repository is one that was generated.
type repository struct {
	units  []*generatedUnit
	broken []string // units whose apply fails at first
	salt   string   // is in all values
}

// generatedUnit is a stack, a deployment of one, or a root module.
type generatedUnit struct {
	name, dir  string
	deployment string
	root       bool
	inputs     map[string]generatedInput
	chain      bool // a second component has values of the first one
	upstream   *generatedUnit
	published  bool
}

// generatedInput is the source of a value.
type generatedInput struct {
	from   *generatedUnit // nil for a local value
	output string
	upper  bool
}

func generateRepository(random *rand.Rand, roots bool) *repository {
	r := &repository{salt: "one"}
	chance := func(percent int) bool { return random.IntN(100) < percent }
	var publishers []*generatedUnit
	for i := range 3 + random.IntN(4) {
		u := &generatedUnit{name: fmt.Sprint("u", i), dir: fmt.Sprint("u", i), inputs: map[string]generatedInput{}, chain: chance(40)}
		for j := range random.IntN(3) {
			input := generatedInput{upper: chance(30)}
			if len(r.units) > 0 && chance(80) {
				input.from, input.output = r.units[random.IntN(len(r.units))], []string{"known", "made"}[random.IntN(2)]
			}
			u.inputs[fmt.Sprint("in", j)] = input
		}
		switch {
		case roots && chance(25):
			u.root = true
		case chance(45):
			u.deployment, u.published = "a", true
			if len(publishers) > 0 && chance(70) {
				u.upstream = publishers[random.IntN(len(publishers))]
			}
			publishers = append(publishers, u)
		}
		r.units = append(r.units, u)
		if u.deployment != "" && chance(50) {
			other := *u
			other.name, other.deployment, other.published = u.name+"b", "b", false
			r.units = append(r.units, &other)
		}
		if chance(30) {
			r.broken = append(r.broken, u.name)
		}
	}
	if len(r.broken) == 0 {
		r.broken = []string{r.units[len(r.units)/2].name}
	}
	return r
}

// value returns the expected value of a unit's output.
func (r *repository) value(u *generatedUnit, output string) string {
	parts := []string{u.name}
	for _, name := range slices.Sorted(maps.Keys(u.inputs)) {
		parts = append(parts, r.input(u.inputs[name]))
	}
	if u.upstream != nil {
		parts = append(parts, r.value(u.upstream, "made"))
	}
	text := strings.Join(parts, "+")
	switch {
	case output == "known":
		return "k(" + text + ")"
	case u.chain && !u.root:
		return "m(m(" + text + "))"
	}
	return "m(" + text + ")"
}

func (r *repository) input(in generatedInput) string {
	text := r.salt
	if in.from != nil {
		text = r.value(in.from, in.output)
	}
	if in.upper {
		text = strings.ToUpper(text)
	}
	return text
}

// files returns the files of the repository.
func (r *repository) files() map[string]string {
	files := map[string]string{"modules/m/main.tf": `variable "text" { type = string }
variable "name" { type = string }
resource "terraform_data" "x" {
  input = "m(${var.text})"
  lifecycle {
    postcondition {
      condition     = !fileexists("${path.module}/../../broken-${var.name}${replace(self.output, "/.*/", "")}")
      error_message = "It is broken."
    }
  }
}
output "made" { value = terraform_data.x.output }
`}
	var workspace strings.Builder
	fmt.Fprintf(&workspace, "locals {\n  salt = %q\n}\n", r.salt)
	for _, u := range r.units {
		fmt.Fprintf(&workspace, "stack %q {\n  path = %q\n", u.name, u.dir)
		if u.deployment != "" {
			fmt.Fprintf(&workspace, "  deployment = %q\n", u.deployment)
		}
		if u.upstream != nil {
			fmt.Fprintf(&workspace, "  after = [%q]\n", u.upstream.name)
		}
		workspace.WriteString("  inputs = {\n")
		for _, name := range slices.Sorted(maps.Keys(u.inputs)) {
			in := u.inputs[name]
			expr := "local.salt"
			if in.from != nil {
				expr = "stack." + in.from.name + ".output." + in.output
			}
			if in.upper {
				expr = "upper(" + expr + ")"
			}
			fmt.Fprintf(&workspace, "    %s = %s\n", name, expr)
		}
		workspace.WriteString("  }\n}\n")
		maps.Copy(files, r.unitFiles(u))
	}
	files["cairn.workspace.hcl"] = workspace.String()
	return files
}

func (r *repository) unitFiles(u *generatedUnit) map[string]string {
	var b, parts strings.Builder
	name := strconv.Quote(u.name)
	if u.deployment != "" {
		name = "var.name"
		b.WriteString("variable \"name\" { type = string }\n")
	}
	parts.WriteString(name)
	for _, input := range slices.Sorted(maps.Keys(u.inputs)) {
		fmt.Fprintf(&b, "variable %q {\n  type = string\n  default = \"\"\n}\n", input)
		parts.WriteString(", var." + input)
	}
	if u.upstream != nil {
		b.WriteString("variable \"upstream\" { type = string }\n")
		parts.WriteString(", var.upstream")
	}
	fmt.Fprintf(&b, "locals {\n  text = join(\"+\", [%s])\n}\n", &parts)
	if u.root {
		fmt.Fprintf(&b, "module \"a\" {\n  source = \"../modules/m\"\n  text = local.text\n  name = %s\n}\n", name)
		b.WriteString("output \"known\" { value = \"k(${local.text})\" }\noutput \"made\" { value = module.a.made }\n")
		return map[string]string{u.dir + "/main.tf": b.String()}
	}
	made := "component.a.made"
	fmt.Fprintf(&b, "component \"a\" {\n  source = \"../modules/m\"\n  inputs = { text = local.text, name = %s }\n}\n", name)
	if u.chain {
		b.WriteString("component \"b\" {\n  source = \"../modules/m\"\n  inputs = { text = component.a.made, name = \"\" }\n}\n")
		made = "component.b.made"
	}
	fmt.Fprintf(&b, "output \"known\" {\n  type = string\n  value = \"k(${local.text})\"\n}\noutput \"made\" {\n  type = string\n"+
		"  value = %s\n}\n", made)
	files := map[string]string{u.dir + "/main.tfcomponent.hcl": b.String()}
	if u.deployment == "" {
		return files
	}
	var d strings.Builder
	upstream := ""
	if u.upstream != nil {
		d.WriteString("upstream_input \"up\" {\n  type = \"stack\"\n  source = \"a.example/o/p/up\"\n}\n")
		files[u.dir+"/cairn.hcl"] = fmt.Sprintf("upstream \"a.example/o/p/up\" { stack = \"../%s\" }\n", u.upstream.dir)
		upstream = ", upstream = upstream_input.up.made"
	}
	for deployment, name := range map[string]string{"a": u.dir, "b": u.dir + "b"} {
		fmt.Fprintf(&d, "deployment %q {\n  inputs = { name = %q%s }\n}\n", deployment, name, upstream)
	}
	d.WriteString("publish_output \"made\" { value = deployment.a.made }\n")
	files[u.dir+"/main.tfdeploy.hcl"] = d.String()
	return files
}

// place is a directory with the repository.
type place struct {
	*repository
	t   *testing.T
	dir string
}

func (r *repository) placeIn(t *testing.T) *place {
	t.Helper()
	p := &place{r, t, t.TempDir()}
	p.write(r.files())
	return p
}

func (p *place) write(files map[string]string) {
	p.t.Helper()
	for name, text := range files {
		path := filepath.Join(p.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *place) run(code int, args ...string) result {
	p.t.Helper()
	p.t.Chdir(p.dir)
	got := runNative(p.t, args...)
	if got.status != code {
		p.t.Fatalf("cairn %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got.status, code, got.out, got.err)
	}
	return got
}

// outputs returns all outputs of all units; of those that were not applied there are none.
func (p *place) outputs() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	for _, u := range p.units {
		values := map[string]string{}
		switch {
		case u.root:
			values = p.rootOutputs(u)
		default:
			args := []string{"-chdir=" + u.dir, "output", "-json"}
			if u.deployment != "" {
				args = append(args, "-deployment="+u.deployment)
			}
			var document map[string]struct{ Value *string }
			if err := json.Unmarshal([]byte(p.run(cmdline.ExitOK, args...).out), &document); err != nil {
				p.t.Fatal(err)
			}
			for name, output := range document {
				if output.Value != nil {
					values[name] = *output.Value
				}
			}
		}
		for name, value := range values {
			found[u.name+"."+name] = value
		}
	}
	return found
}

func (p *place) rootOutputs(u *generatedUnit) map[string]string {
	p.t.Helper()
	values := map[string]string{}
	content, err := os.ReadFile(filepath.Join(p.dir, u.dir, "terraform.tfstate"))
	if err != nil {
		return values // it was not applied
	}
	var state struct {
		Outputs map[string]struct{ Value string }
	}
	if err := json.Unmarshal(content, &state); err != nil {
		p.t.Fatal(err)
	}
	for name, output := range state.Outputs {
		values[name] = output.Value
	}
	return values
}

// wantOutputs are the expected outputs at the end.
func (r *repository) wantOutputs() map[string]string {
	want := map[string]string{}
	for _, u := range r.units {
		for _, output := range []string{"known", "made"} {
			want[u.name+"."+output] = r.value(u, output)
		}
	}
	return want
}

// plan makes a set of plans, and returns its index without the parts that differ each time.
func (p *place) plan(set, parallel string) string {
	p.t.Helper()
	p.run(cmdline.ExitOK, "run", "plan", "-out="+set, parallel)
	content, err := os.ReadFile(filepath.Join(p.dir, set, "index.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.checkKnown(content)
	return regexp.MustCompile(`(?m)^.*"(created|sha256|key|hash|lineage|plan|state)":.*$`).ReplaceAllString(string(content), "")
}

// checkKnown compares the values that a set was planned with (rule R2).
func (p *place) checkKnown(content []byte) {
	p.t.Helper()
	var index struct {
		Units []struct {
			Name   string
			Inputs map[string]struct {
				Known bool
				Value *string
			}
		}
	}
	if err := json.Unmarshal(content, &index); err != nil {
		p.t.Fatal(err)
	}
	for _, unit := range index.Units {
		u := p.units[slices.IndexFunc(p.units, func(u *generatedUnit) bool { return u.name == unit.Name })]
		for name, planned := range unit.Inputs {
			if want := p.input(u.inputs[name]); planned.Known && (planned.Value == nil || *planned.Value != want) {
				p.t.Errorf("rule R2: %s of %s is planned with another value than %q:\n%s", name, unit.Name, want, content)
			}
		}
	}
}

// ends returns the expected end of each unit while some are broken: "failed", "skipped" or "ok".
// Units that come after one that has not succeeded do not begin.
func (r *repository) ends() map[string]string {
	ends := map[string]string{}
	for _, u := range r.units { // each after those that it has values from
		end := "ok"
		if slices.Contains(r.broken, u.name) {
			end = "failed"
		}
		before := []*generatedUnit{u.upstream}
		for _, in := range u.inputs {
			before = append(before, in.from)
		}
		for _, other := range before {
			if other != nil && ends[other.name] != "ok" {
				end = "skipped"
			}
		}
		ends[u.name] = end
	}
	return ends
}

// fail applies while some units are broken. Of a set, everything is applied that does not come
// after them. Without one, nothing more is started after the first failure: the units that have
// begun until then, and the first of several failures, depend on the work going on at the same
// time. So each unit ends as it does with a set, or is not started, and outputs of two places can
// differ. Two facts are never compared: for which of several prerequisites a unit was skipped, and
// the order of units that have nothing to do with each other.
func (p *place) fail(args ...string) {
	p.t.Helper()
	before := p.outputs()
	broken := map[string]string{}
	for _, name := range p.broken {
		broken["broken-"+name] = "x"
	}
	p.write(broken)
	report := filepath.Join(p.t.TempDir(), "report.json")
	p.run(cmdline.ExitError, append([]string{"run", "apply", "-report=" + report}, args...)...)
	for name := range broken {
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
			p.t.Fatal(err)
		}
	}
	content, err := os.ReadFile(report)
	if err != nil {
		p.t.Fatal(err)
	}
	var document struct {
		Results []struct{ Name, State string }
	}
	if err := json.Unmarshal(content, &document); err != nil {
		p.t.Fatal(err)
	}
	want, got := p.ends(), map[string]string{}
	for _, result := range document.Results {
		got[result.Name] = result.State
		if result.State == "not_started" && args[0] != "plans" {
			want[result.Name] = result.State
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("rule R4: ends of cairn run apply %s while %v are broken (-want +got):\n%s", strings.Join(args, " "), p.broken, diff)
	}
	after := p.outputs()
	for _, u := range p.units {
		for _, output := range []string{"known", "made"} {
			name := u.name + "." + output
			switch end := got[u.name]; {
			case end == "ok" && after[name] != p.value(u, output):
				p.t.Errorf("rule R4: %s is %q after %s was applied, want %q", name, after[name], u.name, p.value(u, output))
			case (end == "skipped" || end == "not_started") && after[name] != before[name]:
				p.t.Errorf("rule R4: %s is %q, and was %q, and %s was %s", name, after[name], before[name], u.name, end)
			}
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(got)), "failed") {
		p.t.Errorf("rule R4: cairn run apply %s has not failed at any of %v", strings.Join(args, " "), p.broken)
	}
}

func (p *place) settled(what string) {
	p.t.Helper()
	if diff := cmp.Diff(p.wantOutputs(), p.outputs()); diff != "" {
		p.t.Errorf("rule R2: outputs after %s (-want +got):\n%s", what, diff)
	}
	p.run(cmdline.ExitOK, "run", "plan", "-detailed-exitcode") // rule R3
}

func (r *repository) check(t *testing.T) {
	defer func() {
		if t.Failed() {
			files := r.files()
			for _, name := range slices.Sorted(maps.Keys(files)) {
				t.Logf("-- %s --\n%s", name, files[name])
			}
			t.Logf("broken: %v", r.broken)
		}
	}()
	healthy, other := r.placeIn(t), r.placeIn(t)
	if diff := cmp.Diff(healthy.plan("plans", "-parallel=1"), other.plan("plans", "-parallel=16")); diff != "" {
		t.Errorf("rule R1: parallelism changes the set (-1 +16):\n%s", diff)
	}
	healthy.run(cmdline.ExitOK, "run", "apply", "plans", "-parallel=16")
	healthy.settled("an apply of the set")

	r.recover(t, healthy, other)

	// Another version of everything, which fails at first, too: where nothing new was applied, the
	// previous version is left.
	r.salt = "two"
	for _, p := range []*place{healthy, other} {
		p.write(r.files())
	}
	healthy.fail("-auto-approve", "-parallel=1")
	other.fail("-auto-approve", "-parallel=16")
	healthy.run(cmdline.ExitOK, "run", "apply", "-auto-approve", "-parallel=1")
	healthy.settled("a change")
	other.run(cmdline.ExitOK, "run", "apply", "-auto-approve", "-parallel=16")
	other.settled("a change, at the same time")
	for _, p := range []*place{healthy, other} {
		p.run(cmdline.ExitOK, "run", "destroy", "-auto-approve", "-parallel=4")
		if left := p.outputs(); len(left) > 0 {
			t.Errorf("rule R5: left after destroy: %v", left)
		}
		p.emptyStates()
	}
}

// recover checks rule R4 with sets of plans, and leaves one place with everything applied.
func (r *repository) recover(t *testing.T, healthy, one *place) {
	t.Helper()
	many := r.placeIn(t)
	many.plan("plans", "-parallel=4")
	one.fail("plans", "-parallel=1")
	many.fail("plans", "-parallel=16")
	if diff := cmp.Diff(one.outputs(), many.outputs()); diff != "" {
		t.Errorf("rule R4: parallelism changes the outputs after failures of a set (-1 +16):\n%s", diff)
	}

	// The plans of skipped units are good after those of failed units. The plan of a root module can
	// be applied only once, as an error says.
	var failed, again []string
	ends := r.ends()
	for _, u := range r.units {
		if ends[u.name] == "failed" {
			failed = append(failed, u.name)
			if u.root {
				again = append(again, u.name)
			}
		}
	}
	if len(again) > 0 {
		got := many.run(cmdline.ExitError, "run", "apply", "plans", "-parallel=16")
		for _, name := range again {
			if command := "cairn run apply -query=stack_name:" + name + ","; !strings.Contains(got.err, command) {
				t.Errorf("rule R4: the set does not say %q:\n%s", command, got.err)
			}
		}
	}
	many.alone(again)
	many.run(cmdline.ExitOK, "run", "apply", "plans", "-parallel=16")

	// They are good after an apply of it alone, too.
	one.alone(failed)
	one.run(cmdline.ExitOK, "run", "apply", "plans", "-parallel=1")
	for _, p := range []*place{one, many} {
		p.settled("a repair")
		if diff := cmp.Diff(healthy.outputs(), p.outputs()); diff != "" {
			t.Errorf("rule R4: outputs after failures and repair (-without +with):\n%s", diff)
		}
	}
}

// alone applies units each by itself.
func (p *place) alone(units []string) {
	p.t.Helper()
	for _, name := range units {
		p.run(cmdline.ExitOK, "run", "apply", "-auto-approve", "-query=stack_name:"+name)
	}
}

// emptyStates checks rule R5.
func (p *place) emptyStates() {
	p.t.Helper()
	for _, u := range p.units {
		if u.root {
			continue // whose outputs are looked at
		}
		args := []string{"-chdir=" + u.dir, "state", "list"}
		if u.deployment != "" {
			args = append(args, "-deployment="+u.deployment)
		}
		if got := p.run(cmdline.ExitOK, args...); got.out != "" {
			p.t.Errorf("rule R5: left in the state of %s: %s", u.name, got.out)
		}
	}
}
