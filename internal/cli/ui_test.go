// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bufio"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// A plan that was approved on the page is shown on the terminal, and applied if somebody there says
// yes, or nobody has to.
func TestApprovalByPage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		answer string
		want   string // on the page at the end
		asked  bool
	}{
		"allowed":         {nil, "yes\n", "The plan was applied.", true},
		"refused":         {nil, "no\n", "The plan was not applied: Approval refused.", true},
		"nobody is there": {nil, "", "The plan was not applied: Approval needed.", true},
		"not asked":       {[]string{"-allow-approve"}, "", "The plan was applied.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("CAIRN_ENGINE", "native")
			for name, text := range map[string]string{
				"main.tfcomponent.hcl": "component \"a\" {\n  source = \"./a\"\n}\n",
				"a/main.tf":            "resource \"terraform_data\" \"x\" {\n  input = 1\n}\n",
			} {
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			waiting := filepath.Join(".cairn", "waiting", "default.plan")
			if err := os.MkdirAll(filepath.Dir(waiting), 0o700); err != nil {
				t.Fatal(err)
			}
			quiet := session.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
			if code := run(t.Context(), []string{"plan", "-out=" + waiting}, quiet, session.Dependencies{}); code != 0 {
				t.Fatalf("plan: exit code %d", code)
			}

			ctx, cancel := context.WithCancel(t.Context())
			out, printed := io.Pipe()
			var terminal screen
			ended := make(chan int, 1)
			go func() { // until ctx ends
				streams := session.Streams{In: strings.NewReader(test.answer), Out: io.MultiWriter(printed, &terminal), Err: &terminal}
				ended <- run(ctx, append([]string{"ui"}, test.args...), streams, session.Dependencies{})
				_ = printed.Close()
			}()
			lines := bufio.NewReader(out)
			var address string
			testenv.Within(t, "the address is printed", func() { address, _ = lines.ReadString('\n') })
			go io.Copy(io.Discard, lines) //nolint:errcheck // until the command ends
			at, err := url.Parse(strings.TrimSpace(address))
			if err != nil || at.Query().Get("token") == "" {
				t.Fatalf("printed is %q: %v", address, err)
			}
			approveByPage(t, at, test.want)
			cancel()
			if code := testenv.Receive(t, "the page ends", ended); code != 0 {
				t.Errorf("exit code %d", code)
			}
			text := terminal.String()
			if !strings.Contains(text, "has approved the plan") || !strings.Contains(text, "terraform_data.x will be created") {
				t.Errorf("the terminal does not show the plan:\n%s", text)
			}
			if strings.Contains(text, "Apply it?") != test.asked {
				t.Errorf("the terminal asks wrongly:\n%s", text)
			}
		})
	}
}

// screen is a text that is written and read at the same time.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// approveByPage approves the only plan that waits, and waits for its end.
func approveByPage(t *testing.T, at *url.URL, want string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Jar: jar, Timeout: 30 * time.Second}
	do := func(method, target, form string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set("Origin", "http://"+at.Host)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it was read
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%d: %s, %v", answer.StatusCode, body, err)
		}
		return string(body)
	}
	overview := do(http.MethodGet, at.String(), "")
	link := regexp.MustCompile(`href="(/plan\?unit=[^"]*)"`).FindStringSubmatch(overview)
	if link == nil {
		t.Fatalf("no plan waits in\n%s", overview)
	}
	origin := "http://" + at.Host
	plan := do(http.MethodGet, origin+html.UnescapeString(link[1]), "")
	form := url.Values{}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="(form|unit|plan)" value="([^"]*)">`).FindAllStringSubmatch(plan, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	body := do(http.MethodPost, origin+"/approve", form.Encode())
	testenv.Within(t, "the page says what has become of the plan", func() {
		for !strings.Contains(body, want) && t.Context().Err() == nil {
			body = do(http.MethodGet, origin+"/progress?unit="+url.QueryEscape(form.Get("unit")), "")
		}
	})
}
