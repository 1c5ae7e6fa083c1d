// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// deploymentRow is the stored form of a deployment without its serials.
type deploymentRow struct {
	name    string
	base    statestore.Base
	epoch   int64
	holders []statestore.LockInfo // of its locks, by epoch
	secret  []byte                // nil if it has none
}

// digest returns the first bytes of a cryptographic hash over fields that are
// strings or int64. Two lists of fields never run together into the same bytes.
func digest(fields ...any) int64 {
	var text []byte
	for _, field := range fields {
		switch field := field.(type) {
		case string:
			text = binary.BigEndian.AppendUint64(text, uint64(len(field)))
			text = append(text, field...)
		case int64:
			text = binary.BigEndian.AppendUint64(text, uint64(field)) //nolint:gosec // any bits will do
		default:
			panic(fmt.Sprintf("statestore: digest of a %T", field))
		}
	}
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:])) //nolint:gosec // any bits will do
}

// digest identifies a record among those of a serial. The sum of the digests
// of a set of records, which may overflow, stands for the set.
func (r *record) digest() int64 {
	return digest(string(r.key), r.validFrom, r.stored, int64(len(r.value)))
}

// seal is one row of cairn_seal.
type seal struct{ records, checksum int64 }

// seal returns the seal in a version of the format.
func (d *deploymentRow) seal(version int64) seal {
	locks := digestHolders(version, d.holders)
	fields := []any{d.name, d.base.Lineage, d.base.Serial, d.epoch, locks}
	if version >= 3 {
		fields = append(fields, string(d.secret))
	}
	return seal{locks, digest(fields...)}
}

// versionRow is the stored form of one serial without its records.
type versionRow struct {
	statestore.Version
	records int64 // sum of the digests of the records that are valid at its end
}

func (v *versionRow) seal(deployment, lineage string) seal {
	var finished int64
	if !v.Finished.IsZero() {
		finished = v.Finished.UnixMicro()
	}
	return seal{v.records, digest(deployment, lineage, v.Serial, v.Operation, v.Owner, v.Host,
		v.Started.UnixMicro(), finished, v.Changed, v.Total, v.records)}
}

// sealDeployment stores the seal of a deployment that was changed within tx.
func sealDeployment(ctx context.Context, tx *transaction, d *deploymentRow) error {
	seal := d.seal(tx.version)
	_, err := tx.ExecContext(ctx, putSeal, d.name, 0, seal.records, seal.checksum)
	return err
}

// sealVersion stores the seal of a serial that was changed within tx.
func sealVersion(ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow) error {
	seal := v.seal(d.name, d.base.Lineage)
	_, err := tx.ExecContext(ctx, putSeal, d.name, v.Serial, seal.records, seal.checksum)
	return err
}

// findDeployment returns a deployment, nil if there is no row for it. That
// alone does not prove that nothing is stored.
func (s *tableStore) findDeployment(ctx context.Context, tx *transaction, name string) (*deploymentRow, error) {
	d := &deploymentRow{name: name}
	err := tx.QueryRowContext(ctx, selectDeployment, name).Scan(&d.base.Lineage, &d.base.Serial, &d.epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is an answer
	}
	if err != nil {
		return nil, err
	}
	if d.holders, err = s.readHolders(ctx, tx, name); err != nil {
		return nil, err
	}
	if d.secret, err = readSecret(ctx, tx, name); err != nil {
		return nil, err
	}
	if !tx.sealed() {
		return d, nil
	}
	stored, err := readSeal(ctx, tx, name, 0)
	if err != nil {
		return nil, err
	}
	if stored != d.seal(tx.version) {
		return nil, s.corrupt(fmt.Sprintf("the entry of deployment %q, its locks or its secret has changed since it was written", name), nil)
	}
	return d, nil
}

// readDeployment is findDeployment for callers that believe the answer that nothing is stored,
// which is none where anything in the file is damaged.
func (s *tableStore) readDeployment(ctx context.Context, tx *transaction, name string) (*deploymentRow, error) {
	d, err := s.findDeployment(ctx, tx, name)
	if err != nil || d != nil && d.base.Serial > 0 {
		return d, err
	}
	if d == nil {
		d = &deploymentRow{name: name}
	}
	return d, s.checkOnce(ctx, tx)
}

// lookUp is readDeployment in a transaction of its own. With an error, the deployment is empty.
func (s *tableStore) lookUp(ctx context.Context, name string) (found deploymentRow, err error) {
	err = s.read(ctx, func(tx *transaction) error {
		d, err := s.readDeployment(ctx, tx, name)
		if err == nil {
			found = *d
		}
		return err
	})
	return found, err
}

// readVersion returns a serial of a deployment.
func (s *tableStore) readVersion(ctx context.Context, tx *transaction, d *deploymentRow, serial int64) (*versionRow, error) {
	version, err := scanVersion(tx.QueryRowContext(ctx, selectVersion, d.name, serial))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, s.corrupt(fmt.Sprintf("serial %d of deployment %q is missing", serial, d.name), nil)
	}
	if err != nil {
		return nil, err
	}
	v := &versionRow{Version: version}
	if !tx.sealed() {
		return v, nil
	}
	return v, s.checkSeal(ctx, tx, d, v)
}

// checkSeal reads the seal of a serial, and fails unless it fits.
func (s *tableStore) checkSeal(ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow) error {
	stored, err := readSeal(ctx, tx, d.name, v.Serial)
	if err != nil {
		return err
	}
	v.records = stored.records
	if stored != v.seal(d.name, d.base.Lineage) {
		return s.corrupt(fmt.Sprintf("the entry of serial %d of deployment %q has changed since it was written", v.Serial, d.name), nil)
	}
	return nil
}

// readSeal returns the zero seal, which fits nothing, where there is none.
func readSeal(ctx context.Context, tx *transaction, deployment string, serial int64) (seal, error) {
	var stored seal
	err := tx.QueryRowContext(ctx, selectSeal, deployment, serial).Scan(&stored.records, &stored.checksum)
	if errors.Is(err, sql.ErrNoRows) {
		return seal{}, nil
	}
	return stored, err
}
