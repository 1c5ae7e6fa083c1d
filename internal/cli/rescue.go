// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// rescue keeps what could not be saved, in the first of these places that works: a file beside the stack, one among the user's own files, a
// temporary one, one in memory, where a person says, and at last on the terminal.
type rescue struct {
	*execution
	saver    *deployment.Saver
	state    *stackstate.State
	document []byte
}

// rescueState does so after saving has failed. It reports whether the state is saved after all.
func (o *execution) rescueState(ctx context.Context, cause error, saver *deployment.Saver, state *stackstate.State) (saved bool, diags hcl.Diagnostics) {
	diags = hcl.Diagnostics{problem("State was not saved", "%s", asDiagnostics(cause)[0].Detail)}
	document, err := saver.Document(state, o.secret)
	if err != nil {
		return false, diags.Append(problem("State cannot be encoded", "%s. This is a bug in cairn; please report it.", upperFirst(err.Error())))
	}
	r := &rescue{o, saver, state, document}
	path, err := deployment.WriteRescue(deployment.RescueDirs(), document)
	if err != nil {
		saved, path, err = r.ask(ctx, err)
	}
	switch {
	case saved:
		return true, hcl.Diagnostics{problem("State was saved late", "%s\n\nIt is saved now, with everything that was done, and nothing more was begun. "+
			"Run the command again.", diags[0].Detail)}
	case path != "":
		o.stack().KeepFromGit(ctx, path, operation.RescuePattern)
		diags[0].Detail += savedIn(path)
	case err == nil:
		diags[0].Detail += "\n\nThe newest state, with everything that was done, is printed above, between the lines with BEGIN and END. Copy them with all that is " +
			"between them into a file that only you can read. When the cause is remedied, save it with: cairn state push FILE"
	default:
		diags = diags.Append(r.lost(err))
	}
	return false, diags
}

func savedIn(path string) string {
	fleeting := ""
	if slices.Contains(deployment.MemoryDirs(), filepath.Dir(path)) {
		fleeting = "That file is in memory, and gone when you log out or the machine is restarted. "
	}
	return fmt.Sprintf("\n\nThe newest state, with everything that was done, is in the file %s. %s"+
		"When the cause is remedied, save it with: cairn state push %[1]s", path, fleeting)
}

// ask lets a person decide what becomes of the state, if there is one. It returns whether it is saved, or the file that it is in, or neither and no
// error when it was printed.
//
// What is printed holds sensitive values, which are printed nowhere else. It is for a person alone: never where standard error is no terminal,
// since logs are kept and read by many; packed, so that nobody reads it in passing; and, where someone can be asked, only if they want it. They
// stand before the choice between a secret on their own screen and resources that nobody knows of any more.
func (r *rescue) ask(ctx context.Context, cause error) (saved bool, path string, err error) {
	if !isTerminal(r.streams.Err) || r.options.json {
		return false, "", cause
	}
	if !r.flags.input || !r.inputIsTerminal() {
		return false, "", r.print()
	}
	for {
		r.note("\nThe state could not be saved, and no file could be written: %s.\n\n"+
			"  Free some space and press Enter to try again, or enter a directory on another disk.\n"+
			"  \"print\" prints the state here, packed. It holds all values, also sensitive ones.\n\n", reason(cause))
		answer, err := r.session.ask(ctx, "  Enter a value: ", false)
		if err != nil {
			return false, "", errors.Join(cause, err)
		}
		dirs := []string{strings.TrimSpace(answer)}
		switch dirs[0] {
		case "print":
			return false, "", r.print()
		case "":
			if err := r.saver.Finish(ctx); err == nil {
				return true, "", nil
			}
			dirs = deployment.RescueDirs()
		}
		if path, cause = deployment.WriteRescue(dirs, r.document); cause == nil {
			return false, path, nil
		}
	}
}

// lost says that the state is in no place of its own, and where else it is.
func (r *rescue) lost(cause error) *hcl.Diagnostic {
	kept := tfengine.Interrupted(r.runs, r.secret)
	var only, nowhere []string
	for _, component := range r.saver.Unsaved() {
		switch {
		case !r.changed(component): // nor are values of the root, which the next apply finds out again
		case slices.Contains(kept, component):
			only = append(only, component)
		default:
			nowhere = append(nowhere, component)
		}
	}
	if len(nowhere) == 0 && !r.saver.Lost() && len(only) > 0 {
		return problem("State is only in the working directory", "The state could not be written to another file either: %s.\n\n"+
			"Nothing is lost: what was done to %s is in the directory %s, and the next plan, apply or destroy takes it from there when there is space. "+
			"Do not delete that directory before.", reason(cause), strings.Join(only, ", "), r.runs)
	}
	detail := fmt.Sprintf("The state could not be written to a file either: %s.", reason(cause))
	if len(nowhere) > 0 {
		detail += fmt.Sprintf("\n\nWhat was done to %s is recorded nowhere: look at what really exists before you plan again.", strings.Join(nowhere, ", "))
	}
	if len(only) > 0 {
		detail += fmt.Sprintf("\n\nWhat was done to %s is in the directory %s, and the next plan, apply or destroy takes it from there when there is space. "+
			"Do not delete that directory before.", strings.Join(only, ", "), r.runs)
	}
	return problem("State is lost", "%s", detail)
}

// changed reports whether something was done to the objects of a component.
func (r *rescue) changed(component string) bool {
	addr, err := stackaddrs.ParseAbsComponentInstance(component)
	if err != nil {
		return false
	}
	var before, after engine.State
	if c := r.stored.State.Components[addr]; c != nil {
		before = c.Module
	}
	if c := r.state.Components[addr]; c != nil {
		after = c.Module
	}
	doc, err := tfstate.Parse(after)
	return !bytes.Equal(before, after) && (len(before) > 0 || err != nil || doc.HasObjects())
}

// print writes the packed state to standard error.
func (r *rescue) print() error {
	packed, err := deployment.Pack(r.document)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.streams.Err, "\n%s\n", packed)
	return err
}
