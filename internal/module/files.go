// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/once"
)

// Files are parsed files, which loaders for several stacks have in common. The zero value has none.
// It is safe for concurrent use.
//
// A file is known by its content and by its name in ranges: one that was edited is parsed again, as
// is one that another stack names differently. Those with mistakes are not kept: diagnostics belong
// to the caller that gets them.
type Files struct {
	parsed once.Map[fileKey, *File]
	bytes  atomic.Int64 // of all that is kept, not parsed
}

type fileKey struct {
	name, display string
	content       [sha256.Size]byte
}

// maxKept is how many bytes of files are kept. Parsed they take some fifty times as much.
const maxKept = 8 << 20

var errNotKept = errors.New("the file is not kept")

// parse returns a parsed file. Nil keeps none.
func (f *Files) parse(name, display string, source []byte) (*File, hcl.Diagnostics) {
	if f == nil {
		return parse(name, display, source)
	}
	var file *File
	var diags hcl.Diagnostics
	kept, err := f.parsed.Get(context.Background(), fileKey{name, display, sha256.Sum256(source)}, func() (*File, error) {
		if file, diags = parse(name, display, source); len(diags) > 0 {
			return nil, errNotKept
		}
		if f.bytes.Add(int64(len(source))) > maxKept {
			f.bytes.Add(-int64(len(source)))
			return nil, errNotKept
		}
		return file, nil
	})
	if err != nil {
		return file, diags
	}
	return kept, nil
}
