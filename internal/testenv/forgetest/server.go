// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forgetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Service is one of the two.
type Service string

// The services.
const (
	GitHub Service = "github"
	GitLab Service = "gitlab"
)

// Names that the server knows.
const (
	Token  = "planted-forge-token" //nolint:gosec // of a stub
	Author = "kit-bot"             // to whom the token belongs
)

// pageSize is the number of comments in a page.
const pageSize = 2

// Comment is one on a request.
type Comment struct {
	ID     int64
	Author string
	Body   string
}

// Fault makes requests fail.
type Fault struct {
	Method, Path string // a regular expression for the path
	Status       int    // 0: the request is done, and then Then is called
	RetryAfter   string
	Times        int
	Then         func()
}

// Server is the API of a service.
type Server struct {
	URL       string
	Artifacts string // directory, with one for each job or run

	service Service
	http    *httptest.Server
	mu      struct {
		sync.Mutex
		last         int64
		comments     map[string][]Comment // by numbers of requests
		permissions  map[string]string    // by users
		merged       map[string]string    // numbers of requests by commits
		faults       []*Fault
		unauthorized int
		race         bool
	}
}

// NewServer starts a server, which ends with Close.
func NewServer(service Service, artifacts string) *Server {
	s := &Server{service: service, Artifacts: artifacts}
	s.mu.comments, s.mu.permissions, s.mu.merged = map[string][]Comment{}, map[string]string{}, map[string]string{}
	mux := http.NewServeMux()
	if service == GitHub {
		mux.HandleFunc("GET /user", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden) // as to the token of a job
		})
		mux.HandleFunc("GET /repos/acme/live/issues/{number}/comments", s.list)
		mux.HandleFunc("POST /repos/acme/live/issues/{number}/comments", s.create)
		mux.HandleFunc("PATCH /repos/acme/live/issues/comments/{id}", s.change)
		mux.HandleFunc("DELETE /repos/acme/live/issues/comments/{id}", s.remove)
		mux.HandleFunc("GET /repos/acme/live/collaborators/{user}/permission", s.permission)
	} else {
		mux.HandleFunc("GET /user", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"username": Author}) })
		mux.HandleFunc("GET /projects/7/merge_requests/{number}/notes", s.list)
		mux.HandleFunc("POST /projects/7/merge_requests/{number}/notes", s.create)
		mux.HandleFunc("PUT /projects/7/merge_requests/{number}/notes/{id}", s.change)
		mux.HandleFunc("DELETE /projects/7/merge_requests/{number}/notes/{id}", s.remove)
		mux.HandleFunc("GET /projects/7/members/all/{user}", s.permission)
		mux.HandleFunc("GET /projects/7/repository/commits/{commit}/merge_requests", s.requests)
		mux.HandleFunc("GET /projects/7/jobs/{job}/artifacts/{path...}", s.artifact)
		mux.HandleFunc("GET /store/{job}/{path...}", s.stored)
	}
	s.http = httptest.NewServer(s.guard(mux))
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// author is the name that comments with the token have.
func (s *Server) author() string {
	if s.service == GitHub {
		return "github-actions[bot]"
	}
	return Author
}

// guard demands the token, and has faults happen.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isStore := strings.HasPrefix(r.URL.Path, "/store/")
		known := r.Header.Get("Authorization") == "Bearer "+Token
		if s.service == GitLab {
			known = r.Header.Get("PRIVATE-TOKEN") == Token
		}
		if known == isStore { // a store of artifacts must not see it
			s.mu.Lock()
			s.mu.unauthorized++
			s.mu.Unlock()
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fault := s.fault(r)
		if fault != nil && fault.Status != 0 {
			if fault.RetryAfter != "" {
				w.Header().Set("Retry-After", fault.RetryAfter)
			}
			w.WriteHeader(fault.Status)
			return
		}
		next.ServeHTTP(w, r)
		if fault != nil {
			fault.Then()
		}
	})
}

func (s *Server) fault(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.mu.faults {
		if fault.Times > 0 && fault.Method == r.Method && regexp.MustCompile(fault.Path).MatchString(r.URL.Path) {
			fault.Times--
			return fault
		}
	}
	return nil
}

// Fail adds a fault.
func (s *Server) Fail(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.faults = append(s.mu.faults, &fault)
}

// Unauthorized counts the requests that had no token, or had it where they must not.
func (s *Server) Unauthorized() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.unauthorized
}

// Permit gives a user a permission: a word at GitHub, the number of a level at GitLab.
func (s *Server) Permit(user, permission string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.permissions[user] = permission
}

// Merged notes the request that a commit was merged by.
func (s *Server) Merged(commit, number string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.merged[commit] = number
}

// Race makes the next new comment appear twice, as if another job had made the same just before.
func (s *Server) Race() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.race = true
}

// Comments returns the comments of a request, oldest first.
func (s *Server) Comments(number string) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Comment(nil), s.mu.comments[number]...)
}

// Comment adds a comment of somebody.
func (s *Server) Comment(number, author, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.last++
	s.mu.comments[number] = append(s.mu.comments[number], Comment{s.mu.last, author, body})
	return s.mu.last
}

func reply(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) //nolint:errcheck // the client has gone
}

func (s *Server) shown(c Comment) map[string]any {
	if s.service == GitHub {
		return map[string]any{"id": c.ID, "body": c.Body, "user": map[string]any{"login": c.Author}}
	}
	return map[string]any{"id": c.ID, "body": c.Body, "author": map[string]any{"username": c.Author}}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil {
		page = 1
	}
	comments := s.Comments(r.PathValue("number"))
	documents := []any{}
	for i := (page - 1) * pageSize; i < min(page*pageSize, len(comments)); i++ {
		documents = append(documents, s.shown(comments[i]))
	}
	reply(w, documents)
}

// limit is the greatest length of a comment.
func (s *Server) limit() int {
	if s.service == GitHub {
		return 65_536
	}
	return 1_000_000
}

func (s *Server) body(w http.ResponseWriter, r *http.Request) (string, bool) {
	var read struct{ Body string }
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || read.Body == "" || len([]rune(read.Body)) > s.limit() {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return "", false
	}
	return read.Body, true
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	body, ok := s.body(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	race := s.mu.race
	s.mu.race = false
	s.mu.Unlock()
	if race {
		s.Comment(r.PathValue("number"), s.author(), body)
	}
	id := s.Comment(r.PathValue("number"), s.author(), body)
	w.WriteHeader(http.StatusCreated)
	reply(w, s.shown(Comment{id, s.author(), body}))
}

// edit calls a function with the comments that has the one that a request names.
func (s *Server) edit(w http.ResponseWriter, r *http.Request, do func(comments []Comment, i int) []Comment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number, comments := range s.mu.comments {
		for i := range comments {
			if fmt.Sprint(comments[i].ID) == r.PathValue("id") {
				s.mu.comments[number] = do(comments, i)
				return
			}
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

func (s *Server) change(w http.ResponseWriter, r *http.Request) {
	body, ok := s.body(w, r)
	if !ok {
		return
	}
	s.edit(w, r, func(comments []Comment, i int) []Comment {
		comments[i].Body = body
		reply(w, s.shown(comments[i]))
		return comments
	})
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	s.edit(w, r, func(comments []Comment, i int) []Comment {
		w.WriteHeader(http.StatusNoContent)
		return append(comments[:i:i], comments[i+1:]...)
	})
}

func (s *Server) permission(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	permission, ok := s.mu.permissions[r.PathValue("user")]
	s.mu.Unlock()
	level, _ := strconv.Atoi(permission) //nolint:errcheck // a word at GitHub
	switch {
	case s.service == GitHub && !ok:
		reply(w, map[string]any{"permission": "read", "role_name": "read"}) // as to everybody in a public repository
	case s.service == GitHub:
		reply(w, map[string]any{"permission": permission, "role_name": permission})
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		reply(w, map[string]any{"id": 1, "access_level": level, "state": "active"})
	}
}

func (s *Server) requests(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	number, ok := s.mu.merged[r.PathValue("commit")]
	s.mu.Unlock()
	if !ok {
		reply(w, []any{})
		return
	}
	iid, _ := strconv.Atoi(number) //nolint:errcheck // it is a number
	reply(w, []any{map[string]any{"iid": iid, "state": "merged"}})
}

// artifact leads to the store that has it, as where artifacts are on object storage.
func (s *Server) artifact(w http.ResponseWriter, r *http.Request) {
	if _, err := os.Stat(filepath.Join(s.Artifacts, r.PathValue("job"), r.PathValue("path"))); err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	http.Redirect(w, r, s.URL+"/store/"+r.PathValue("job")+"/"+r.PathValue("path"), http.StatusFound)
}

func (s *Server) stored(w http.ResponseWriter, r *http.Request) {
	http.ServeFile(w, r, filepath.Join(s.Artifacts, r.PathValue("job"), r.PathValue("path")))
}
