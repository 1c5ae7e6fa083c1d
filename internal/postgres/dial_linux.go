// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package postgres

import (
	"context"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnanswered has the system give up a connection on which data was sent and nothing came back:
// keep-alive packets are not sent then.
func limitUnanswered(_ context.Context, network, _ string, conn syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var err error
	controlErr := conn.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unansweredPeriod.Milliseconds()))
	})
	return errors.Join(controlErr, err)
}
