// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A plan of a root module that nobody will apply is the same from any engine. The native engine
// makes it without a process of terraform where all its sources are in reach: the files of the
// module, providers that init has installed, values of variables, and a state in a local file. All
// other cases, and failures before the module is planned, are left to terraform, which makes the
// plans that are applied.

// planNatively plans the module in this process. The plan is nil, without an error, where terraform
// has to make it.
func (w *Work) planNatively(ctx context.Context) (*Plan, error) {
	if w.engine.Native == nil || w.engine.Info.Name != toolchain.Terraform || w.isSpecial() {
		return nil, nil //nolint:nilnil // as documented
	}
	prior, ok := w.priorState()
	if !ok {
		return nil, nil //nolint:nilnil // as documented
	}
	session, err := w.openNative(ctx)
	if session == nil || err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing was written
	req, diags := w.nativeRequest(ctx, session, prior)
	if req == nil {
		return nil, nil //nolint:nilnil // as documented
	}
	before := w.diags
	w.diags = append(w.diags, diags...)
	result, diags := session.Plan(ctx, req, func(event engine.Event) {
		if event.Type != engine.WorkBegan { // which is about this process
			w.out.Event.Observe(event)
		}
	})
	w.diags = append(w.diags, diags...)
	if result == nil || diags.HasErrors() {
		return nil, &process.ExitError{Code: 1}
	}
	if !result.Complete { // terraform plans nothing that depends on how many instances there are
		w.diags = before
		return nil, nil //nolint:nilnil // as documented
	}
	return newPlan(nativePlan(result, req)), nil
}

// isSpecial reports whether the environment or the inputs ask for something that only the engine
// does.
func (w *Work) isSpecial() bool {
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_plan", "TF_REATTACH_PROVIDERS"} {
		if environ.Get(w.opts.Environ, name) != "" {
			return true
		}
	}
	if len(w.missing()) > 0 {
		return true
	}
	config, err := cliconfig.ReadInstallation(cliconfig.AbsolutePaths(w.opts.Environ, w.opts.Dir), w.opts.Dir, "")
	return err != nil || len(config.Overrides) > 0
}

// priorState reads the state. It is false if that is not in a file, or in one that only the engine
// understands.
func (w *Work) priorState() (state engine.State, ok bool) {
	if w.opts.Workspace != "" && environ.Get(w.opts.Environ, initdir.WorkspaceVariable) == "" {
		w.useWorkspace()
	}
	file, err := w.localState()
	if err != nil || file == "" {
		return nil, false
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Stat(filepath.Dir(file)) // a workspace that is not there has to be made
		return nil, err == nil
	}
	if err != nil {
		return nil, false
	}
	_, err = tfstate.Parse(text)
	return text, err == nil
}

// openNative opens a session for the module. It is nil where the module is for the engine.
// Providers and modules that are missing are installed by init.
func (w *Work) openNative(ctx context.Context) (*native.Session, error) {
	for _, initialized := range []bool{false, true} {
		session, missing, err := w.tryNative(ctx)
		if session != nil || err != nil || !missing || initialized {
			return session, err
		}
		if err := w.prepare(ctx); err != nil {
			return nil, err
		}
	}
	return nil, nil //nolint:nilnil // as documented
}

// tryNative opens a session for the module as it is installed now, or says that something may be
// missing.
func (w *Work) tryNative(ctx context.Context) (session *native.Session, missing bool, err error) {
	e, err := native.New(native.Options{
		WorkDir: w.opts.RunDir, SchemaDir: w.engine.SchemaDir, Environ: w.opts.Environ, Dir: w.opts.Dir,
		Resolver: w.installedModules(), Standalone: true, Shared: w.engine.Native,
	})
	if err != nil {
		return nil, false, err
	}
	opened, err := e.Open(ctx, engine.SessionOptions{StackDir: w.opts.Dir})
	if err != nil {
		return nil, false, err
	}
	session = opened.(*native.Session) //nolint:forcetypeassert // as documented
	suits, missing := w.suits(ctx, session)
	if !suits {
		return nil, missing, session.Close()
	}
	return session, false, nil
}

// suits reports whether a session can plan the module, or could if more was installed. It makes the
// packages of providers known to the session.
func (w *Work) suits(ctx context.Context, session *native.Session) (suits, missing bool) {
	tree, diags := session.Tree(w.opts.Dir)
	if tree == nil || len(tree.Root.Backends) > 0 || tree.Root.HasConstants() {
		return false, false
	}
	for _, dir := range tree.Directories() {
		if len(dir.WorkspaceUses) > 0 || len(dir.TofuFiles) > 0 { // of the latter, terraform does not warn
			return false, false
		}
	}
	if diags.HasErrors() {
		return false, len(tree.Faulty) > 0
	}
	for _, node := range tree.Nodes {
		if node.Version != "" && !isAllowed(node.Version, node.Constraint) {
			return false, true
		}
	}
	packages, missing := w.installedPackages(tree.Module)
	if missing {
		return false, true
	}
	prepare := &engine.PrepareRequest{InstallNothing: true, Packages: packages}
	if _, diags := session.Abilities().Preparer.Prepare(ctx, prepare); diags.HasErrors() || session.Assess(ctx, w.opts.Dir) != nil {
		return false, false
	}
	return !session.ValidateModule(ctx, w.opts.Dir).HasErrors(), false
}

// installedPackages returns the packages that init has installed for the module, or that some are
// missing.
func (w *Work) installedPackages(described *engine.Module) (packages []engine.ProviderPackage, missing bool) {
	required := maps.Clone(described.Requirements)
	maps.DeleteFunc(required, func(provider stackaddrs.Provider, _ []string) bool { return provider.IsBuiltin() })
	if len(required) == 0 {
		return nil, false
	}
	locked, diags := locks.Read(filepath.Join(w.opts.Dir, locks.FileName))
	if diags.HasErrors() {
		return nil, true
	}
	dir := packagecache.Dir{Path: filepath.Join(w.dir().DataDir(), "providers"), Platform: release.CurrentPlatform}
	for provider, constraints := range required {
		lock := locked.Provider(provider)
		if lock == nil || slices.ContainsFunc(constraints, func(text string) bool { return !isAllowed(lock.Version.String(), text) }) {
			return nil, true
		}
		found := dir.Package(lock.ID())
		if found == nil {
			return nil, true
		}
		one := engine.ProviderPackage{Provider: provider, Version: lock.Version.String(), Dir: found.Dir}
		for _, hash := range lock.Hashes {
			one.Hashes = append(one.Hashes, string(hash))
		}
		packages = append(packages, one)
	}
	return packages, false
}

// isAllowed reports whether a version meets a constraint as it is written.
func isAllowed(version, constraint string) bool {
	if constraint == "" {
		return true
	}
	allowed, err := versions.MeetingConstraintsStringRuby(constraint)
	if err != nil {
		return false
	}
	parsed, err := versions.ParseVersion(version)
	return err == nil && allowed.Has(parsed)
}

// nativeRequest returns the request for a plan; nil where that is for the engine. The diagnostics
// are warnings about provider configurations.
func (w *Work) nativeRequest(ctx context.Context, session *native.Session, prior engine.State) (*engine.PlanRequest, hcl.Diagnostics) {
	described, _ := session.Module(ctx, w.opts.Dir) //nolint:errcheck // it has none, see suits
	inputs, ok := w.nativeInputs(described.Variables)
	if !ok {
		return nil, nil
	}
	providers, reason, diags := session.RootProviders(ctx, w.opts.Dir, inputs, prior)
	if reason != "" || diags.HasErrors() {
		return nil, nil
	}
	return &engine.PlanRequest{
		Work: "root", ModuleDir: w.opts.Dir, Mode: engine.Normal, Inputs: inputs, Providers: providers,
		PriorState: prior, Timestamp: time.Now().UTC(),
	}, diags
}

// nativeInputs returns the values of variables, in the order in which terraform lets later ones
// win. It is false where the engine has something to say about them.
func (w *Work) nativeInputs(declared map[string]*engine.Variable) (inputs map[string]cty.Value, ok bool) {
	inputs = map[string]cty.Value{}
	for name, variable := range declared {
		text, given := environ.LookUp(w.opts.Environ, variablePrefix+name)
		if !given {
			continue
		}
		if inputs[name], ok = fromEnvironment(variable, text); !ok {
			return nil, false
		}
	}
	files, err := w.valueFiles()
	if err != nil {
		return nil, false
	}
	for _, file := range files {
		values, ok := readValues(file)
		if !ok {
			return nil, false
		}
		for name := range values {
			if declared[name] == nil { // which is a warning
				return nil, false
			}
		}
		maps.Copy(inputs, values)
	}
	for _, input := range w.inputs {
		inputs[input.Name], _ = input.Value.UnmarkDeep() // the declaration says whether it is sensitive
	}
	for name, variable := range declared {
		if _, given := inputs[name]; !given && variable.Required() {
			return nil, false
		}
	}
	return inputs, true
}

// fromEnvironment returns the value that a text in the environment stands for. Without a type, its
// meaning is unknown.
func fromEnvironment(variable *engine.Variable, text string) (value cty.Value, ok bool) {
	switch {
	case variable.Type == cty.DynamicPseudoType:
		return cty.NilVal, false
	case variable.Type.IsPrimitiveType():
		return cty.StringVal(text), true
	}
	expr, diags := safehcl.ParseExpression([]byte(text), variablePrefix+variable.Name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	value, diags = expr.Value(nil)
	return value, !diags.HasErrors()
}

// valueFiles returns the files with values of variables that terraform reads by itself, and those
// that are named.
func (s *Session) valueFiles() ([]string, error) {
	files, err := s.autoFiles()
	for _, file := range s.opts.VarFiles {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.opts.Dir, file)
		}
		files = append(files, file)
	}
	return files, err
}

// readValues reads a file with values of variables. It is false for one in which something is
// wrong.
func readValues(name string) (values map[string]cty.Value, ok bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	file, diags := safehcl.ParseFile(text, name)
	if diags.HasErrors() {
		return nil, false
	}
	attributes, diags := file.Body.JustAttributes()
	if len(diags) > 0 {
		return nil, false
	}
	values = map[string]cty.Value{}
	for name, attribute := range attributes {
		if values[name], diags = attribute.Expr.Value(nil); len(diags) > 0 {
			return nil, false
		}
	}
	return values, true
}

// nativePlan returns a plan of the native engine as that of a stack with nothing but the module.
func nativePlan(result *engine.PlanResult, req *engine.PlanRequest) *stackplan.Plan {
	plan := planOf(req.Mode, req.Timestamp, stackplan.Component{
		Changes: result.Changes, Drift: result.Drift, Checks: result.Checks, Invocations: result.Invocations,
	})
	before := storedBefore(req.PriorState)
	for name, after := range result.Outputs {
		change := &stackplan.OutputChange{Action: stackplan.Update, Before: before[name], After: after}
		bare, _ := after.Unmark()
		switch {
		case change.Before == cty.NilVal && bare.IsKnown() && bare.IsNull(): // the state has no such outputs
			continue
		case change.Before == cty.NilVal:
			change.Action, change.Before = stackplan.Create, cty.NullVal(cty.DynamicPseudoType)
		case change.Before.RawEquals(after):
			change.Action = stackplan.NoOp
		}
		plan.Outputs[name] = change
	}
	for name, value := range before {
		if _, declared := result.Outputs[name]; !declared {
			plan.Outputs[name] = &stackplan.OutputChange{Action: stackplan.Delete, Before: value, After: cty.NullVal(cty.DynamicPseudoType)}
		}
	}
	return plan
}

// storedBefore returns the outputs in a state, as a plan has them.
func storedBefore(prior engine.State) map[string]cty.Value {
	document, err := tfstate.Parse(prior)
	if err != nil {
		return nil
	}
	stored, err := document.Outputs()
	if err != nil {
		return nil
	}
	before := map[string]cty.Value{}
	for name, output := range stored {
		before[name] = output.Value
		if output.Sensitive {
			before[name] = output.Value.Mark(marks.Sensitive)
		}
	}
	return before
}
