// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

import (
	"net/http"
	"strconv"
	"time"

	"github.com/cairnstacks/cairn/internal/page/model"
)

// setNumber returns the number of the set that a request is about.
func setNumber(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("set")) //nolint:errcheck // there is no such set then
	return n
}

// set is the page of a set, with the plans on this page compared with their stacks.
func (s *Server) set(r *http.Request) (view, error) {
	set, err := s.opts.Repository.Set(r.Context(), setNumber(r))
	if err != nil {
		return view{}, err
	}
	page := model.NewSet(set, queryOf(r), time.Now())
	if unchecked := page.Unchecked(); len(unchecked) > 0 {
		page.AddFits(s.opts.Repository.Fits(r.Context(), set, unchecked))
	}
	return view{Title: "Set of plans " + page.Directory, Page: page}, nil
}

// setPlan is the page of the plan of a unit of a set.
func (s *Server) setPlan(r *http.Request) (view, error) {
	plan, set, err := s.opts.Repository.SetPlan(r.Context(), setNumber(r), r.URL.Query().Get("of"))
	if err != nil {
		return view{}, err
	}
	page := model.NewPlan(plan, queryOf(r))
	unit := set.Set.Unit(plan.Name)
	page.File, page.Set = model.Text(unit.Plan), &model.SetLink{Number: set.Number, Directory: model.Text(set.Dir)}
	if unit.Module != nil {
		page.Engine = model.Text(unit.Module.Engine)
	}
	return view{Title: "Plan of " + model.Text(unit.Name), Page: page}, nil
}
