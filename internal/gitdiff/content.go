// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

// contents returns the contents of files in a commit, those of at most limit bytes. One process
// reads them all.
func (r *Repository) contents(ctx context.Context, commit string, paths []string, limit int) (map[string][]byte, error) {
	var names bytes.Buffer
	var asked []string
	for _, path := range paths {
		if !strings.Contains(path, "\n") { // which is how names end
			names.WriteString(commit + ":" + path + "\n")
			asked = append(asked, path)
		}
	}
	found := map[string][]byte{}
	if len(asked) == 0 {
		return found, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.command(ctx, "cat-file", "--batch")
	cmd.Stdin = &names
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	out := bufio.NewReader(pipe)
	for _, path := range asked {
		src, ok, err := readObject(out, limit)
		if err != nil {
			cancel()
			return nil, errors.Join(err, cmd.Wait())
		}
		if ok {
			found[path] = src
		}
	}
	return found, cmd.Wait()
}

// readObject reads a line "ID TYPE SIZE" and as many bytes, or a line that says that there is no
// such object.
func readObject(in *bufio.Reader, limit int) (src []byte, ok bool, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, false, err
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[1] != "blob" && fields[1] != "tree" && fields[1] != "commit" {
		return nil, false, nil // "NAME missing", or that it is ambiguous
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return nil, false, err
	}
	if fields[1] != "blob" || size > int64(limit) {
		_, err = io.CopyN(io.Discard, in, size+1)
		return nil, false, err
	}
	src = make([]byte, size)
	if _, err := io.ReadFull(in, src); err != nil {
		return nil, false, err
	}
	_, err = in.Discard(1) // the end of the line
	return src, err == nil, err
}
