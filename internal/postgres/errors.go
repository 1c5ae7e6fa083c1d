// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package postgres

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
	codeDuplicateSchema      = "42P06"
	codeDuplicateTable       = "42P07"
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

// IsMissingTable reports whether there is no table, or no schema, of a name.
func IsMissingTable(err error) bool { return isCode(err, codeNoTable, codeNoSchema) }

// IsConflict reports whether a transaction failed only because of another one, and may be run
// again.
func IsConflict(err error) bool {
	return isCode(err, codeUnique, codeSerialization, codeDeadlock, codeDuplicateSchema, codeDuplicateTable)
}

// IsLost reports whether the server is away, perhaps for a moment.
func IsLost(err error) bool {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(answer.Code, classConnection) ||
			isCode(err, codeShutdown, codeCrash, codeStarting, codeTooManyConnections, codeIdleTooLong)
	}
	_, isNetwork := errors.AsType[net.Error](err)
	return isNetwork || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		strings.HasSuffix(err.Error(), "conn closed") // which has no type
}

// Explain turns the error of a call of the driver into one that names the fault of the server and
// the remedy. Errors of our own pass through.
func (a *Address) Explain(ctx context.Context, err error) error {
	if err == nil || errors.As(err, new(*statestore.StoreError)) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return a.explainAnswer(answer)
	}
	switch {
	case strings.HasPrefix(err.Error(), "sql: Scan error"): // which has no type
		return a.Corrupt("one of its entries is of another kind than cairn writes", err)
	case IsLost(err) || errors.As(err, new(*pgconn.ConnectError)):
		return a.Fault(statestore.ProblemUnreachable, "cannot be reached", "check that the server runs, and its address and port; "+
			"everything stored so far is intact", ConnectionReason(err))
	}
	return err
}

// explainAnswer is Explain for an error that the server has answered with.
func (a *Address) explainAnswer(answer *pgconn.PgError) error {
	cause := errors.New(answer.Message) // its other fields may have values of rows
	switch code := answer.Code; {
	case code == codeInvalidPassword || code == codeInvalidAuthorization:
		return a.Fault(statestore.ProblemAccess, "refuses this user",
			"check the user and the password: those of the URL, of PGUSER and PGPASSWORD, "+
				"or of ~/.pgpass", cause)
	case code == codeNoDatabase:
		return a.Fault(statestore.ProblemURL, "cannot be used", "create the database, or correct the URL", cause)
	case code == codeNoPrivilege:
		return a.NoPrivilege(cause)
	case code == codeReadOnly:
		return a.Fault(statestore.ProblemReadOnly, "can be read but not changed",
			"give the address of the primary server, not of a standby", cause)
	case code == codeLockTimeout:
		return a.Fault(statestore.ProblemBusy, "is in use: another transaction has kept a lock for longer than a minute",
			"end the session that holds it (pg_stat_activity lists them) and run the command again", cause)
	case code == codeDiskFull:
		return a.Fault(statestore.ProblemFull, "cannot be written: the disk of the server is full",
			"free some space there and run the command again; everything stored so far is intact", cause)
	case code == codeNoTable || code == codeNoColumn || strings.HasPrefix(code, classConstraint):
		return a.Corrupt("its tables are not as cairn made them", cause)
	case strings.HasPrefix(code, classCorrupted):
		return a.Corrupt("the server finds damage", cause)
	case IsLost(answer):
		return a.Fault(statestore.ProblemUnreachable, "cannot be reached",
			"wait until the server has started; everything stored so far is intact", cause)
	}
	return a.Fault(statestore.ProblemIO, "cannot be used", "look into the server's log", cause)
}

// NoPrivilege is the fault of a user without rights. The cause may be nil.
func (a *Address) NoPrivilege(cause error) error {
	return a.Fault(statestore.ProblemAccess, "may not be used by this user", "grant it USAGE and CREATE on the schema "+a.Schema+
		" and all privileges on its tables, or CREATE on the database where there is no such schema yet", cause)
}

// ConnectionReason returns the reason why there is no connection, without the address, which the
// location has already. Where TLS is not demanded, pgx has tried it and then gone without; the
// second reason counts.
func ConnectionReason(err error) error {
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

// Fault is a fault of this schema. The cause may be nil.
func (a *Address) Fault(problem statestore.Problem, detail, remedy string, cause error) error {
	return &statestore.StoreError{Location: a.Shown, Problem: problem, Detail: detail, Remedy: remedy, Err: cause}
}

// Corrupt is the fault of damaged tables. The cause may be nil.
func (a *Address) Corrupt(what string, cause error) error {
	return a.Fault(statestore.ProblemCorrupt, "is damaged: "+what,
		"keep a dump (pg_dump --schema="+a.Schema+"), then restore a backup of the schema", cause)
}
