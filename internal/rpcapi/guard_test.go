// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A status is sent in a header, of which clients take only so much.
func TestShortenStatus(t *testing.T) {
	for _, text := range []string{"short", strings.Repeat("x", maxStatusText), strings.Repeat("ü", maxStatusText)} {
		err := status.Error(codes.InvalidArgument, text)
		shortenStatus(&err)
		got := status.Convert(err)
		if short := len(text) <= maxStatusText; got.Code() != codes.InvalidArgument || short != (got.Message() == text) ||
			len(got.Message()) > maxStatusText+len("…") || !utf8.ValidString(got.Message()) {
			t.Errorf("%d bytes: %s with %d bytes", len(text), got.Code(), len(got.Message()))
		}
	}
	var err error
	if shortenStatus(&err); err != nil {
		t.Errorf("no error became %v", err)
	}
}
