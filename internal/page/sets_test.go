// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/page/reading"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// newSet makes a set of such units for an empty workspace file. Its plan files are no plans.
func newSet(t testing.TB, units ...planset.Unit) *planset.Set {
	t.Helper()
	set, err := planset.Create(t.Context(), filepath.Join(t.TempDir(), "plans"), "key", nil)
	if err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), format.File)
	err = os.WriteFile(empty, nil, 0o600)
	if err == nil {
		set.Workspace, err = planset.HashWorkspace(empty)
	}
	set.Created = time.Now()
	for i, unit := range units {
		err = errors.Join(err, os.WriteFile(set.PlanFile(i), []byte("no plan"), 0o600), set.Add(i, unit))
	}
	if err = errors.Join(err, set.Finish()); err != nil {
		t.Fatal(err)
	}
	return set
}

func newSetSite(t testing.TB, dir string, units ...*fleet.Unit) *site {
	t.Helper()
	return newSiteWith(t, nil, reading.Options{Sets: []string{dir}}, units...).enter()
}

// Names in a set are shown as text (rule P4), and lead to nothing outside of it.
func TestHostileSet(t *testing.T) {
	evil := "<script>alert(1)</script>\u202e\x1b[31m\" onclick=\"alert(2)"
	hostile := planset.Unit{
		Name: evil, Kind: evil, Path: "../../" + evil, Deployment: evil, After: []string{evil}, Changes: true, Counts: &stackplan.Counts{Add: 1},
	}
	set := newSet(t, hostile)
	set.MadeBy, set.CairnVersion, set.Commit, set.Tree = evil, evil, evil, evil
	if err := set.Finish(); err != nil {
		t.Fatal(err)
	}
	for name, units := range map[string][]*fleet.Unit{"listed": {newStack(t, evil)}, "gone": nil} {
		t.Run(name, func(t *testing.T) {
			s := newSetSite(t, set.Dir, units...)
			markup := regexp.MustCompile(`<script>|\x1b|\x{202e}|onclick="alert`)
			for path, want := range map[string]int{
				"/": http.StatusOK, "/set?set=1": http.StatusOK, "/plan?set=1&of=" + url.QueryEscape(evil): http.StatusInternalServerError,
				"/set?set=2": http.StatusNotFound, "/set?set=../1": http.StatusNotFound, "/plan?set=1&of=..%2F..%2Fx": http.StatusNotFound,
			} {
				got := s.get(path)
				if found := markup.FindString(got.Body.String()); got.Code != want || found != "" {
					t.Errorf("%s: %d, with %q in\n%s", path, got.Code, found, got.Body)
				}
			}
			body := s.get("/set?set=1").Body.String()
			if isGone := strings.Contains(body, "Incomplete set of plans"); isGone != (name == "gone") || !strings.Contains(body, "&lt;script&gt;") {
				t.Errorf("the page of the set is\n%s", body)
			}
		})
	}
}

// A set that is not as it was written says so on its page, with all that is wrong.
func TestDamagedSet(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(set *planset.Set) error
		want   []string
	}{
		"plans": {
			func(set *planset.Set) error {
				return errors.Join(os.Remove(set.PlanFile(0)), os.WriteFile(set.PlanFile(1), []byte("other"), 0o600))
			},
			[]string{"Missing plan file: The plan of net is not in the set any more", "Altered plan file: The plan of app"},
		},
		"index": {
			func(set *planset.Set) error {
				return os.WriteFile(filepath.Join(set.Dir, "index.json"), []byte("<b>"), 0o600)
			},
			[]string{"Damaged set of plans: The file index.json"},
		},
		"version": {
			func(set *planset.Set) error {
				set.FormatVersion, set.CairnVersion = 7, "<b>9</b>"
				return set.Finish()
			},
			[]string{"Set of plans from another version", "&lt;b&gt;9"},
		},
		"progress": {
			func(set *planset.Set) error {
				return set.SetProgress(map[string]planset.Progress{"other": planset.Done})
			},
			[]string{"Damaged set of plans: The file progress.json"},
		},
		"place of a plan": {
			func(set *planset.Set) error {
				set.Units[0].Plan = "../../secret"
				return set.Finish()
			},
			[]string{"The index names a plan of net outside of the set"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet(t, planset.Unit{Name: "net"}, planset.Unit{Name: "app"})
			if err := test.damage(set); err != nil {
				t.Fatal(err)
			}
			s := newSetSite(t, set.Dir)
			for _, path := range []string{"/", "/set?set=1"} {
				got := s.get(path)
				for _, want := range test.want {
					if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), want) {
						t.Errorf("%s: %d, without %q:\n%s", path, got.Code, want, got.Body)
					}
				}
			}
			if got := s.get("/plan?set=1&of=net"); got.Code != http.StatusInternalServerError {
				t.Errorf("a plan of it: %d", got.Code)
			}
		})
	}
}

// The overview has the numbers of a large set from its index: the plans are not decoded. Its page
// has a part of it, destructions first.
func TestLargeSet(t *testing.T) {
	units := make([]planset.Unit, 500)
	listed := make([]*fleet.Unit, len(units))
	dir := newStack(t, "stack").Dir
	for i := range units {
		name := fmt.Sprintf("u%03d", i)
		units[i] = planset.Unit{Name: name, Kind: "stack", Changes: true, Counts: &stackplan.Counts{Add: 2}}
		listed[i] = &fleet.Unit{Name: name, Kind: rollout.Components, Dir: dir, Directory: name, Deployment: name}
	}
	units[470].Counts = &stackplan.Counts{Add: 1, Remove: 1}
	s := newSetSite(t, newSet(t, units...).Dir, listed...)
	overview := s.get("/").Body.String()
	for _, want := range []string{"999 to add, 0 to change, 1 to destroy", ">500</td>", ">not applied yet<"} {
		if !strings.Contains(overview, want) {
			t.Errorf("the overview does not have %q", want)
		}
	}
	body := s.get("/set?set=1").Body.String()
	first, second := strings.Index(body, ">u470<"), strings.Index(body, ">u000<")
	if first < 0 || second < first || strings.Contains(body, ">u100<") || !strings.Contains(body, "500 found, 1 to 100 shown") ||
		!strings.Contains(body, "100 plans on this page cannot be applied any more") {
		t.Errorf("the first page of the set is\n%.6000s", body)
	}
	if body := s.get("/set?set=1&page=5").Body.String(); !strings.Contains(body, ">u499<") || strings.Contains(body, ">u470<") {
		t.Errorf("the last page of the set is\n%.6000s", body)
	}
	if body := s.get("/set?set=1&q=U042").Body.String(); !strings.Contains(body, ">u042<") || !strings.Contains(body, "1 found") {
		t.Errorf("a search finds\n%.6000s", body)
	}
}
