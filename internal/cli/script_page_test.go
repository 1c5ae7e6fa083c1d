// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// fetchPage asks a page that is being served, as a browser does with the printed address.
func fetchPage(ts *testscript.TestScript, refused bool, args []string) {
	at, err := url.Parse(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	client := &http.Client{Jar: jar, Timeout: time.Minute}
	origin := at.Scheme + "://" + at.Host
	_, _ = fetch(ts, client, origin+"/assets/style.css?token="+at.Query().Get("token")) // which leaves a cookie
	status, body := fetch(ts, client, origin+args[1])
	for started := time.Now(); len(args) > 2 && !strings.Contains(body, args[2]); {
		if time.Since(started) > time.Minute {
			ts.Fatalf("the answer has not had %q within a minute:\n%s", args[2], body)
		}
		status, body = fetch(ts, client, origin+args[1])
	}
	_, err = io.WriteString(ts.Stdout(), body)
	ts.Check(err)
	if (status != http.StatusOK) != refused {
		ts.Fatalf("%s is answered with %d", args[1], status)
	}
}

func fetch(ts *testscript.TestScript, client *http.Client, target string) (status int, body string) {
	request, err := http.NewRequestWithContext(testContext(), http.MethodGet, target, nil)
	ts.Check(err)
	answer, err := client.Do(request)
	ts.Check(err)
	text, err := io.ReadAll(answer.Body)
	ts.Check(errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(text)
}
