// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/page/model"
	"github.com/cairnstacks/cairn/internal/page/reading"
	"github.com/cairnstacks/cairn/internal/show/picture"
	"github.com/cairnstacks/cairn/internal/show/stackpicture"
)

//go:embed assets
var assets embed.FS

// Options are the parameters of [Listen].
type Options struct {
	Repository *reading.Repository

	// Address is where the server listens: a loopback address with a port, 0 for a free one.
	Address string

	// Approve applies a plan of a unit that waits for approval, after asking whoever may allow it. It
	// runs for one unit at a time.
	Approve func(ctx context.Context, a Approval) error

	Log *slog.Logger
}

// Approval is a plan that somebody has looked at, and wants to be applied.
type Approval struct {
	Unit overview.Unit
	Plan string // its identity: the file may have another one by now

	Asking, Applying func() // tell that somebody is asked, and that it is applied
}

// Server serves pages. Made by [Listen].
type Server struct {
	opts      Options
	guard     *guard
	listener  net.Listener
	templates map[string]*template.Template
	approvals *approvals
}

// ErrNotLoopback is of an address that other machines could reach.
var ErrNotLoopback = errors.New("the address is none of this machine alone: give 127.0.0.1, [::1] or localhost with a port")

// Listen listens at the address. Nothing is served yet.
//
// Errors: [ErrNotLoopback]; others if the address cannot be used.
func Listen(ctx context.Context, opts Options) (*Server, error) {
	host, port, err := net.SplitHostPort(opts.Address)
	if err != nil {
		return nil, err
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, ErrNotLoopback
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	shown, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if net.ParseIP(shown).To4() == nil {
		shown = "[" + shown + "]"
	}
	s := &Server{opts: opts, guard: newGuard(shown, port), listener: listener, approvals: newApprovals()}
	s.templates, err = parseTemplates()
	return s, err
}

// URL is the address for the user, with the token: that of the first plan file or set that was
// named, if there is one.
func (s *Server) URL() string {
	at := url.URL{Scheme: "http", Host: s.listener.Addr().String(), Path: "/"}
	query := url.Values{"token": {s.guard.token}}
	switch {
	case len(s.opts.Repository.PlanFiles()) > 0:
		at.Path = "/plan"
		query.Set("file", "1")
	case len(s.opts.Repository.SetNames()) > 0:
		at.Path = "/set"
		query.Set("set", "1")
	}
	at.RawQuery = query.Encode()
	return at.String()
}

const (
	headerTimeout   = 10 * time.Second
	mostHeader      = 64 << 10
	shutdownTimeout = time.Second
)

// Serve serves until ctx ends. An apply that goes on then is interrupted, and waited for.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: mostHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }, // which ends streams of events
	}
	s.approvals.serve(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }() // until Shutdown or Close below
	select {
	case err := <-ended:
		s.approvals.wait()
		return err
	case <-ctx.Done():
	}
	within, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer stop()
	if err := server.Shutdown(within); err != nil {
		_ = server.Close() //nolint:errcheck // the program ends
	}
	s.approvals.wait()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler is that of all pages.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page("overview", s.overview))
	mux.HandleFunc("GET /stack", s.page("stack", s.stack))
	mux.HandleFunc("GET /graph.svg", s.picture)
	mux.HandleFunc("GET /objects", s.page("objects", s.objects))
	mux.HandleFunc("GET /plan", s.page("plan", s.plan))
	mux.HandleFunc("GET /set", s.page("set", s.set))
	mux.HandleFunc("GET /history", s.page("history", s.history))
	mux.HandleFunc("GET /change", s.page("change", s.change))
	mux.HandleFunc("GET /blame", s.page("blame", s.blame))
	mux.HandleFunc("GET /progress", s.page("progress", s.progress))
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /approve", s.approve)
	mux.HandleFunc("GET /assets/style.css", s.asset("style.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /assets/page.js", s.asset("page.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /", s.page("error", func(*http.Request) (view, error) { return view{}, reading.ErrNotFound }))
	return s.guard.wrap(mux)
}

// view is the data of a template.
type view struct {
	Title string
	Page  any
	Unit  *model.Unit // whose page it is; nil for none
	Plans []string    // plan files that were named
	Sets  []string    // sets that were named
	Form  string      // token of forms
	Path  string      // of the page, for its form with a search
	Query url.Values
	Now   string
	Error string
	Asked string // how an approval stands
}

// Link returns the path of a page of the list with the same search.
func (v view) Link(page int) string {
	query := url.Values{}
	for name, values := range v.Query {
		query[name] = values
	}
	query.Set("page", strconv.Itoa(page))
	return v.Path + "?" + query.Encode()
}

// page answers with a template.
func (s *Server) page(name string, look func(*http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := look(r)
		status := http.StatusOK
		used := name
		if err != nil {
			used, status = "error", http.StatusInternalServerError
			v.Title, v.Error = "Not available", model.Text(failure.Reason(err))
			for _, diag := range operation.Diagnostics(err) {
				v.Title, v.Error = model.Text(diag.Summary), model.Text(diag.Detail)
				break
			}
			if errors.Is(err, reading.ErrNotFound) {
				status, v.Title, v.Error = http.StatusNotFound, "Not found", "There is no such page, or what it was about is gone."
			}
		}
		v.Form, v.Path, v.Query, v.Plans = s.guard.form, r.URL.Path, r.URL.Query(), s.opts.Repository.PlanFiles()
		v.Sets = s.opts.Repository.SetNames()
		v.Now = model.NewTime(time.Now()).Shown
		var b bytes.Buffer
		if err := s.templates[used].ExecuteTemplate(&b, "layout", v); err != nil {
			s.opts.Log.Error("page", "name", used, "error", err)
			http.Error(w, "The page cannot be made. This is a bug in cairn; please report it.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(b.Bytes()) //nolint:errcheck // nobody waits for it any more
	}
}

func (s *Server) asset(name, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		content, err := assets.ReadFile("assets/" + name)
		if err != nil {
			http.Error(w, "There is no such file.", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(content) //nolint:errcheck // nobody waits for it any more
	}
}

func queryOf(r *http.Request) model.Query {
	page, _ := strconv.Atoi(r.URL.Query().Get("page")) //nolint:errcheck // the first one then
	return model.Query{Search: r.URL.Query().Get("q"), Page: page}
}

func (s *Server) overview(r *http.Request) (view, error) {
	units, problems := s.opts.Repository.Units(r.Context())
	page := model.NewOverview(units, queryOf(r), time.Now(), problems)
	if page.Page == 1 {
		for _, set := range s.opts.Repository.Sets(r.Context()) {
			page.Sets = append(page.Sets, model.NewSetRow(set, time.Now()))
		}
	}
	return view{Title: "Overview", Page: page}, nil
}

// unit returns the unit that a request is about.
func (s *Server) unit(r *http.Request) (overview.Unit, view, error) {
	u, err := s.opts.Repository.Unit(r.Context(), r.URL.Query().Get("unit"))
	if err != nil {
		return u, view{}, err
	}
	shown := model.NewUnit(&u, time.Now())
	return u, view{Title: shown.Name, Unit: &shown, Asked: s.approvals.text(u.Name)}, nil
}

func (s *Server) stack(r *http.Request) (view, error) {
	u, v, err := s.unit(r)
	if err != nil {
		return v, err
	}
	g, source, note, err := s.opts.Repository.Graph(r.Context(), u)
	if err != nil {
		return v, err
	}
	v.Page = model.NewStack(*v.Unit, g, source, note, queryOf(r))
	return v, nil
}

// picture answers with the graph of a stack as an image: its style is its own, for which the policy
// of pages has no room.
func (s *Server) picture(w http.ResponseWriter, r *http.Request) {
	u, err := s.opts.Repository.Unit(r.Context(), r.URL.Query().Get("unit"))
	if err != nil {
		http.Error(w, "There is no such stack.", http.StatusNotFound)
		return
	}
	g, _, _, err := s.opts.Repository.Graph(r.Context(), u)
	if err != nil || len(g.Components) > model.MostPictured {
		http.Error(w, "There is no picture.", http.StatusNotFound)
		return
	}
	var looks func(graph.Component) picture.Class // nil for those of plans
	if r.URL.Query().Get("of") == "progress" {
		progress, err := s.opts.Repository.Progress(r.Context(), u, model.Unit{})
		if err != nil {
			http.Error(w, "There is no picture.", http.StatusNotFound)
			return
		}
		looks = progress.Looks
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox")
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write([]byte(stackpicture.Of(g, looks).SVG())) //nolint:errcheck // nobody waits for it any more
}

func (s *Server) objects(r *http.Request) (view, error) {
	u, v, err := s.unit(r)
	if err != nil {
		return v, err
	}
	v.Title = "Objects of " + v.Title
	v.Page, err = s.opts.Repository.Objects(r.Context(), u, *v.Unit, queryOf(r))
	return v, err
}

func (s *Server) plan(r *http.Request) (view, error) {
	if r.URL.Query().Has("set") {
		return s.setPlan(r)
	}
	var unit *overview.Unit
	var v view
	var file string
	var err error
	number := r.URL.Query().Get("file")
	if number != "" {
		n, _ := strconv.Atoi(number) //nolint:errcheck // there is no such file then
		file, err = s.opts.Repository.PlanFile(n)
		v.Title = "Plan " + model.Text(file)
	} else {
		var u overview.Unit
		u, v, err = s.unit(r)
		if err == nil && u.Waiting == nil {
			err = reading.ErrNotFound
		}
		if err == nil {
			unit, file, v.Title = &u, u.Waiting.File, "Plan of "+v.Title
		}
	}
	if err != nil {
		return v, err
	}
	read, err := s.opts.Repository.Plan(r.Context(), unit, file)
	if err != nil {
		return v, err
	}
	page := model.NewPlan(read, queryOf(r))
	if unit != nil {
		if rel, err := filepath.Rel(unit.Dir, file); err == nil {
			file = rel // as commands in the directory of the stack name it
		}
	}
	page.Unit, page.File, page.Number, page.Waiting = v.Unit, model.Text(file), number, unit != nil
	v.Page = page
	return v, nil
}

func (s *Server) history(r *http.Request) (view, error) {
	u, v, err := s.unit(r)
	if err != nil {
		return v, err
	}
	versions, err := s.opts.Repository.History(r.Context(), u)
	v.Title = "History of " + v.Title
	v.Page = model.NewHistory(*v.Unit, versions, queryOf(r))
	return v, err
}

func (s *Server) change(r *http.Request) (view, error) {
	u, v, err := s.unit(r)
	if err != nil {
		return v, err
	}
	serial, err := strconv.ParseInt(r.URL.Query().Get("serial"), 10, 64)
	if err != nil || serial < 1 {
		return v, reading.ErrNotFound
	}
	version, differences, err := s.opts.Repository.Change(r.Context(), u, serial)
	v.Title = fmt.Sprintf("Serial %d of %s", serial, v.Title)
	v.Page = model.NewChange(*v.Unit, model.NewSerial(version), differences, queryOf(r))
	return v, err
}

func (s *Server) blame(r *http.Request) (view, error) {
	u, v, err := s.unit(r)
	if err != nil {
		return v, err
	}
	address := r.URL.Query().Get("address")
	if address == "" {
		return v, reading.ErrNotFound
	}
	objects, err := s.opts.Repository.Blame(r.Context(), u, address)
	v.Title = model.Text(address)
	v.Page = model.NewBlame(*v.Unit, model.Text(address), objects)
	return v, err
}

func (s *Server) progress(r *http.Request) (view, error) {
	u, v, err := s.unit(r)
	if err != nil {
		return v, err
	}
	v.Title = "Progress of " + v.Title
	v.Page, err = s.opts.Repository.Progress(r.Context(), u, *v.Unit)
	return v, err
}
