// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// rescue keeps an unsaved state in the first of these places that works: a file next to the stack,
// one among the user's own files, a temporary one, one in memory, and the caller's choice.
type rescue struct {
	run      *run
	saver    *deployment.Saver
	state    *stackstate.State
	document []byte
}

// rescueState does so after saving has failed. It reports whether the state is saved after all.
func (r *run) rescueState(ctx context.Context, cause error, saver *deployment.Saver,
	state *stackstate.State,
) (saved bool, diags hcl.Diagnostics) {
	diags = hcl.Diagnostics{failure.New("State not saved", "%s", Diagnostics(cause)[0].Detail)}
	document, err := saver.Document(state, r.recovery.secret)
	if err != nil {
		return false, diags.Append(failure.New("State encoding failed", "%s. This is a bug in cairn; please report it.",
			failure.Capitalize(err.Error())))
	}
	if document, err = r.sealRescued(ctx, document); err != nil {
		return false, diags.Extend(Diagnostics(err))
	}
	s := &rescue{r, saver, state, document}
	path, err := deployment.WriteRescue(deployment.RescueDirs(), document)
	if err != nil {
		saved, path, err = s.ask(ctx, err)
	}
	switch {
	case saved:
		return true, hcl.Diagnostics{failure.New("State saved late", "%s\n\nIt is saved now, with everything that was done, and nothing more "+
			"was begun. Run the command again.", diags[0].Detail)}
	case path != "":
		r.stack.states.Ignored().AddRescued(ctx, path)
		diags[0].Detail += savedIn(path)
		diags[0].Extra = fault.Named{Code: CodeRescued, Names: []string{path}}
	case err == nil:
		diags[0].Detail += "\n\nThe newest state, with everything that was done, is printed above, between the lines with BEGIN and END. Copy " +
			"them with all that is between them into a file that only you can read. When the cause is remedied, make it the state again."
		diags[0].Extra = fault.Named{Code: CodeRescued, Names: []string{"FILE"}}
	default:
		diags = diags.Append(s.lost(err))
	}
	return false, diags
}

// sealRescued encrypts a document if that is demanded. The key for it is there since the state was
// locked.
func (r *run) sealRescued(ctx context.Context, document []byte) ([]byte, error) {
	keys, err := r.stack.env.Keys()
	if err != nil {
		return nil, err
	}
	return keys.SealFile(context.WithoutCancel(ctx), encryption.RescueFile, document)
}

func savedIn(path string) string {
	fleeting := ""
	if slices.Contains(deployment.MemoryDirs(), filepath.Dir(path)) {
		fleeting = "That file is in memory, and gone when you log out or the machine is restarted. "
	}
	return fmt.Sprintf("\n\nThe newest state, with everything that was done, is in the file %s. %s"+
		"When the cause is remedied, make it the state again.", path, fleeting)
}

// ask lets the caller decide about the state. It returns whether it is saved, or the file that it
// is in, or neither and no error when it was printed.
func (s *rescue) ask(ctx context.Context, cause error) (saved bool, path string, err error) {
	if s.run.caller.Rescue == nil {
		return false, "", cause
	}
	for {
		choice, err := s.run.caller.Rescue(ctx, cause, s.document)
		if err != nil {
			return false, "", err
		}
		dirs := []string{choice.Dir}
		switch {
		case choice.Printed:
			return false, "", nil
		case choice.Retry:
			if err := s.saver.Finish(ctx); err == nil {
				return true, "", nil
			}
			dirs = deployment.RescueDirs()
		}
		if path, cause = deployment.WriteRescue(dirs, s.document); cause == nil {
			return false, path, nil
		}
	}
}

// lost says that the state is in no place of its own, and where else it is.
func (s *rescue) lost(cause error) *hcl.Diagnostic {
	session, secret := s.run.stack.opened.session, s.run.recovery.secret
	kept, _ := engines.KeptBy(context.Background(), session, secret) //nolint:errcheck // components that it cannot list are in no known place
	var only, nowhere []string
	for _, component := range s.saver.Unsaved() {
		switch {
		case !s.changed(component): // nor are values of the root, which the next apply finds out again
		case slices.Contains(kept, component):
			only = append(only, component)
		default:
			nowhere = append(nowhere, component)
		}
	}
	if len(nowhere) == 0 && !s.saver.Lost() && len(only) > 0 {
		return failure.New("State only in working directory", "The state could not be written to another file either: %s.\n\n"+
			"Nothing is lost: the changes to %s are recorded in the directory %s, and the next plan, apply or destroy takes them from there when "+
			"there is space. "+
			"Do not delete that directory before.", failure.Reason(cause), strings.Join(only, ", "), s.run.recovery.runs)
	}
	detail := fmt.Sprintf("The state could not be written to a file either: %s.", failure.Reason(cause))
	if len(nowhere) > 0 {
		detail += fmt.Sprintf("\n\nThe changes to %s are recorded nowhere: look at the objects that really exist before you plan "+
			"again.", strings.Join(nowhere, ", "))
	}
	if len(only) > 0 {
		detail += fmt.Sprintf("\n\nWhat was done to %s is in the directory %s, and the next plan, apply or destroy takes it from there when "+
			"there is space. Do not delete that directory before.", strings.Join(only, ", "), s.run.recovery.runs)
	}
	return failure.New("State lost", "%s", detail)
}

// changed reports whether something was done to the objects of a component.
func (s *rescue) changed(component string) bool {
	addr, err := stackaddrs.ParseAbsComponentInstance(component)
	if err != nil {
		return false
	}
	var before, after engine.State
	if c := s.run.stored.State.Components[addr]; c != nil {
		before = c.Module
	}
	if c := s.state.Components[addr]; c != nil {
		after = c.Module
	}
	doc, err := tfstate.Parse(after)
	return !bytes.Equal(before, after) && (len(before) > 0 || err != nil || doc.HasObjects())
}
