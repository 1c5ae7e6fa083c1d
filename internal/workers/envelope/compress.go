// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// DefaultLimit is the number of bytes that a content may have when it is opened.
const DefaultLimit = 1 << 30

// compressedFrom is the number of bytes from which on a content is compressed: of less, there is
// little to save.
const compressedFrom = 4 << 10

// maxWindow is the memory that unpacking may look back on, in bytes.
const maxWindow = 4 << 20

// encoder returns the encoder, which is large and safe for concurrent use.
var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithWindowSize(maxWindow), zstd.WithEncoderCRC(false)) // age authenticates
})

var errLarge = errors.New("the content is larger than the limit")

// pack returns a content as it is in an envelope: compressed where that makes it smaller.
func pack(content []byte) (body []byte, compressed bool, err error) {
	if len(content) < compressedFrom {
		return content, false, nil
	}
	e, err := encoder()
	if err != nil {
		return nil, false, err
	}
	body = e.EncodeAll(content, nil)
	if len(body) >= len(content) {
		return content, false, nil
	}
	return body, true, nil
}

// unpack is the inverse of pack. Its memory grows with the content as it is read, and not with the
// size that the body claims.
func unpack(body []byte, compressed bool, limit int64) ([]byte, error) {
	if !compressed {
		if int64(len(body)) > limit {
			return nil, errLarge
		}
		return body, nil
	}
	decoder, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	content, err := io.ReadAll(io.LimitReader(decoder, limit+1))
	if int64(len(content)) > limit {
		return nil, errLarge
	}
	return content, err
}
