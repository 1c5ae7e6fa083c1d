// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import "context"

// upgrade brings a file of an older version into the present format.
func (s *sqliteStore) upgrade(ctx context.Context, tx *transaction) error {
	if err := s.checkAll(ctx, tx); err != nil {
		return err
	}
	former := *tx // by which the file is read
	have, err := readSchema(ctx, tx)
	if err != nil {
		return err
	}
	for name, want := range tables(schemaVersion) {
		switch have[name] {
		case want:
		case "":
			if _, err := tx.ExecContext(ctx, want); err != nil {
				return err
			}
		default:
			return s.corrupt("its table "+name+" is not as cairn made it", nil)
		}
	}
	deployments, err := s.readFormer(ctx, &former)
	if err != nil {
		return err
	}
	if err := replaceLocks(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, updateSchema, schemaVersion); err != nil {
		return err
	}
	tx.version = schemaVersion
	for _, d := range deployments {
		if !former.sealed() {
			if err := s.sealVersions(ctx, tx, &former, d); err != nil {
				return err
			}
		}
		if err := sealDeployment(ctx, tx, d); err != nil {
			return err
		}
	}
	return nil
}

// sealVersions adds the seals of all serials of a deployment, which former reads without them.
func (s *sqliteStore) sealVersions(ctx context.Context, tx, former *transaction, d *deploymentRow) error {
	versions, err := s.checkVersions(ctx, former, d)
	if err != nil {
		return err
	}
	for _, v := range versions {
		if err := sealVersion(ctx, tx, d, v); err != nil {
			return err
		}
	}
	return nil
}
