// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
)

const (
	hasSecrets   = `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'cairn_secret'`
	selectSecret = `SELECT secret FROM cairn_secret WHERE deployment = $1`
	insertSecret = `INSERT INTO cairn_secret (deployment, secret) VALUES ($1, $2)`
)

// Secret implements [statestore.Store].
func (s *tableStore) Secret(ctx context.Context, deployment string) ([]byte, error) {
	d, err := s.lookUp(ctx, deployment)
	return d.secret, err
}

// Secret implements [statestore.Lock].
func (l *tableLock) Secret(ctx context.Context) ([]byte, error) {
	deployment := l.info.Deployment
	secret, err := l.store.Secret(ctx, deployment)
	if err != nil || secret != nil {
		return secret, err
	}
	secret = []byte(rand.Text())
	return secret, l.AdoptSecret(ctx, secret)
}

// AdoptSecret implements [statestore.Lock].
func (l *tableLock) AdoptSecret(ctx context.Context, secret []byte) error {
	return l.write(ctx, func(ctx context.Context, tx *transaction) error {
		d, err := l.verify(ctx, tx)
		if err != nil || d.secret != nil {
			return err
		}
		d.secret = secret
		if _, err := tx.ExecContext(ctx, insertSecret, d.name, secret); err != nil {
			return err
		}
		return sealDeployment(ctx, tx, d)
	})
}

// readSecret returns the secret of a deployment, nil if it has none.
func readSecret(ctx context.Context, tx *transaction, deployment string) ([]byte, error) {
	if tx.version < 3 {
		var tables int
		if err := tx.QueryRowContext(ctx, hasSecrets).Scan(&tables); err != nil || tables == 0 {
			return nil, err
		}
	}
	var secret []byte
	err := tx.QueryRowContext(ctx, selectSecret, deployment).Scan(&secret)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return secret, err
}
