// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

func openStore(t *testing.T, location string) Store {
	t.Helper()
	s, err := Open(t.Context(), location, os.Environ(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func mustPut(t *testing.T, s Store, name, content string) {
	t.Helper()
	if err := s.Put(t.Context(), name, []byte(content)); err != nil {
		t.Fatalf("Put(%s): %v", name, err)
	}
}

func wantContent(t *testing.T, s Store, name, want string) {
	t.Helper()
	if got, err := s.Get(t.Context(), name); err != nil || string(got) != want {
		t.Errorf("Get(%s) = %.50q, error %v; want %.50q", name, got, err, want)
	}
}

func wantNames(t *testing.T, s Store, prefix string, want ...string) {
	t.Helper()
	got, err := s.List(t.Context(), prefix)
	if err != nil {
		t.Errorf("List(%s): %v", prefix, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("List(%s) (-want +got):\n%s", prefix, diff)
	}
}

// runContract is the contract of [Store], which every kind of place passes. Open returns a store of
// the same place each time.
func runContract(t *testing.T, open func(*testing.T) Store) { runContractOf(t, open, usualNames) }

// usualNames is more than a service lists at a time.
const usualNames = 3000

// runContractOf is runContract with a number of names that are listed.
func runContractOf(t *testing.T, open func(*testing.T) Store, names int) {
	for name, test := range map[string]func(*testing.T, func(*testing.T) Store){
		"records":                 testRecords,
		"one content wins":        testOneContentWins,
		"equal contents all win":  testEqualContents,
		"names":                   testNames,
		"list of many":            func(t *testing.T, open func(*testing.T) Store) { testManyNames(t, open, names) },
		"ended context":           testEndedContext,
		"large content":           testLargeContent,
		"written after a removal": testRemove,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func testRecords(t *testing.T, open func(*testing.T) Store) {
	s, other := open(t), open(t)
	if _, err := s.Get(t.Context(), "records/a"); !errors.Is(err, ErrMissing) {
		t.Errorf("got error %v, want that of a missing record", err)
	}
	wantNames(t, s, "records/")
	all := ""
	for b := range 256 {
		all += string([]byte{byte(b)})
	}
	for name, content := range map[string]string{"records/a": "1", "records/empty": "", "records/deep/er/b": all, "records/" + safe: "x"} {
		mustPut(t, s, name, content)
		wantContent(t, other, name, content)
		mustPut(t, other, name, content) // which is there
		if err := other.Put(t.Context(), name, []byte("another")); !errors.Is(err, ErrExists) {
			t.Errorf("Put(%s) of another content: got error %v", name, err)
		}
		wantContent(t, s, name, content)
	}
	if err := s.Put(t.Context(), "records/nil", nil); err != nil {
		t.Error(err)
	}
	wantContent(t, other, "records/nil", "")
	several := []string{"records/deep/er/b", "records/a", "records/nil", "records/a"}
	got, err := other.GetAll(t.Context(), several)
	if want := [][]byte{[]byte(all), []byte("1"), {}, []byte("1")}; err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("GetAll(%q): got %q and error %v, want %q", several, got, err, want)
	}
	if got, err := s.GetAll(t.Context(), nil); err != nil || len(got) > 0 {
		t.Errorf("GetAll of nothing: got %q and error %v", got, err)
	}
	if got, err := s.GetAll(t.Context(), []string{"records/a", "records/missing"}); !errors.Is(err, ErrMissing) {
		t.Errorf("GetAll with a missing record: got %q and error %v", got, err)
	}
	wantNames(t, other, "records/deep/", "records/deep/er/b")
	wantNames(t, other, "records/dee/")
}

// safe has all characters that a name may have.
const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+=@~%"

func testOneContentWins(t *testing.T, open func(*testing.T) Store) {
	const writers, rounds = 16, 10
	var stores []Store
	for range 4 {
		stores = append(stores, open(t))
	}
	for round := range rounds {
		name := fmt.Sprintf("race/%d/result", round)
		var winners []string
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				content := fmt.Sprint("content ", i)
				switch err := stores[i%len(stores)].Put(t.Context(), name, []byte(content)); {
				case err == nil:
					mu.Lock()
					defer mu.Unlock()
					winners = append(winners, content)
				case !errors.Is(err, ErrExists):
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		all.Wait()
		if len(winners) != 1 {
			t.Fatalf("%s: the winners are %q", name, winners)
		}
		for _, s := range stores {
			wantContent(t, s, name, winners[0])
		}
	}
}

func testEqualContents(t *testing.T, open func(*testing.T) Store) {
	stores := []Store{open(t), open(t)}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if err := stores[i%2].Put(t.Context(), "equal/record", []byte("the same")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantContent(t, stores[0], "equal/record", "the same")
}

func testNames(t *testing.T, open func(*testing.T) Store) {
	s := open(t)
	refused := []string{
		"", "/", "a/", "/a", "a//b", ".", "..", "a/..", "../a", "a/../b", "a/./b", ".hidden", "a/.draft-x", "a b", "a\x00", "a\n", "ä", "a\xff",
		`a\b`, "a:b", "a*", "a?", `a"b`, "a<b", "a>b", "a|b", "a#", "a&b", strings.Repeat("a", mostOfPart+1),
		strings.Repeat("a/", mostOfName/2) + "a",
	}
	for _, name := range refused {
		_, getErr := s.Get(t.Context(), name)
		for call, err := range map[string]error{"Put": s.Put(t.Context(), name, nil), "Get": getErr} {
			if !errors.Is(err, ErrName) {
				t.Errorf("%s(%q): got error %v", call, name, err)
			}
		}
		if name == "a/" {
			continue
		}
		for _, prefix := range []string{name, name + "/"} {
			_, listErr := s.List(t.Context(), prefix)
			for call, err := range map[string]error{"List": listErr, "Remove": s.Remove(t.Context(), prefix)} {
				if !errors.Is(err, ErrName) {
					t.Errorf("%s(%q): got error %v", call, prefix, err)
				}
			}
		}
	}
	if _, err := s.List(t.Context(), "a"); !errors.Is(err, ErrName) {
		t.Errorf("List of a prefix without a slash: got error %v", err)
	}
	longest := strings.Repeat("a", mostOfPart) + "/" + strings.Repeat("b", mostOfPart) + "/" + strings.Repeat("c", mostOfName-2*mostOfPart-2)
	mustPut(t, s, longest, "1")
	wantContent(t, s, longest, "1")
}

func testManyNames(t *testing.T, open func(*testing.T) Store, number int) {
	s := open(t)
	names := make(chan string)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for name := range names {
				if err := s.Put(t.Context(), name, nil); err != nil {
					t.Errorf("Put(%s): %v", name, err)
				}
			}
		})
	}
	beside := []string{"many-/x", "many.x", "many0/x", "manya"}
	for _, name := range beside {
		names <- name
	}
	var want []string
	for i := range number {
		want = append(want, fmt.Sprintf("many/%d/%d%s", i%7, i, []string{"", "-x", "/x"}[i%3]))
		names <- want[i]
	}
	close(names)
	all.Wait()
	slices.Sort(want)
	wantNames(t, s, "many/", want...)
	of3 := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !strings.HasPrefix(name, "many/3/") })
	wantNames(t, s, "many/3/", of3...)
	if err := s.Remove(t.Context(), "many/"); err != nil {
		t.Error(err)
	}
	wantNames(t, s, "many/")
	for _, name := range beside {
		wantContent(t, s, name, "")
	}
}

func testEndedContext(t *testing.T, open func(*testing.T) Store) {
	s := open(t)
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, getErr := s.Get(ctx, "ended/a")
	_, allErr := s.GetAll(ctx, []string{"ended/a"})
	_, listErr := s.List(ctx, "ended/")
	for call, err := range map[string]error{
		"Put": s.Put(ctx, "ended/a", nil), "Get": getErr, "GetAll": allErr, "List": listErr, "Remove": s.Remove(ctx, "ended/"),
	} {
		if !errors.Is(err, cause) {
			t.Errorf("%s: got error %v, want the cause", call, err)
		}
	}
}

func testLargeContent(t *testing.T, open func(*testing.T) Store) {
	s := open(t)
	content := make([]byte, 10<<20)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(content); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "large/record", content); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t).Get(t.Context(), "large/record"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, error %v; want the %d that were written", len(got), err, len(content))
	}
	content[len(content)-1]++
	if err := s.Put(t.Context(), "large/record", content); !errors.Is(err, ErrExists) {
		t.Errorf("another content: got error %v", err)
	}
}

func testRemove(t *testing.T, open func(*testing.T) Store) {
	s := open(t)
	for _, name := range []string{"removed/7/a", "removed/7/b/c", "removed/70/a"} {
		mustPut(t, s, name, "before")
	}
	for range 2 { // then there is nothing
		if err := s.Remove(t.Context(), "removed/7/"); err != nil {
			t.Error(err)
		}
	}
	wantNames(t, s, "removed/", "removed/70/a")
	mustPut(t, s, "removed/7/a", "after")
	wantContent(t, s, "removed/7/a", "after")
}

func TestInMemory(t *testing.T) {
	// Each test has the store for itself, as others at one place.
	stores := map[string]Store{}
	var mu sync.Mutex
	runContract(t, func(t *testing.T) Store {
		mu.Lock()
		defer mu.Unlock()
		if stores[t.Name()] == nil {
			stores[t.Name()] = InMemory()
		}
		return stores[t.Name()]
	})
}

func TestDirectory(t *testing.T) {
	directory := t.TempDir()
	for _, location := range []string{directory, (&url.URL{Scheme: "file", Path: filepath.ToSlash(directory)}).String()} {
		mustPut(t, openStore(t, location), "of/a/record", "1") // the same place
	}
	t.Run("contract", func(t *testing.T) { runContract(t, func(t *testing.T) Store { return openStore(t, directory) }) })
	if err := openStore(t, directory).Remove(t.Context(), "many/"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == directory {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		if rest, _ := filepath.Rel(directory, path); strings.HasPrefix(filepath.ToSlash(rest), "many/") {
			t.Errorf("%s is left of what was removed", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPostgres(t *testing.T) {
	server := postgrestest.Start(t)
	t.Run("contract", func(t *testing.T) {
		runContract(t, func(t *testing.T) Store { return openStore(t, server.URL("contract")) })
	})
	for name, test := range map[string]func(*testing.T, *postgrestest.Server){
		"made by many at the same time": testMadeByMany,
		"beside a state":                testBesideState,
		"connections that are cut":      testCutConnections,
		"restart":                       testRestart,
		"faults":                        testPostgresFaults,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

// The schema and the table come with the first record, whoever writes it.
func testMadeByMany(t *testing.T, server *postgrestest.Server) {
	for round := range 5 {
		location := server.URL(fmt.Sprintf("Made by \"many\" %d", round))
		var all sync.WaitGroup
		var stores []Store
		for range 8 {
			stores = append(stores, openStore(t, location))
		}
		for i, s := range stores {
			all.Go(func() {
				if err := s.Put(t.Context(), fmt.Sprint("first/", i), nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if names, err := stores[0].List(t.Context(), "first/"); err != nil || len(names) != len(stores) {
			t.Errorf("names %q, error %v, want %d", names, err, len(stores))
		}
	}
}

// A state and records may be in one schema, whichever comes first.
func testBesideState(t *testing.T, server *postgrestest.Server) {
	state := func(location string) {
		t.Helper()
		s := storetest.OpenWith(t, func(location string) (statestore.Store, error) {
			return tables.Open(location, nil, statestore.Options{})
		}, location)
		storetest.Apply(t, s, map[string][]byte{"key": []byte("value")})
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	recordsFirst, stateFirst := server.URL("records_first"), server.URL("state_first")
	mustPut(t, openStore(t, recordsFirst), "a/b", "1")
	state(recordsFirst)
	wantContent(t, openStore(t, recordsFirst), "a/b", "1")
	state(stateFirst)
	mustPut(t, openStore(t, stateFirst), "a/b", "1")
	state(stateFirst)
}

// A write whose answer was lost finds its own content (rule K3).
func testCutConnections(t *testing.T, server *postgrestest.Server) {
	proxy := postgrestest.NewProxy(t, server)
	s := openStore(t, server.Through(proxy.Address(), "cut"))
	mustPut(t, s, "cut/first", "1")
	for i := range 100 {
		name := fmt.Sprint("cut/", i)
		proxy.CutAfter(int64(i * 7 % 300)) // bytes of answers
		mustPut(t, s, name, "mine")
		if err := s.Put(t.Context(), name, []byte("another")); !errors.Is(err, ErrExists) {
			t.Errorf("%s: another content: got error %v", name, err)
		}
		wantContent(t, s, name, "mine")
	}
	proxy.Uncut()
	if proxy.Cuts() < 20 {
		t.Errorf("only %d connections were cut", proxy.Cuts())
	}
}

func testRestart(t *testing.T, server *postgrestest.Server) {
	location := server.URL("restart")
	told := make(chan statestore.Outage, 10)
	s, err := Open(t.Context(), location, os.Environ(), func(o statestore.Outage) { told <- o })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	mustPut(t, s, "restart/before", "1")
	for i, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		const number = 200
		half := make(chan struct{})
		var writing sync.WaitGroup
		writing.Go(func() {
			for j := range number {
				if err := s.Put(t.Context(), fmt.Sprintf("restart/%d/%d", i, j), fmt.Append(nil, j)); err != nil {
					t.Error(err)
				}
				if j == number/2 {
					close(half)
				}
			}
		})
		testenv.Receive(t, "half of the records are written", half)
		server.Stop(t, signal)
		if got := testenv.Receive(t, "word that the server is away", told); got.Location == "" || got.Reason == nil {
			t.Errorf("got %+v", got)
		}
		server.Run(t)
		testenv.Within(t, "all records are written", writing.Wait)
		names, err := s.List(t.Context(), fmt.Sprintf("restart/%d/", i))
		if err != nil || len(names) != number {
			t.Errorf("%d names, error %v, want %d", len(names), err, number)
		}
		wantContent(t, s, "restart/before", "1")
	}
}

func testPostgresFaults(t *testing.T, server *postgrestest.Server) {
	location := server.URL("faults")
	mustPut(t, openStore(t, location), "a/b", "1")
	server.InStates(t, `CREATE ROLE reader LOGIN PASSWORD 'other-password'; CREATE SCHEMA empty`)
	alter := func(change func(*url.URL)) string {
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	other := func(u *url.URL) { u.User = url.UserPassword("reader", "other-password") }
	wantFaults(t, map[string]faultTest{
		"wrong password": {alter(func(u *url.URL) { u.User = url.UserPassword(postgrestest.User, "other-password") }), statestore.ProblemAccess},
		"wrong database": {alter(func(u *url.URL) { u.Path = "/missing" }), statestore.ProblemURL},
		"nobody listens": {alter(func(u *url.URL) { u.Host = "127.0.0.1:1" }), statestore.ProblemUnreachable},
		"no rights":      {alter(other), statestore.ProblemAccess},
		"no schema":      {server.URL(""), statestore.ProblemURL},
		"broken port":    {"postgres://cairn:" + postgrestest.Password + "@127.0.0.1:x/states?schema=a", statestore.ProblemURL},
	})
	// There is no table, and this user may make none.
	s := openStore(t, alter(func(u *url.URL) { other(u); u.RawQuery = "schema=missing" }))
	wantNames(t, s, "a/")
	wantProblem(t, s.Put(t.Context(), "a/b", nil), statestore.ProblemAccess)
}

type faultTest struct {
	location string
	want     statestore.Problem
}

func wantFaults(t *testing.T, tests map[string]faultTest) {
	t.Helper()
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), c.location, os.Environ(), nil)
			if err == nil {
				_ = s.Close()
			}
			wantProblem(t, err, c.want)
		})
	}
}

// wantProblem checks the problem, that there is a remedy, and that no credentials are shown.
func wantProblem(t *testing.T, err error, want statestore.Problem) {
	t.Helper()
	fault, ok := errors.AsType[*Error](err)
	if !ok || fault.Problem != want || fault.Remedy == "" || fault.Location == "" {
		t.Fatalf("got error %v, want one with the problem %q", err, want)
	}
	if !strings.HasPrefix(err.Error(), "the place of records ") {
		t.Errorf("the error does not name the place: %s", err)
	}
	for _, secret := range []string{postgrestest.Password, "other-password", objecttest.Secret} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %s", err)
		}
	}
}

func TestFaultsOfLocations(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, map[string]faultTest{
		"empty":              {"", statestore.ProblemURL},
		"other scheme":       {"redis://user:other-password@host/1", statestore.ProblemURL},
		"no bucket":          {"s3://", statestore.ProblemURL},
		"credentials":        {"s3://user:other-password@bucket", statestore.ProblemURL},
		"malformed":          {"s3://other-password:bucket\x7f", statestore.ProblemURL},
		"missing directory":  {filepath.Join(directory, "missing"), statestore.ProblemNoDirectory},
		"file":               {file, statestore.ProblemURL},
		"relative directory": {"file://directory", statestore.ProblemURL},
	})
}

// newPrefix returns the location of a prefix that nobody has, in a bucket.
func newPrefix(t *testing.T, bucket string) string {
	t.Helper()
	u, err := url.Parse(bucket)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/some/" + strings.ReplaceAll(t.Name(), "/", "-")
	return u.String()
}

func TestServers(t *testing.T) {
	for kind, names := range map[string]int{objecttest.S3: usualNames, objecttest.GCS: 150, objecttest.Azure: 150} { // these are slow
		t.Run(kind, func(t *testing.T) {
			if kind != objecttest.S3 {
				testenv.SkipUnderRace(t, "the same happens with S3")
			}
			server := objecttest.Start(t, kind)
			server.Access().SetEnv(t)
			t.Run("contract", func(t *testing.T) {
				location := newPrefix(t, server.Access().Location)
				runContractOf(t, func(t *testing.T) Store { return openStore(t, location) }, names)
			})
			t.Run("whole bucket", func(t *testing.T) {
				s := openStore(t, server.Access().Location)
				mustPut(t, s, "whole/a", "1")
				wantNames(t, s, "whole/", "whole/a")
			})
			t.Run("requests that are cut", func(t *testing.T) { testCutRequests(t, server) })
			t.Run("faults", func(t *testing.T) { testServerFaults(t, server, kind) })
		})
	}
}

func testServerFaults(t *testing.T, server *objecttest.Server, kind string) {
	location := newPrefix(t, server.Access().Location)
	wantFaults(t, map[string]faultTest{
		"missing bucket": {strings.Replace(location, objecttest.Bucket, "missing", 1), statestore.ProblemURL},
	})
	t.Run("nobody", func(t *testing.T) {
		nobody := server.Through("127.0.0.1:1")
		nobody.SetEnv(t)
		wantFaults(t, map[string]faultTest{"listens": {newPrefix(t, nobody.Location), statestore.ProblemUnreachable}})
	})
	if kind != objecttest.S3 {
		return // the other client keeps its first key for the life of a process, or the server believes everybody
	}
	t.Run("wrong key", func(t *testing.T) {
		t.Setenv("AWS_SECRET_ACCESS_KEY", "other-password")
		wantFaults(t, map[string]faultTest{"of the bucket": {location, statestore.ProblemAccess}})
	})
	t.Run("no key", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", "")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "")
		wantFaults(t, map[string]faultTest{"of the bucket": {location, statestore.ProblemAccess}})
	})
}

// A server may refuse to write a record again before it has read the content, and end the
// connection, so that nobody sees its answer.
func TestRefusedUnread(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.(*net.TCPConn).SetLinger(0) //nolint:errcheck,forcetypeassert // so that the end is a reset
			conn.Close()                     //nolint:errcheck // likewise
		case r.URL.Query().Has("list-type"):
			fmt.Fprint(w, `<ListBucketResult></ListBucketResult>`)
		default:
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			fmt.Fprint(w, "there")
		}
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	s := openStore(t, "s3://bucket?use_path_style=true&region=us-east-1&endpoint="+url.QueryEscape(server.URL))
	mustPut(t, s, "large/record", "there")
	if err := s.Put(t.Context(), "large/record", make([]byte, 1<<20)); !errors.Is(err, ErrExists) {
		t.Errorf("another content: got error %v", err)
	}
}

// A write whose answer was lost finds its own content, and one of another does not (rules K1 and
// K3).
func testCutRequests(t *testing.T, server *objecttest.Server) {
	proxy := objecttest.NewProxy(t, server, testenv.Seed(t))
	proxy.Access().SetEnv(t)
	location := newPrefix(t, proxy.Access().Location)
	stores := []Store{openStore(t, location), openStore(t, location), openStore(t, location)}
	proxy.SetFaults(objecttest.Faults{
		MaxDelay: 5 * time.Millisecond, Repeat: 0.1, Reorder: 0.05, CutBefore: 0.1, CutAfter: 0.1, Unavailable: 0.05,
	})
	const rounds = 30
	errs := make([][]error, rounds)
	nameOf := func(round int) string { return fmt.Sprint("cut/", round) }
	free := make(chan struct{}, 6) // rounds mostly wait for the time after which a request is repeated
	var all sync.WaitGroup
	for round := range rounds {
		errs[round] = make([]error, len(stores))
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			var writing sync.WaitGroup
			for i, s := range stores {
				writing.Go(func() { errs[round][i] = s.Put(t.Context(), nameOf(round), fmt.Append(nil, i)) })
			}
			writing.Wait()
		})
	}
	all.Wait()
	for round := range rounds {
		winner := slices.Index(errs[round], nil)
		for i, err := range errs[round] {
			if i != winner && !errors.Is(err, ErrExists) {
				t.Errorf("%s: writer %d gets error %v, as %d has won", nameOf(round), i, err, winner)
			}
		}
		wantContent(t, stores[0], nameOf(round), fmt.Sprint(winner))
	}
	if counts := proxy.Counts(); counts.CutAfter == 0 {
		t.Errorf("no answer was cut: %+v", counts)
	}
	proxy.SetFaults(objecttest.Faults{})
}
