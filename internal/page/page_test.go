// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/page"
	"github.com/cairnstacks/cairn/internal/page/reading"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// site is a server with its pages, as a browser sees them.
type site struct {
	testing.TB

	handler http.Handler
	host    string
	token   string
	form    string // the token of forms, which pages with a plan have
	cookie  *http.Cookie
	end     context.CancelFunc // nothing is served after it
}

// newSite returns a server of some units. Nobody has opened its address yet.
func newSite(t testing.TB, approve func(context.Context, page.Approval) error, units ...*fleet.Unit) *site {
	t.Helper()
	return newSiteWith(t, approve, reading.Options{}, units...)
}

// newSiteWith is [newSite] with other options than the units.
func newSiteWith(t testing.TB, approve func(context.Context, page.Approval) error, options reading.Options, units ...*fleet.Unit) *site {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, format.File), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	selected := map[*fleet.Unit]bool{}
	for _, u := range units {
		selected[u] = true
	}
	options.List = func(context.Context) (*fleet.Source, error) {
		return &fleet.Source{Place: fleet.Place{Root: root}, Units: units, Selected: selected}, nil
	}
	server, err := page.Listen(t.Context(), page.Options{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Approve: approve, Repository: reading.New(options),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }() // until the test ends
	t.Cleanup(func() {
		cancel()
		if err := testenv.Receive(t, "the server ends", served); err != nil {
			t.Error(err)
		}
	})
	at, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	return &site{TB: t, handler: server.Handler(), host: at.Host, token: at.Query().Get("token"), form: server.FormToken(), end: cancel}
}

// enter opens the address with the token.
func (s *site) enter() *site {
	s.Helper()
	answer := s.get("/?token=" + s.token)
	if cookies := answer.Result().Cookies(); answer.Code == http.StatusSeeOther && len(cookies) == 1 {
		s.cookie = cookies[0]
		return s
	}
	s.Fatalf("the token is answered with %d %s", answer.Code, answer.Body)
	return nil
}

// ask sends a request that adjust has changed.
func (s *site) ask(method, target, body string, adjust func(*http.Request)) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, target, strings.NewReader(body))
	r.Host = s.host
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+s.host)
	}
	if adjust != nil {
		adjust(r)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *site) get(target string) *httptest.ResponseRecorder {
	s.Helper()
	return s.ask(http.MethodGet, target, "", nil)
}

// newStack makes a stack with a state of such records, in one serial each.
func newStack(t testing.TB, name string, serials ...map[string][]byte) *fleet.Unit {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tfcomponent.hcl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := locations.Open(filepath.Join(dir, "cairn.state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	base := statestore.Base{}
	for _, records := range serials {
		lock, err := store.Lock(t.Context(), "default", statestore.LockRequest{Operation: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		writer, err := lock.Begin(t.Context(), base, "apply of plan 0123456789ab, approved by rule a", records)
		if err != nil {
			t.Fatal(err)
		}
		base = writer.Base()
		if err := errors.Join(writer.Commit(t.Context()), lock.Unlock(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return &fleet.Unit{Name: name, Kind: rollout.Components, Dir: dir, Directory: name}
}

// object is the record of an object with attributes.
func object(name, attributes string, sensitive ...string) []byte {
	paths := make([]string, len(sensitive))
	for i, attribute := range sensitive {
		paths[i] = fmt.Sprintf(`[{"type":"get_attr","value":%q}]`, attribute)
	}
	return fmt.Appendf(nil, `{"resource":{"mode":"managed","type":"terraform_data","name":%q,"provider":"provider[\"terraform.io/builtin/terraform\"]"},`+
		`"instance":{"schema_version":0,"attributes":%s,"sensitive_attributes":[%s]}}`, name, attributes, strings.Join(paths, ","))
}

// Rule P1: nothing is answered without the secret, to other names, or to other pages.
func TestRequestsOfOthers(t *testing.T) {
	s := newSite(t, nil, newStack(t, "app"))
	if got := s.get("/"); got.Code != http.StatusForbidden || strings.Contains(got.Body.String(), "app") {
		t.Errorf("without a token: %d %s", got.Code, got.Body)
	}
	if got := s.get("/?token=wrong"); got.Code != http.StatusForbidden || len(got.Result().Cookies()) > 0 {
		t.Errorf("with a wrong token: %d, cookies %v", got.Code, got.Result().Cookies())
	}
	rebound := func(r *http.Request) { r.Host = "evil.example" }
	if got := s.ask(http.MethodGet, "/?token="+s.token, "", rebound); got.Code != http.StatusMisdirectedRequest {
		t.Errorf("with the token, to another host: %d", got.Code)
	}
	answer := s.get("//evil.example/?token=" + s.token)
	if to := answer.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "token") {
		t.Errorf("the token leads to %q", to)
	}
	s.enter()
	if c := s.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value != s.token {
		t.Errorf("the cookie is %v", c)
	}
	port := s.host[strings.LastIndex(s.host, ":"):]
	for name, test := range map[string]struct {
		adjust func(*http.Request)
		want   int
	}{
		"as it is":            {nil, http.StatusOK},
		"localhost":           {func(r *http.Request) { r.Host = "localhost" + port }, http.StatusOK},
		"typed":               {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, http.StatusOK},
		"own origin":          {func(r *http.Request) { r.Header.Set("Origin", "http://"+s.host) }, http.StatusOK},
		"rebound name":        {func(r *http.Request) { r.Host = "evil.example" + port }, http.StatusMisdirectedRequest},
		"other port":          {func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"no host":             {func(r *http.Request) { r.Host = "" }, http.StatusMisdirectedRequest},
		"other origin":        {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		"origin of a port":    {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"no origin":           {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"from another site":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"from a sibling":      {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
		"other method":        {func(r *http.Request) { r.Method = http.MethodDelete }, http.StatusMethodNotAllowed},
		"cookie of other run": {func(r *http.Request) { r.Header.Set("Cookie", s.cookie.Name+"=x") }, http.StatusForbidden},
	} {
		got := s.ask(http.MethodGet, "/", "", test.adjust)
		if got.Code != test.want || test.want != http.StatusOK && strings.Contains(got.Body.String(), "app") {
			t.Errorf("%s: %d, want %d", name, got.Code, test.want)
		}
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store", "X-Frame-Options": "DENY",
		} {
			if value := got.Header().Get(header); !strings.Contains(value, want) || strings.Contains(value, "unsafe") {
				t.Errorf("%s: the header %s is %q", name, header, value)
			}
		}
	}
}

func TestListenOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "[::]:0"} {
		if _, err := page.Listen(t.Context(), page.Options{Address: address}); !errors.Is(err, page.ErrNotLoopback) {
			t.Errorf("Listen at %s: %v", address, err)
		}
	}
}

// Names and values are shown as text (rule P4), cut, and without what is sensitive, as package
// model makes them.
func TestHostileTexts(t *testing.T) {
	long := strings.Repeat("x<b>", 1<<18)
	evil := "<script>alert(1)</script>\u202e\x1b[31m\" onclick=\"alert(2)"
	unit := newStack(t, evil,
		map[string][]byte{
			"CMPTcomponent.a": {},
			"RSRCcomponent.a,terraform_data.x,cur": object("x", fmt.Sprintf(`{"id":%q,"input":{"value":%q,"type":"string"},"secret":"hunter1"}`,
				"<img src=x onerror=alert(3)>", long), "secret"),
		},
		map[string][]byte{
			"RSRCcomponent.a,terraform_data.x,cur": object("x", `{"id":"<svg onload=alert(4)>\u202e","input":{"value":"y","type":"string"},"secret":"hunter2"}`),
		},
	)
	unit.Tags, unit.Directory = []string{evil}, evil
	s := newSite(t, nil, unit).enter()
	query := url.Values{"unit": {evil}, "address": {"component.a.terraform_data.x"}, "serial": {"2"}, "q": {""}}
	hidden := regexp.MustCompile(`<input type="hidden" name="\w+" value="[^"<>]*">`)
	markup := regexp.MustCompile(`<(script>|img src=x|svg onload|b>)|\x1b|\x{202e}|hunter|onclick="alert`)
	for _, path := range []string{"/", "/stack", "/objects", "/history", "/change", "/blame", "/progress", "/plan", "/missing"} {
		got := s.get(path + "?" + query.Encode())
		body := got.Body.String()
		if want := http.StatusOK; got.Code != want && path != "/plan" && path != "/missing" {
			t.Errorf("%s: %d: %s", path, got.Code, body)
		}
		shown := hidden.ReplaceAllString(body, "") // forms give such names back as they are
		if found := markup.FindString(shown); found != "" {
			t.Errorf("%s has %q in\n%.3000s", path, found, body)
		}
		if len(body) > 100_000 {
			t.Errorf("%s has %d bytes", path, len(body))
		}
	}
	change := s.get("/change?" + query.Encode()).Body.String()
	for _, want := range []string{"(sensitive value)", "&lt;img src=x", `\u202e`, "(longer, and cut here)"} {
		if !strings.Contains(change, want) {
			t.Errorf("the page of a serial does not have %q:\n%.3000s", want, change)
		}
	}
	search := s.get("/?" + url.Values{"q": {`"><script>alert(5)</script>`}}.Encode()).Body.String()
	if markup.MatchString(search) || !strings.Contains(search, "There is nothing here by that name") {
		t.Errorf("a search is answered with\n%s", search)
	}
}

// killedApply is the variable with the directory of the stack that [TestKilledApply] applies.
const killedApply = "CAIRN_TEST_KILLED_APPLY"

// TestKilledApply is the process that [TestProgressOfKilled] kills.
func TestKilledApply(t *testing.T) {
	dir := os.Getenv(killedApply)
	if dir == "" {
		t.Skip("it is a process of another test")
	}
	store, err := locations.Open(filepath.Join(dir, "cairn.state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lock, err := store.Lock(t.Context(), "default", statestore.LockRequest{Operation: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Begin(t.Context(), statestore.Base{}, "apply", nil); err != nil {
		t.Fatal(err)
	}
	fmt.Println("begun")
	// The runtime ends a process in which all goroutines wait for each other, but none that reads.
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}

// A process that was killed writes nothing any more, and those who follow it are told all the same.
func TestProgressOfKilled(t *testing.T) {
	unit := newStack(t, "app")
	s := newSite(t, nil, unit).enter()
	apply := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledApply$") //nolint:gosec // this test
	apply.Env = append(os.Environ(), killedApply+"="+unit.Dir)
	out, err := apply.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apply.StdinPipe(); err != nil { // stays open
		t.Fatal(err)
	}
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		t.Fatalf("the apply says %q, %v", line, err)
	}

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.host+"/events?unit=app", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(s.cookie)
	told := make(chan string)
	go func() { // until the stream ends
		defer close(told)
		if err := tellEvents(request, told); err != nil {
			t.Error(err)
		}
	}()
	if text := testenv.Receive(t, "an event", told); !strings.Contains(text, "running)") {
		t.Errorf("the first event is %q", text)
	}
	if err := apply.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = apply.Wait() // it was killed
	if text := testenv.Receive(t, "an event after the end", told); !strings.Contains(text, "gone)") {
		t.Errorf("the event after the end is %q", text)
	}
	s.end()
	for range told { // until the stream has ended
	}
}

// tellEvents passes the data of a stream of events on.
func tellEvents(request *http.Request, told chan<- string) error {
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // nothing was written
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if text, isData := strings.CutPrefix(lines.Text(), "data: "); isData {
			told <- text
		}
	}
	return lines.Err()
}

// A serial names the saved plan that was applied, wherever it is shown.
func TestPlanOfSerial(t *testing.T) {
	records := map[string][]byte{"CMPTcomponent.a": {}, "RSRCcomponent.a,terraform_data.x,cur": object("x", `{"id":"1"}`)}
	s := newSite(t, nil, newStack(t, "app", records)).enter()
	query := url.Values{"unit": {"app"}, "address": {"component.a.terraform_data.x"}, "serial": {"1"}}
	for _, path := range []string{"/history", "/change", "/blame"} {
		body := s.get(path + "?" + query.Encode()).Body.String()
		if !strings.Contains(body, "<code>0123456789ab</code>") || strings.Contains(body, "of plan") {
			t.Errorf("%s does not name the plan in a place of its own:\n%.3000s", path, body)
		}
	}
}

// Rule P2: only a form of this run changes something, and only once at a time.
func TestApproval(t *testing.T) {
	unit := newStack(t, "app", map[string][]byte{"CMPTcomponent.a": {}})
	waiting := filepath.Join(unit.Dir, ".cairn", "waiting", "default.plan")
	if err := errors.Join(os.MkdirAll(filepath.Dir(waiting), 0o700), os.WriteFile(waiting, []byte("no plan"), 0o600)); err != nil {
		t.Fatal(err)
	}
	begun, end := make(chan string), make(chan error)
	s := newSite(t, func(_ context.Context, a page.Approval) error {
		a.Asking()
		begun <- a.Unit.Name + " " + a.Plan
		a.Applying()
		return <-end
	}, unit).enter()
	broken := s.get("/plan?unit=app")
	if broken.Code == http.StatusOK || strings.Contains(broken.Body.String(), "<form class=\"approve\"") {
		t.Errorf("a file that is no plan is answered with %d %s", broken.Code, broken.Body)
	}
	body := url.Values{"unit": {"app"}, "plan": {"p1"}, "form": {s.form}}.Encode()
	for name, test := range map[string]struct {
		body   string
		adjust func(*http.Request)
	}{
		"without a token":     {url.Values{"unit": {"app"}}.Encode(), nil},
		"with a wrong one":    {url.Values{"unit": {"app"}, "form": {"x"}}.Encode(), nil},
		"token of the cookie": {url.Values{"unit": {"app"}, "form": {s.token}}.Encode(), nil},
		"without an origin":   {body, func(r *http.Request) { r.Header.Del("Origin") }},
		"of another origin":   {body, func(r *http.Request) { r.Header.Set("Origin", "https://"+s.host) }},
		"of no origin":        {body, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"typed":               {body, func(r *http.Request) { r.Header.Del("Origin"); r.Header.Set("Sec-Fetch-Site", "none") }},
		"without a cookie":    {body, func(r *http.Request) { r.Header.Del("Cookie") }},
	} {
		if got := s.ask(http.MethodPost, "/approve", test.body, test.adjust); got.Code != http.StatusForbidden {
			t.Errorf("a form %s: %d", name, got.Code)
		}
	}
	if got := s.get("/approve?" + body); got.Code == http.StatusSeeOther {
		t.Error("a look approves a plan")
	}
	// As browsers send a form of a page that sends no referrer.
	asSent := func(r *http.Request) { r.Header.Set("Origin", "null"); r.Header.Set("Sec-Fetch-Site", "same-origin") }
	got := s.ask(http.MethodPost, "/approve", body, asSent)
	if to := got.Header().Get("Location"); got.Code != http.StatusSeeOther || to != "/progress?unit=app" {
		t.Fatalf("the form: %d %s %s", got.Code, to, got.Body)
	}
	if got := testenv.Receive(t, "the approval is asked for", begun); got != "app p1" {
		t.Errorf("approved is %q", got)
	}
	if got := s.ask(http.MethodPost, "/approve", body, nil); got.Code != http.StatusConflict {
		t.Errorf("a second approval meanwhile: %d", got.Code)
	}
	end <- errors.New("nobody is <there>")
	testenv.Within(t, "the page says how it has ended", func() {
		for !strings.Contains(s.get("/progress?unit=app").Body.String(), "The plan was not applied: ") {
		}
	})
}
