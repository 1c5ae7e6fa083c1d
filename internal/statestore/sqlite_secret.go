// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
)

// The table is made when it is first needed: versions of cairn that know nothing of it are not in its way.
const (
	createSecrets = `CREATE TABLE IF NOT EXISTS cairn_secret (
		deployment TEXT  NOT NULL PRIMARY KEY REFERENCES cairn_deployment (name),
		secret     BYTEA NOT NULL
	)`
	hasSecrets   = `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'cairn_secret'`
	selectSecret = `SELECT secret FROM cairn_secret WHERE deployment = $1`
	insertSecret = `INSERT INTO cairn_secret (deployment, secret) VALUES ($1, $2)
		ON CONFLICT (deployment) DO NOTHING`
)

// Secret implements [Store].
func (s *sqliteStore) Secret(ctx context.Context, deployment string) ([]byte, error) {
	var secret []byte
	err := s.read(ctx, func(tx *transaction) error {
		var tables int
		err := tx.QueryRowContext(ctx, hasSecrets).Scan(&tables)
		if err == nil && tables > 0 {
			secret, err = readSecret(ctx, tx, deployment)
		}
		return err
	})
	return secret, err
}

// Secret implements [Lock].
func (l *sqliteLock) Secret(ctx context.Context) ([]byte, error) {
	deployment := l.info.Deployment
	secret, err := l.store.Secret(ctx, deployment)
	if err != nil || secret != nil {
		return secret, err
	}
	secret = []byte(rand.Text())
	return secret, l.AdoptSecret(ctx, secret)
}

// AdoptSecret implements [Lock].
func (l *sqliteLock) AdoptSecret(ctx context.Context, secret []byte) error {
	return l.write(ctx, func(ctx context.Context, tx *transaction) error {
		if _, err := l.verify(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, createSecrets); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, insertSecret, l.info.Deployment, secret)
		return err
	})
}

func readSecret(ctx context.Context, tx *transaction, deployment string) ([]byte, error) {
	var secret []byte
	err := tx.QueryRowContext(ctx, selectSecret, deployment).Scan(&secret)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return secret, err
}
