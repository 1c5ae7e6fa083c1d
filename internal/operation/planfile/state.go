// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

// StateVersion is a version of a state, and where that is kept.
type StateVersion struct {
	File    string // as [StatePlace] returns it; "" if it is in none, or if that is not known
	Lineage string // "" if there is no state yet
	Serial  uint64
}

// StatePlace returns the absolute path of a file, with links to its directory followed, so that it
// is the same for all programs that name it; "" for none.
func StatePlace(file string) string {
	if file == "" {
		return ""
	}
	if absolute, err := filepath.Abs(file); err == nil {
		file = absolute
	}
	if resolved, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(resolved, filepath.Base(file))
	}
	return file
}

// Check returns why a plan that was made with a version of a state cannot be applied to the one
// that there is now; nil if it can.
//
// A state is known by its lineage, in whichever file it is. Before the first apply there is no
// lineage, and only the file says which state is meant: in another one, as next to another
// checkout, a second state of the same things would begin. So a file that is not known to be the
// same by then is refused.
//
// The diagnostic has the fault [fault.StalePlan], or the code [CodeOtherState] if another state is
// in reach.
func (made StateVersion) Check(now StateVersion) *hcl.Diagnostic {
	elsewhere := made.isElsewhere(now)
	switch {
	case elsewhere && made.Lineage == "" && now.Lineage == "":
		return otherState("State in another place", "This plan was made %s, and from here it would be in %s. Before the first apply nothing "+
			"but the path says which state is meant, and two checkouts must not begin one each. Nothing was done. Apply the plan in the checkout "+
			"in which it was made, or keep the state where both checkouts reach it by the same path, and plan again. Once the state exists it is "+
			"known wherever it is.", made.describe(), now.File)
	case elsewhere && made.Lineage != now.Lineage:
		return otherState("State in another place", "This plan was made %s, and from here the state is in %s, %s. Nothing was done. "+
			"Apply the plan in the checkout in which it was made, or make this one use the same state; or make a new plan.", made.describe(),
			now.File, made.describeOther(now))
	case made.Lineage == "" && now.Lineage != "":
		return Stale("There was no state when this plan was made, and now there is one at serial %d: "+
			"this plan was applied already, or something else was. Nothing was done. Make a new plan.", now.Serial)
	case made.Lineage != "" && now.Lineage == "":
		return otherState("Plan for another state", "This plan was made %s, and there is none%s. "+
			"Nothing was done. Use the state that the plan was made with, or make a new plan.", made.describe(), inFile(now.File))
	case made.Lineage != now.Lineage:
		return otherState("Plan for another state", "This plan was made %s, and the state%s has lineage %s. "+
			"Nothing was done. Use the state that the plan was made with, or make a new plan.", made.describe(), inFile(now.File), now.Lineage)
	case made.Serial != now.Serial:
		return Stale("The state has changed since this plan was made: it is at serial %d, and the plan was made at serial %d. "+
			"Nothing was done. Make a new plan.", now.Serial, made.Serial)
	}
	return nil
}

// isElsewhere reports whether a version is in another file than one that is in reach. An unknown
// file is no reason.
func (made StateVersion) isElsewhere(now StateVersion) bool {
	return made.File != "" && now.File != "" && made.File != now.File && !sameFile(made.File, now.File)
}

// sameFile reports whether two paths are those of one file, as on a disk that is mounted at two
// places. Neither file need exist.
func sameFile(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	dirA, errA := os.Stat(filepath.Dir(a))
	dirB, errB := os.Stat(filepath.Dir(b))
	return errA == nil && errB == nil && os.SameFile(dirA, dirB)
}

// describe names the state that a plan was made with.
func (made StateVersion) describe() string {
	if made.Lineage == "" {
		return "for the first apply of a state" + inFile(made.File)
	}
	return "with the state of lineage " + made.Lineage + inFile(made.File)
}

// describeOther describes the state that is in the place of that of a plan.
func (made StateVersion) describeOther(now StateVersion) string {
	switch {
	case now.Lineage == "":
		return "where there is none"
	case made.Lineage == "":
		return fmt.Sprintf("where there is one already, at serial %d", now.Serial)
	default:
		return "which is another one, of lineage " + now.Lineage
	}
}

func inFile(file string) string {
	if file == "" {
		return ""
	}
	return " in " + file
}

func otherState(summary, detail string, args ...any) *hcl.Diagnostic {
	return failure.With(CodeOtherState, failure.New(summary, detail, args...))
}
