// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/page/model"
)

const (
	// pollInterval is how often a state is asked whether something has happened. No store tells of it
	// by itself.
	pollInterval = time.Second

	// beat is how often a stream says that it is there, so that a browser that has gone is noticed.
	beat = 15 * time.Second
)

// events answers with a stream of events: one for each change of what goes on in a deployment, with
// a sentence about it. The browser then asks for the page again, which has all of it.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	u, err := s.opts.Repository.Unit(r.Context(), r.URL.Query().Get("unit"))
	if err != nil {
		http.Error(w, "There is no such deployment.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	last, first := "", true
	quiet := time.Now()
	for {
		now, err := s.opts.Repository.Version(r.Context(), u)
		if err == nil {
			now += s.approvals.text(u.Name)
		}
		switch {
		case err == nil && now != last:
			if !first {
				s.opts.Repository.Forget()
			}
			text := s.approvals.text(u.Name)
			if progress, err := s.opts.Repository.Progress(r.Context(), u, model.Unit{}); err == nil && text == "" {
				text = progress.Summary()
			}
			_, err = fmt.Fprintf(w, "event: change\ndata: %s\n\n", strings.ReplaceAll(text, "\n", " "))
			last, first, quiet = now, false, time.Now()
		case time.Since(quiet) > beat:
			_, err = fmt.Fprint(w, ": still here\n\n")
			quiet = time.Now()
		}
		if err != nil || stream.Flush() != nil {
			return // the stream is opened again, or nobody is there
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(pollInterval):
		}
	}
}
