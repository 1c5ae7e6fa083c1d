// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairnstacks/cairn/internal/postgres"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// postgresServer has the connections to one database, for all stores of this process with the same
// [Shared] that have schemas in it.
//
// Those for reading and for writing are apart: a transaction that writes may wait for one that
// reads, which never waits for another.
type postgresServer struct {
	reading, writing *sql.DB

	reach        *statestore.Reach
	transactions atomic.Int64 // that wrote

	shared  *Shared // nil if it is for one store alone
	address string
	users   int                     // guarded by shared.mu
	checked map[string]*atomic.Bool // the schemas in which a check of everything has found nothing; guarded by shared.mu
}

// peekingTime is how long a connection may take for somebody who only peeks.
const peekingTime = 2 * time.Second

// server returns the connections to a database. The caller leaves it.
func (s *Shared) server(address string, config *pgx.ConnConfig) *postgresServer {
	if s == nil {
		s = &Shared{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.servers == nil {
		s.mu.servers, s.mu.reach = map[string]*postgresServer{}, map[string]*statestore.Reach{}
	}
	if s.mu.reach[address] == nil {
		s.mu.reach[address] = &statestore.Reach{}
	}
	server := s.mu.servers[address]
	if server == nil {
		server = &postgresServer{
			reading: postgres.OpenPool(config), writing: postgres.OpenPool(config),
			reach: s.mu.reach[address], shared: s, address: address, checked: map[string]*atomic.Bool{},
		}
		s.mu.servers[address] = server
	}
	server.users++
	return server
}

// leave closes the connections if nobody else uses them.
func (s *postgresServer) leave() error {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	delete(s.shared.mu.servers, s.address)
	return errors.Join(s.reading.Close(), s.writing.Close())
}

// isChecked says of a schema whether a check of everything has found nothing.
func (s *postgresServer) isChecked(schema string) *atomic.Bool {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.checked[schema] == nil {
		s.checked[schema] = &atomic.Bool{}
	}
	return s.checked[schema]
}
