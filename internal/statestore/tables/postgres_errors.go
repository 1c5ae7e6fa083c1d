// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// The codes of errors of PostgreSQL that are met here, and classes of them: the first two
// characters. They are listed in appendix A of its manual.
const (
	codeInvalidPassword      = "28P01"
	codeInvalidAuthorization = "28000"
	codeNoDatabase           = "3D000"
	codeNoSchema             = "3F000"
	codeNoTable              = "42P01"
	codeNoColumn             = "42703"
	codeNoPrivilege          = "42501"
	codeReadOnly             = "25006"
	codeIdleTooLong          = "25P03" // of a transaction
	codeUnique               = "23505"
	codeSerialization        = "40001"
	codeDeadlock             = "40P01"
	codeLockTimeout          = "55P03"
	codeDiskFull             = "53100"
	codeTooManyConnections   = "53300"
	codeShutdown             = "57P01"
	codeCrash                = "57P02"
	codeStarting             = "57P03"

	classConnection = "08"
	classCorrupted  = "XX"
	classConstraint = "23"
)

// isCode reports whether an error is one of the server with one of these codes.
func isCode(err error, codes ...string) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if answer.Code == code {
			return true
		}
	}
	return false
}

func isMissingTable(err error) bool { return isCode(err, codeNoTable, codeNoSchema) }

// isConflict reports whether a transaction failed only because of another one, and may be run
// again.
func isConflict(err error) bool { return isCode(err, codeUnique, codeSerialization, codeDeadlock) }

// isLost reports whether the server is away, perhaps for a moment.
func isLost(err error) bool {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(answer.Code, classConnection) ||
			isCode(err, codeShutdown, codeCrash, codeStarting, codeTooManyConnections, codeIdleTooLong)
	}
	_, isNetwork := errors.AsType[net.Error](err)
	return isNetwork || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		strings.HasSuffix(err.Error(), "conn closed") // which has no type
}

// patiently calls a function that runs a transaction, again after conflicts, and while the server
// is away. It tells the function whether a call before may have been committed.
func (s *postgresStore) patiently(ctx context.Context, attempt func(again bool) (maybeCommitted bool, err error)) error {
	again := false
	err := s.patience.Call(ctx, func() error {
		maybeCommitted, err := attempt(again)
		again = again || maybeCommitted && err != nil && isLost(err)
		return err
	}, isConflict)
	return s.explain(ctx, err)
}

// explain turns the error of a call of the driver into one that names the fault of the server and
// the remedy. Errors of our own pass through.
func (s *postgresStore) explain(ctx context.Context, err error) error {
	if err == nil || errors.As(err, new(*statestore.StoreError)) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.explainAnswer(answer)
	}
	switch {
	case strings.HasPrefix(err.Error(), "sql: Scan error"): // which has no type
		return s.corrupt("one of its entries is of another kind than cairn writes", err)
	case isLost(err) || errors.As(err, new(*pgconn.ConnectError)):
		return s.fault(statestore.ProblemUnreachable, "cannot be reached", "check that the server runs, and its address and port; "+
			"everything stored so far is intact", connectionReason(err))
	}
	return err
}

// explainAnswer is explain for an error that the server has answered with.
func (s *postgresStore) explainAnswer(answer *pgconn.PgError) error {
	cause := errors.New(answer.Message) // its other fields may have values of rows
	switch code := answer.Code; {
	case code == codeInvalidPassword || code == codeInvalidAuthorization:
		return s.fault(statestore.ProblemAccess, "refuses this user",
			"check the user and the password: those of the URL, of PGUSER and PGPASSWORD, "+
				"or of ~/.pgpass", cause)
	case code == codeNoDatabase:
		return s.fault(statestore.ProblemURL, "cannot be used", "create the database, or correct the URL", cause)
	case code == codeNoPrivilege:
		return s.noPrivilege(cause)
	case code == codeReadOnly:
		return s.fault(statestore.ProblemReadOnly, "can be read but not changed",
			"give the address of the primary server, not of a standby", cause)
	case code == codeLockTimeout:
		return s.fault(statestore.ProblemBusy, "is in use: another transaction has kept a lock for longer than a minute",
			"end the session that holds it (pg_stat_activity lists them) and run the command again", cause)
	case code == codeDiskFull:
		return s.fault(statestore.ProblemFull, "cannot be written: the disk of the server is full",
			"free some space there and run the command again; everything stored so far is intact", cause)
	case code == codeNoTable || code == codeNoColumn || strings.HasPrefix(code, classConstraint):
		return s.corrupt("its tables are not as cairn made them", cause)
	case strings.HasPrefix(code, classCorrupted):
		return s.corrupt("the server finds damage", cause)
	case isLost(answer):
		return s.fault(statestore.ProblemUnreachable, "cannot be reached",
			"wait until the server has started; everything stored so far is intact", cause)
	}
	return s.fault(statestore.ProblemIO, "cannot be used", "look into the server's log", cause)
}

func (s *postgresStore) noPrivilege(cause error) error {
	return s.fault(statestore.ProblemAccess, "may not be used by this user", "grant it USAGE and CREATE on the schema "+s.schema+
		" and all privileges on its tables, or CREATE on the database where there is no such schema yet", cause)
}

// connectionReason returns the reason why there is no connection, without the address, which the
// location has already. Where TLS is not demanded, pgx has tried it and then gone without; the
// second reason counts.
func connectionReason(err error) error {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return errors.New(answer.Message)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return errors.New("there is no host " + dns.Name + ": " + dns.Err)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Err
	}
	if failed, ok := errors.AsType[*pgconn.ConnectError](err); ok && failed.Unwrap() != nil {
		reasons := strings.Split(failed.Unwrap().Error(), "\n")
		reason := reasons[len(reasons)-1]
		if _, after, found := strings.Cut(reason, "): "); found {
			reason = after
		}
		return errors.New(reason)
	}
	return err
}

// fault is a fault of this store. The cause may be nil.
func (s *postgresStore) fault(problem statestore.Problem, detail, remedy string, cause error) error {
	return &statestore.StoreError{Location: s.shown, Problem: problem, Detail: detail, Remedy: remedy, Err: cause}
}

// corrupt implements [database].
func (s *postgresStore) corrupt(what string, cause error) error {
	return s.fault(statestore.ProblemCorrupt, "is damaged: "+what,
		"keep a dump (pg_dump --schema="+s.schema+"), then restore a backup of the schema", cause)
}
