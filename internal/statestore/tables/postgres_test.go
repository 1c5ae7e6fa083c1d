// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnstacks/cairn/internal/postgres"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

var schemas atomic.Int64

// newSchema returns the location of a schema that is not there yet.
func newSchema(server *postgrestest.Server) string {
	return server.URL(fmt.Sprintf("cairn_%d", schemas.Add(1)))
}

func TestPostgres(t *testing.T) {
	server := postgrestest.Start(t)
	storetest.Run(t, open, func(*testing.T) string { return newSchema(server) })
	for name, test := range map[string]func(*testing.T, *postgrestest.Server){
		"faults of the address and of rights": testPostgresFaults,
		"damaged tables":                      testPostgresDamage,
		"end of a lease":                      testLeaseEnds,
		"renewal of a lease":                  testLeaseRenewed,
		"connections that are cut":            testCutConnections,
		"tables of a former version":          testPostgresFormer,
		"writers of parts that are cut":       testCutWriters,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

// wantStoreError checks the problem, and that no message shows the password.
func wantStoreError(t *testing.T, err error, want statestore.Problem) {
	t.Helper()
	fault, ok := errors.AsType[*statestore.StoreError](err)
	if !ok || fault.Problem != want {
		t.Fatalf("got error %v, want one with the problem %q", err, want)
	}
	for _, secret := range []string{postgrestest.Password, "other-password"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a password: %s", err)
		}
	}
}

func testPostgresFaults(t *testing.T, server *postgrestest.Server) {
	location := newSchema(server)
	storetest.Apply(t, openStore(t, location), map[string][]byte{"a": []byte("1")})
	server.InStates(t, `CREATE ROLE reader LOGIN PASSWORD 'other-password'`)
	alter := func(change func(*url.URL)) string {
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	for name, c := range map[string]struct {
		location string
		want     statestore.Problem
	}{
		"wrong password":  {alter(func(u *url.URL) { u.User = url.UserPassword(postgrestest.User, "other-password") }), statestore.ProblemAccess},
		"wrong database":  {alter(func(u *url.URL) { u.Path = "/missing" }), statestore.ProblemURL},
		"nobody listens":  {alter(func(u *url.URL) { u.Host = "127.0.0.1:1" }), statestore.ProblemUnreachable},
		"no such host":    {alter(func(u *url.URL) { u.Host = "host.invalid" }), statestore.ProblemUnreachable},
		"no rights":       {alter(func(u *url.URL) { u.User = url.UserPassword("reader", "other-password") }), statestore.ProblemAccess},
		"no encryption":   {location + "&sslmode=require", statestore.ProblemUnreachable},
		"without schema":  {server.URL(""), statestore.ProblemURL},
		"broken port":     {"postgres://cairn:" + postgrestest.Password + "@127.0.0.1:x/states?schema=a", statestore.ProblemURL},
		"broken argument": {location + "&sslmode=maybe", statestore.ProblemURL},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(c.location, nil, statestore.Options{})
			if err == nil {
				_, err = s.Read(t.Context(), "default")
				if closeErr := s.Close(); closeErr != nil {
					t.Error(closeErr)
				}
			}
			wantStoreError(t, err, c.want)
		})
	}
	server.Exec(t, "postgres", `ALTER DATABASE states SET default_transaction_read_only = on`) // as a standby is
	defer server.Exec(t, "postgres", `ALTER DATABASE states RESET default_transaction_read_only`)
	standby := openStore(t, location)
	storetest.MustRead(t, standby, "default")
	_, err := standby.Lock(t.Context(), "default", statestore.LockRequest{Operation: "test"})
	wantStoreError(t, err, statestore.ProblemReadOnly)
}

func testPostgresDamage(t *testing.T, server *postgrestest.Server) {
	for name, c := range map[string]struct {
		damage string
		want   statestore.Problem
	}{
		"record changed":           {`UPDATE cairn_record SET value = 'x'`, statestore.ProblemCorrupt},
		"record removed":           {`DELETE FROM cairn_record`, statestore.ProblemCorrupt},
		"serial removed":           {`DELETE FROM cairn_version`, statestore.ProblemCorrupt},
		"deployment changed":       {`UPDATE cairn_deployment SET serial = 2`, statestore.ProblemCorrupt},
		"table of records missing": {`DROP TABLE cairn_record`, statestore.ProblemCorrupt},
		"table of format missing":  {`DROP TABLE cairn_schema`, statestore.ProblemCorrupt},
		"format missing":           {`DELETE FROM cairn_schema`, statestore.ProblemCorrupt},
		"impossible format":        {`UPDATE cairn_schema SET version = 0`, statestore.ProblemCorrupt},
		"newer format":             {`UPDATE cairn_schema SET version = 7`, statestore.ProblemNewer},
	} {
		t.Run(name, func(t *testing.T) {
			location := newSchema(server)
			storetest.Apply(t, openStore(t, location), map[string][]byte{"a": []byte("1")})
			address, err := postgres.Parse(location)
			if err != nil {
				t.Fatal(err)
			}
			server.InStates(t, "SET search_path TO "+address.Schema+"; "+c.damage)
			s := openStore(t, location)
			_, err = s.Read(t.Context(), "default")
			wantStoreError(t, err, c.want)
			_, err = s.Read(t.Context(), "other")
			wantStoreError(t, err, c.want)
		})
	}
}

// A holder that was killed on another machine, or suspended there, loses its lock when the lease
// ends. It can write nothing then.
func testLeaseEnds(t *testing.T, server *postgrestest.Server) {
	location := newSchema(server)
	mine, other := openStore(t, location), openStore(t, location)
	lock := storetest.MustLock(t, mine, "default").(*tableLock)
	w := storetest.MustBegin(t, lock, statestore.Base{})
	address, err := postgres.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	lock.lease.End() // as if the machine were suspended
	moveElsewhere(t, lock)
	leaseUntil := func(when string) {
		server.InStates(t, "SET search_path TO "+address.Schema+"; "+
			"UPDATE cairn_holder SET lease_until = (extract(epoch FROM "+when+") * 1000000)::BIGINT")
	}

	leaseUntil("now() + interval '1 minute'")
	_, err = other.Lock(t.Context(), "default", statestore.LockRequest{Operation: "test"})
	locked, ok := errors.AsType[*statestore.LockedError](err)
	if !ok || locked.Holder.Until.IsZero() || !strings.Contains(err.Error(), "until its lease ends") {
		t.Fatalf("got error %v, want that the state is locked, and until when", err)
	}

	leaseUntil("now() - interval '1 second'")
	taken := storetest.MustLock(t, other, "default")
	if from := storetest.Displaced(taken); from == nil || from.ID != lock.ID() || from.Host != "elsewhere" || !from.Expired {
		t.Errorf("the lock was taken from %v, want %s", from, lock.ID())
	}
	if err := w.Write(t.Context(), map[string][]byte{"a": []byte("late")}); !storetest.IsError[*statestore.LockLostError](err) {
		t.Errorf("writing after the end of the lease: got error %v, want that the lock is lost", err)
	}
	if err := lock.Unlock(t.Context()); !storetest.IsError[*statestore.LockLostError](err) {
		t.Errorf("unlocking after the end of the lease: got error %v, want that the lock is lost", err)
	}
	storetest.MustUnlock(t, taken)
}

// moveElsewhere makes the holder of a lock a process of another machine.
func moveElsewhere(t *testing.T, lock *tableLock) {
	t.Helper()
	err := lock.store.write(t.Context(), func(ctx context.Context, tx *transaction) error {
		d, err := lock.verify(ctx, tx)
		if err != nil {
			return err
		}
		holder := d.holder(lock.ID())
		holder.Identity.Scope, holder.Host = "another machine", "elsewhere"
		_, err = tx.ExecContext(ctx, `UPDATE cairn_holder SET process_scope = $2, host = $3 WHERE id = $1`,
			holder.ID, holder.Identity.Scope, holder.Host)
		return errors.Join(err, sealDeployment(ctx, tx, d))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Tables of version 3 are read as they are, and brought into the present format by whoever writes
// first.
func testPostgresFormer(t *testing.T, server *postgrestest.Server) {
	location := newSchema(server)
	s := openStore(t, location)
	storetest.Apply(t, s, map[string][]byte{"a": []byte("1")})
	lock := storetest.MustLock(t, s, "default").(*tableLock)
	want, err := s.Holders(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	err = lock.store.write(t.Context(), func(ctx context.Context, tx *transaction) error {
		d, err := lock.verify(ctx, tx)
		if err != nil {
			return err
		}
		tx.version = 3
		err = sealDeployment(ctx, tx, d)
		for _, statement := range formerLocks() {
			_, execErr := tx.ExecContext(ctx, statement)
			err = errors.Join(err, execErr, tx.settle(ctx))
		}
		_, execErr := tx.ExecContext(ctx, updateSchema, 3)
		return errors.Join(err, execErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSame := func() {
		t.Helper()
		s := openStore(t, location)
		storetest.WantRecords(t, storetest.MustRead(t, s, "default"), map[string]string{"a": "1"})
		holders, err := s.Holders(t.Context(), "default")
		if diff := cmp.Diff(want, holders, cmpopts.IgnoreFields(statestore.LockInfo{}, "Until")); err != nil || diff != "" {
			t.Errorf("Holders: error %v (-want +got):\n%s", err, diff)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	wantSame()
	var all sync.WaitGroup
	for i := range 4 { // at the same time
		s := openStore(t, location)
		all.Go(func() {
			lock, err := s.Lock(t.Context(), fmt.Sprint("another-", i), statestore.LockRequest{})
			if err == nil {
				err = lock.Unlock(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			for range 10 {
				if _, err := s.Holders(t.Context(), "default"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	testenv.Within(t, "all have locked", all.Wait)
	wantSame()
	storetest.MustUnlock(t, lock)
}

// Two writers of parts go on in serials of their own, each of which is opened once and ended,
// although connections are cut between commits and their answers.
func testCutWriters(t *testing.T, server *postgrestest.Server) {
	proxy := postgrestest.NewProxy(t, server)
	location := newSchema(server)
	address, err := postgres.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	s, other := openStore(t, server.Through(proxy.Address(), address.Schema)), openStore(t, location)
	begin := func(s statestore.Store, name string) (statestore.Lock, statestore.Writer) {
		t.Helper()
		lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{
			Operation: name, Parts: []statestore.Part{{Path: []string{name}, Exclusive: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		w, err := lock.Begin(t.Context(), storetest.MustRead(t, s, "default").Base(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return lock, w
	}
	cutLock, cut := begin(s, "cut")
	otherLock, uncutWriter := begin(other, "uncut")
	want := map[string]string{}
	const number = 100
	for i := range number {
		key := fmt.Sprint("cut-", i)
		want[key], want["uncut"] = "x", fmt.Sprint(i)
		proxy.CutAfter(int64(i * 37 % 4000)) // bytes of answers: of one write, or of several
		storetest.MustWrite(t, cut, map[string][]byte{key: []byte("x")})
		storetest.MustWrite(t, uncutWriter, map[string][]byte{"uncut": fmt.Append(nil, i)})
	}
	proxy.Uncut()
	for _, end := range []error{
		cut.Commit(t.Context()), uncutWriter.Commit(t.Context()), cutLock.Unlock(t.Context()), otherLock.Unlock(t.Context()),
	} {
		if end != nil {
			t.Error(end)
		}
	}
	storetest.WantRecords(t, storetest.MustRead(t, other, "default"), want)
	history, err := other.History(t.Context(), "default")
	if err != nil || len(history) != 2*number+2 {
		t.Errorf("%d writes in turns and two operations have opened %d serials, error %v; want one each", 2*number, len(history), err)
	}
	for i, v := range history {
		if v.Unfinished() {
			t.Errorf("serial %d of %d is unfinished", i+1, len(history))
		}
	}
	if err := other.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if proxy.Cuts() < 20 {
		t.Errorf("only %d connections were cut", proxy.Cuts())
	}
}

func testLeaseRenewed(t *testing.T, server *postgrestest.Server) {
	s := openStore(t, newSchema(server))
	lock := storetest.MustLock(t, s, "default").(*tableLock)
	first, err := storetest.Holder(t.Context(), s, "default")
	if err != nil {
		t.Fatal(err)
	}
	if left := first.Until.Sub(first.Started); left < statestore.LeaseTime/2 || left > 2*statestore.LeaseTime {
		t.Errorf("the lease lasts %s, want about %s", left, statestore.LeaseTime)
	}
	if err := lock.store.write(t.Context(), lock.renew); err != nil {
		t.Fatal(err)
	}
	second, err := storetest.Holder(t.Context(), s, "default")
	if err != nil {
		t.Fatal(err)
	}
	if !second.Until.After(first.Until) {
		t.Errorf("the lease lasts until %s after its renewal, as before", second.Until)
	}
	storetest.MustUnlock(t, lock)
}

// writeAll writes records one after the other, and says how many are stored after each.
func writeAll(t *testing.T, w statestore.Writer, number int, stored func(int)) {
	t.Helper()
	for i := range number {
		if err := w.Write(t.Context(), map[string][]byte{fmt.Sprintf("key-%d", i): fmt.Appendf(nil, "value %d", i)}); err != nil {
			t.Error(err)
			return
		}
		stored(i)
	}
}

func checkAllWritten(t *testing.T, location string, number int) {
	t.Helper()
	s := openStore(t, location)
	snapshot := storetest.MustRead(t, s, "default")
	if len(snapshot.Records) != number || snapshot.Changed != int64(number) || snapshot.Serial != 1 || snapshot.Unfinished() {
		t.Errorf("got %d records, serial %d with %d changes, unfinished: %t; want serial 1 with %d records",
			len(snapshot.Records), snapshot.Serial, snapshot.Changed, snapshot.Unfinished(), number)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// The network drops connections at any moment, also between a commit and its answer.
func testCutConnections(t *testing.T, server *postgrestest.Server) {
	proxy := postgrestest.NewProxy(t, server)
	location := newSchema(server)
	address, err := postgres.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, server.Through(proxy.Address(), address.Schema))
	lock := storetest.MustLock(t, s, "default")
	w := storetest.MustBegin(t, lock, statestore.Base{})
	const number = 200
	writeAll(t, w, number, func(i int) {
		if i%5 == 0 {
			proxy.CutAfter(int64(i * 7 % 900)) // bytes of answers
		}
	})
	proxy.Uncut()
	if err := w.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	for i := range 100 { // whatever was read before a cut is forgotten
		proxy.CutAfter(int64(i * 173 % 9000))
		snapshot := storetest.MustRead(t, s, "default")
		history, err := s.History(t.Context(), "default")
		names, err2 := s.Deployments(t.Context())
		locks, err3 := s.Locks(t.Context())
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if len(snapshot.Records) != number || len(history) != 1 || len(names) != 1 || len(locks) != 1 {
			t.Fatalf("read %d records, %d serials, %d deployments, %d locks; want %d and one of each",
				len(snapshot.Records), len(history), len(names), len(locks), number)
		}
	}
	proxy.Uncut()
	storetest.MustUnlock(t, lock)
	checkAllWritten(t, location, number)
	if proxy.Cuts() < 20 {
		t.Errorf("only %d connections were cut", proxy.Cuts())
	}
}

// An apply goes on when its server was restarted, and when it has crashed.
func TestPostgresServerStops(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"restarted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			server := postgrestest.Start(t)
			location := newSchema(server)
			s := openStore(t, location)
			lock := storetest.MustLock(t, s, "default")
			w := storetest.MustBegin(t, lock, statestore.Base{})
			const number = 300
			half := make(chan struct{})
			var writing sync.WaitGroup
			writing.Go(func() {
				writeAll(t, w, number, func(i int) {
					if i == number/2 {
						close(half)
					}
				})
			})
			testenv.Receive(t, "half of the records are stored", half)
			server.Stop(t, signal)
			server.Run(t)
			testenv.Within(t, "all records are stored", writing.Wait)
			if err := w.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			storetest.MustUnlock(t, lock)
			checkAllWritten(t, location, number)
		})
	}
}

// A server that another store has reached before is waited for, also when nobody uses it any more.
func TestPostgresServerReachedBefore(t *testing.T) {
	server := postgrestest.Start(t)
	shared := &Shared{}
	away := make(chan statestore.Outage, 1)
	open := func() statestore.Store {
		s, err := Open(newSchema(server), shared, statestore.Options{Away: func(o statestore.Outage) { away <- o }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := open()
	storetest.MustUnlock(t, storetest.MustLock(t, before, "default"))
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	server.Stop(t, syscall.SIGKILL)
	s := open()
	read := make(chan error, 1)
	go func() {
		_, err := s.Deployments(t.Context())
		read <- err
	}()
	testenv.Receive(t, "word that the server is away", away)
	server.Run(t)
	if err := errors.Join(testenv.Receive(t, "the deployments", read), s.Close()); err != nil {
		t.Error(err)
	}
}

// A server that does not come back is an error after a while, and after that at once.
func TestPostgresServerGone(t *testing.T) {
	server := postgrestest.Start(t)
	s := openStore(t, newSchema(server))
	var outages []statestore.Outage
	patience := s.(*postgresStore).patience
	patience.AtMost, patience.Away = time.Second, func(o statestore.Outage) { outages = append(outages, o) }
	lock := storetest.MustLock(t, s, "default")
	w := storetest.MustBegin(t, lock, statestore.Base{})
	server.Stop(t, syscall.SIGKILL)
	testenv.Within(t, "the server is gone", func() {
		var err error
		for n := 0; err == nil; n++ { // A session may outlive the server for a moment.
			err = w.Write(t.Context(), map[string][]byte{"a": fmt.Append(nil, n)})
		}
		wantStoreError(t, err, statestore.ProblemUnreachable)
	})
	patience.AtMost = time.Hour
	testenv.Within(t, "the next call fails at once", func() {
		wantStoreError(t, w.Write(t.Context(), map[string][]byte{"a": []byte("1")}), statestore.ProblemUnreachable)
	})
	server.Run(t)
	storetest.MustWrite(t, w, map[string][]byte{"a": []byte("1")})
	storetest.MustUnlock(t, lock)
	if len(outages) != 1 || outages[0].AtMost != time.Second || !strings.Contains(fmt.Sprint(outages[0].Reason), "refused") {
		t.Errorf("told of the outages %v, want one", outages)
	}
}
