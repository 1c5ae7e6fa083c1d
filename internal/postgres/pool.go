// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package postgres

import (
	"database/sql"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Of the connections that one process has at most. A server has a hundred for all, if nobody has
// changed that.
const (
	mostConnections  = 4
	idleConnections  = 2
	connectionIdle   = time.Minute
	connectingTime   = 10 * time.Second
	keepAliveIdle    = 15 * time.Second
	keepAliveCount   = 3
	keepAlivePause   = 5 * time.Second
	unansweredPeriod = 30 * time.Second
)

// OpenPool returns a pool of connections, which are made as they are needed.
func OpenPool(config *pgx.ConnConfig) *sql.DB {
	config = config.Copy()
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectingTime
	}
	// A connection whose other end is gone without a word is given up after half a minute.
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAlivePause, Count: keepAliveCount},
		ControlContext:  limitUnanswered,
	}
	config.DialFunc = dialer.DialContext
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(mostConnections)
	pool.SetMaxIdleConns(idleConnections)
	pool.SetConnMaxIdleTime(connectionIdle)
	return pool
}

// Raw calls a function with the connection of the driver.
func Raw(conn *sql.Conn, fn func(*pgx.Conn) error) error {
	return conn.Raw(func(driverConn any) error {
		c, ok := driverConn.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("connection of an unexpected type %T", driverConn)
		}
		return fn(c.Conn())
	})
}
