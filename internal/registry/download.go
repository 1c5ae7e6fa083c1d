// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// downloadTries is how often a download is begun or gone on with before it is given up.
const downloadTries = 5

// worthwhile is how much must have arrived for a try not to count.
const worthwhile = 1 << 20

// Download is a file that a registry or a mirror has named.
type Download struct {
	Location *url.URL
	What     string // for errors
	Limit    int64  // of its size

	// Stall is how long it may stand still; 0 stands for [StallTime].
	Stall time.Duration

	// Progress is called now and then with how many bytes are there, of how many; these are -1 if the
	// server does not say. May be nil.
	Progress func(done, total int64)

	version string // of the file, as the server identifies it; "" if it does not
}

// Download writes a file from its beginning. One that breaks off goes on where it has ended if the
// server still has the same file, and is fetched anew otherwise, a few times. It reports whether
// parts of several answers were put together: where the result has not the expected content, that
// may be the reason.
//
// Errors: those of [Client.Open]; the reason why the file did not arrive; context.Cause(ctx).
func (c *Client) Download(ctx context.Context, file *os.File, d Download) (joined bool, err error) {
	var done, farthest int64
	for try := 1; ; try++ {
		part, err := c.part(ctx, file, &d, done)
		joined = part.continued || joined && part.end > 0
		if err == nil {
			return joined, nil
		}
		again, ok := errors.AsType[*passingError](err)
		if !ok || try >= downloadTries || again.after > longestPause {
			return joined, err
		}
		if done = part.end; done >= farthest+worthwhile {
			try, farthest = 1, done
		}
		if err := c.pause(ctx, try, again.after); err != nil {
			return joined, err
		}
	}
}

// part is the part of a file in one answer.
type part struct {
	end       int64 // how much of the file there is
	continued bool
}

// part asks for the rest of a file after its first bytes, and writes it.
func (c *Client) part(ctx context.Context, file *os.File, d *Download, done int64) (part, error) {
	header := http.Header{"Accept-Encoding": {"identity"}}
	if done > 0 && d.version != "" {
		header.Set("Range", fmt.Sprintf("bytes=%d-", done))
		header.Set("If-Range", d.version)
	}
	resp, err := c.openOnce(ctx, d.Location, d.What, header)
	if err != nil {
		return part{end: done}, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	at := part{}
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode != http.StatusPartialContent || !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", done)) ||
			versionOf(resp) != d.version {
			d.version = "" // from now on, all of it is asked for
			return part{}, &passingError{err: fmt.Errorf("%s gives another part of %s than was asked for", resp.Request.URL.Host, d.What)}
		}
		at = part{done, true}
	}
	d.version = versionOf(resp)
	err = file.Truncate(at.end)
	if err == nil {
		_, err = file.Seek(at.end, io.SeekStart)
	}
	if err != nil {
		return at, err
	}
	counted := &counter{Writer: file, download: d, done: at.end, total: -1}
	if resp.ContentLength >= 0 {
		counted.total = at.end + resp.ContentLength
	}
	err = Copy(ctx, counted, resp, d.Limit-at.end, d.Stall)
	at.end = counted.done
	return at, err
}

// versionOf returns an identifier of the content of an answer, byte for byte; "" for one that
// cannot be continued.
func versionOf(resp *http.Response) string {
	tag := resp.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		return resp.Header.Get("Last-Modified")
	}
	return tag
}

// counter reports the bytes that are written.
type counter struct {
	io.Writer
	download    *Download
	done, total int64
}

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.done += int64(n)
	if c.download.Progress != nil {
		c.download.Progress(c.done, c.total)
	}
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

// writeError is the error for a file that cannot be written, for which no server is to blame.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }
