// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/deployments/identity"
	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/gone"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/internal/operation/stored"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// remedies are the remedies for failures on the command line, besides those in their details:
// libraries know no options and no commands. Verbs stand for the names of a [fault.Named], which
// are quoted for a shell.
var remedies = map[fault.Code]string{
	sources.CodeNoStack: `Or name it with -chdir=DIR. ` +
		`In an empty directory, "cairn init -new" writes a small stack to begin with.`,
	sources.CodeStackAbove:       "Or name it with -chdir=DIR.",
	sources.CodeWorkDirAndLocks:  `The option -chdir=DIR names the directory of a copy. "cairn init" completes lock files.`,
	config.CodeNoKey:             `"cairn worker keys" makes keys.`,
	sources.CodeWorkDir:          "The option -chdir=DIR names the directory of a copy.",
	engines.CodeUntrusted:        "Or give the option -engine.",
	sources.CodeDeploymentName:   "It is given by -deployment or " + env.DeploymentVariable + ".",
	operation.CodeDoubt:          `The option -accept-recovery does that; "cairn state import" takes over another state.`,
	operation.CodeNewDoubt:       `The option for that is -accept-recovery; "cairn state import" takes over another state.`,
	operation.CodeForeignWork:    `"cairn state import %s %s" does that.`,
	operation.CodeRescued:        `"cairn state push %s" does that.`,
	operation.CodeRecoveredDoubt: "When you have, give -accept-recovery: nothing else is applied before that.",
	operation.CodeWaiting:        `"cairn apply FILE" does that.`,
	statechange.CodeNoBlock:      "Or give -force.",
	operation.CodePartial:        "Leave out -target and -exclude for that.",
	encryption.CodeClearState:    `"cairn state rekey" does that.`,
	statechange.CodeInterrupted:  `Run "cairn plan", and then this command again.`,
	identity.CodeSeveralIssuers:  "It is named by -issuer=URL.",
	deployment.CodeLeftLocked:    `"cairn state unlock %s" does that.`,
	deployment.CodeOccupied:      `"cairn state rm %s" does the latter.`,
	deployment.CodeNotDocument:   `"cairn state pull" writes one.`,
	identity.CodeNoKey:           `"cairn identity key %s" makes one.`,
	deployment.CodeLocked:        "With -lock-timeout=5m the command waits for the lock.",
	deployment.CodeNotInState:    `"cairn state list" shows its content.`,
	deployment.CodeNotPushed:     "If the file is to replace the state nevertheless, use -force.",
	gitdiff.CodeNoBase:           "A base is named with -base=REF.",
	gitdiff.CodeNoRepository:     "Or leave out -changed.",
	gone.CodeNeeded:              "Or leave the former out with -query.",
	planfile.CodeNotFound:        `Make one with: cairn plan -out=FILE`,
	planfile.CodeNotPlan:         `Give a file that "cairn plan -out=FILE" has written.`,
	deployment.CodeReadOnly:      "With -state=PATH the state is kept elsewhere.",
	planfile.CodeOtherDeployment: "It is named with -deployment or " + env.DeploymentVariable + ".",
	planfile.CodeOtherState: "A place that several checkouts reach is named by state \"sqlite\" { path = \"FILE\" } in " +
		settings.File + ", or by " + env.StateVariable + ".",
	stored.CodeLeftDeployment:      takenFromGit,
	sources.CodeNotDeclared:        takenFromGit,
	sources.CodeSeveralDeployments: "It is named with -deployment=NAME or " + env.DeploymentVariable + ".",

	fault.ProviderNotLocked:     `"cairn init" does that.`,
	fault.ProviderNotInstalled:  `"cairn init" installs it.`,
	fault.ProviderDamaged:       `"cairn init" installs it again.`,
	fault.LockFileUnusable:      `"cairn init" writes the file.`,
	fault.SourceNotPrepared:     `"cairn init" fetches it.`,
	fault.LockedVersionRejected: `"cairn init -upgrade" does the latter.`,
	fault.PackageNotLocked:      `"cairn providers lock" does that.`,
	fault.SourceLocked:          `"cairn init -upgrade" locks the present content.`,
	fault.TargetUnknown:         "It is given by -target.",
	fault.ExcludeUnknown:        "It is given by -exclude.",
	fault.InvokeUnknown:         "It is given by -invoke.",
	fault.MoveBlocked:           `"cairn state mv" and "cairn state rm" do that.`,
	fault.LeftOver:              `Without a block, "cairn state mv" gives it another address at once.`,
	fault.ImportUndeclared:      `"cairn plan -generate-config-out=FILE" does that.`,
	fault.ImportMisplaced:       `"cairn state import component.NAME FILE" does that.`,
	fault.QueryUnsupported:      "The native engine can: -engine=native chooses it.",
	fault.StorageMisplaced:      "Use " + settings.File + `, with a block like state "sqlite" { path = "FILE" }.`,
}

// takenFromGit is another remedy for a deployment whose block was deleted.
const takenFromGit = `Or, if there is a workspace file that names the stack, ` +
	`"cairn run destroy -gone -base=REF" destroys it with its block from git, where REF is a commit that has both.`

// withRemedies adds the remedies to diagnostics of which there are some.
func withRemedies(diags hcl.Diagnostics) hcl.Diagnostics {
	for i, diag := range diags {
		if remedy := remedyOf(diag); remedy != "" {
			remedied := *diag
			remedied.Detail += " " + remedy
			diags[i] = &remedied
		}
	}
	return diags
}

func remedyOf(diag *hcl.Diagnostic) string {
	if named, ok := hcl.DiagnosticExtra[fault.Named](diag); ok {
		return namedRemedy(named)
	}
	if code := engine.FaultOf(diag); code != "" {
		return remedies[code]
	}
	if needed, ok := hcl.DiagnosticExtra[fault.Value](diag); ok {
		return valueRemedy(needed)
	}
	if unread, ok := hcl.DiagnosticExtra[variables.Unread](diag); ok {
		return fmt.Sprintf("If the values are meant, give -var-file=%s, or set %s.", strings.Join(unread, " -var-file="), variables.FilesVariable)
	}
	cause, ok := hcl.DiagnosticExtra[failure.Cause](diag)
	if !ok {
		return ""
	}
	if named, ok := fault.OfError(cause.Err).(fault.Named); ok {
		return namedRemedy(named)
	}
	var tooOld *toolchain.TooOldError
	var unaccepted *toolchain.UnacceptedError
	switch {
	case errors.As(cause.Err, &tooOld):
		return fmt.Sprintf("Install a newer one, for example with \"cairn engine install %s\", or name another binary with -engine, %s or in %s.",
			tooOld.Info.Name, engines.Variable, settings.File)
	case !errors.As(cause.Err, &unaccepted):
		return ""
	case unaccepted.Requirement.Place != settings.VersionFile:
		return installRemedy(unaccepted)
	}
	return installRemedy(unaccepted) + " " + overrideRemedy(unaccepted)
}

// namedRemedy returns the remedy for a fault with names.
func namedRemedy(named fault.Named) string {
	text := remedies[named.Code]
	if named.Code == toolchain.CodeNotInstalled {
		return installsRemedy(named.Names)
	}
	if text == "" || len(named.Names) == 0 {
		return text
	}
	words := make([]any, len(named.Names))
	for i, name := range named.Names {
		words[i] = quoteArgument(name)
	}
	return fmt.Sprintf(text, words...)
}

// installsRemedy names the commands that install programs, each with or without a constraint.
func installsRemedy(programs []string) string {
	commands := make([]string, 0, len(programs))
	for _, program := range programs {
		name, constraint, limited := strings.Cut(program, " ")
		if limited {
			name += " " + quoteArgument(constraint)
		}
		commands = append(commands, fmt.Sprintf("%q", "cairn engine install "+name))
	}
	return cmp.Or(strings.Join(commands, " or "), `"cairn engine install"`) + " installs one."
}

// valueRemedy names the ways to give a variable a value.
func valueRemedy(needed fault.Value) string {
	remedy := fmt.Sprintf("Set it with -var=%[1]s=..., in a file given by -var-file, or in the environment as TF_VAR_%[1]s.", needed.Variable)
	switch {
	case needed.Given && needed.Fleeting:
		remedy = fmt.Sprintf("Set it with -var=%s=....", needed.Variable)
	case needed.Given:
		remedy = fmt.Sprintf("Set it with -var=%s=... or in a file given by -var-file, after other files that have it.", needed.Variable)
	case needed.Fleeting:
		remedy = fmt.Sprintf("Set it with -var=%[1]s=... or TF_VAR_%[1]s.", needed.Variable)
	}
	if needed.Plannable {
		remedy += ` The option -out=FILE of "cairn plan" saves a plan.`
	}
	return remedy
}

// installRemedy names the command that installs an accepted version.
func installRemedy(unaccepted *toolchain.UnacceptedError) string {
	required := unaccepted.Requirement
	if required.Invalid != "" {
		return "Correct the file."
	}
	program := cmp.Or(required.Program, unaccepted.Info.Name)
	return fmt.Sprintf("Install such a version with \"cairn engine install %s %s\", or change the requirement there.",
		program, quoteArgument(required.Constraint.String()))
}

// overrideRemedy names the way to use a binary that the version file does not accept.
func overrideRemedy(unaccepted *toolchain.UnacceptedError) string {
	return fmt.Sprintf("To use %s %s all the same, name it: -engine=%[1]s, %[3]s=%[1]s in the environment, "+
		"or engine { binary = %[1]q } in %[4]s.",
		unaccepted.Info.Name, unaccepted.Info.Version, engines.Variable, settings.File)
}

// quoteArgument quotes an argument for a shell where it has to be.
func quoteArgument(text string) string {
	if strings.ContainsAny(text, " <>~!=\"'[]*?$&;|()`\\") {
		return cmdline.ShellQuote(text)
	}
	return text
}
