// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxAnswer is how much is kept of a machine's answers about a copy.
const maxAnswer = 8 << 10

// File is a file to copy.
type File struct {
	Name    string // without directories
	Mode    fs.FileMode
	Size    int64
	Content io.Reader
}

// CopyFile writes a file into a directory of the machine, which must be there. Command is the
// command that receives it there.
//
// Errors: the cause of the end of ctx, the answer of the machine, and that the connection is lost.
func (m *Machine) CopyFile(ctx context.Context, command string, f File) error {
	return m.copying(ctx, command, func(s *sender) error { return s.file(f) })
}

// CopyTree writes a directory, or its entries, to the machine. Symbolic links are followed. Errors:
// as of [Machine.CopyFile], and those of reading.
func (m *Machine) CopyTree(ctx context.Context, command, dir string, contentOnly bool) error {
	return m.copying(ctx, command, func(s *sender) error {
		if contentOnly {
			return s.entries(dir)
		}
		whole, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		return s.directory(dir, filepath.Base(whole))
	})
}

func (m *Machine) copying(ctx context.Context, command string, send func(*sender) error) error {
	defer context.AfterFunc(ctx, func() { hangUp(m.client) })()
	err := m.copyNow(command, send)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (m *Machine) copyNow(command string, send func(*sender) error) error {
	session, err := m.client.NewSession()
	if err != nil {
		return fmt.Errorf("no session: %w", err)
	}
	defer hangUp(session)
	in, err := session.StdinPipe()
	if err != nil {
		return err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return err
	}
	said := &limited{}
	session.Stderr = said
	if err := session.Start(command); err != nil {
		return fmt.Errorf("the copy was not begun: %w", err)
	}
	s := &sender{in, bufio.NewReaderSize(out, maxAnswer)}
	if err = s.answer(); err == nil {
		err = send(s)
	}
	if err != nil && !errors.Is(err, errEnded) {
		return err
	}
	hangUp(in)
	if failed := exit(session.Wait()); failed != nil {
		err = failed
	}
	if text := said.text(); err != nil && text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// errEnded says that the other side has ended early.
var errEnded = errors.New("the copy has ended early")

// sender is the one side of scp, of which the other is the program of this name.
type sender struct {
	io.Writer
	answers *bufio.Reader
}

// answer reads the other side's answer to the last message.
func (s *sender) answer() error {
	code, err := s.answers.ReadByte()
	if err != nil {
		return errEnded
	}
	if code == 0 {
		return nil
	}
	line, err := s.answers.ReadSlice('\n')
	text := strings.TrimSpace(strings.ToValidUTF8(string(line), "\uFFFD"))
	switch {
	case code > 2:
		return fmt.Errorf("the machine says something else than scp does: %q", string(rune(code))+text)
	case err != nil && !errors.Is(err, io.EOF):
		return errors.New("the machine says too much")
	default:
		return errors.New(text)
	}
}

// say sends a line and waits for the answer.
func (s *sender) say(format string, args ...any) error {
	if _, err := fmt.Fprintf(s, format+"\n", args...); err != nil {
		return lost(err, s.answer())
	}
	return s.answer()
}

// lost returns why sending has failed: the last answer of the other side, if there is one.
func lost(err, said error) error {
	if said != nil {
		return said
	}
	return err
}

func (s *sender) file(f File) error {
	if strings.ContainsAny(f.Name, "/\n") {
		return fmt.Errorf("the name %q cannot be copied", f.Name)
	}
	if err := s.say("C%04o %d %s", f.Mode.Perm(), f.Size, f.Name); err != nil {
		return err
	}
	content := io.LimitReader(f.Content, f.Size)
	sent, err := io.Copy(s, content)
	switch {
	case err != nil:
		return lost(err, s.answer())
	case sent < f.Size:
		return fmt.Errorf("%s has become shorter while it was copied", f.Name)
	}
	if _, err := s.Write([]byte{0}); err != nil {
		return lost(err, s.answer())
	}
	return s.answer()
}

func (s *sender) directory(dir, name string) error {
	if strings.Contains(name, "\n") {
		return fmt.Errorf("the name %q cannot be copied", name)
	}
	if err := s.say("D0755 0 %s", name); err != nil {
		return err
	}
	if err := s.entries(dir); err != nil {
		return err
	}
	return s.say("E")
}

// entries sends the entries of a directory. One that is in itself, by a symbolic link, ends where
// the system does not follow it any more.
func (s *sender) entries(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			err = s.directory(path, entry.Name())
		default:
			err = s.open(path, entry.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sender) open(path, name string) error {
	f, err := Open(path, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.file(f.File)
}

// OpenFile is a file of this machine to be copied.
type OpenFile struct {
	File
	from *os.File
}

// Close closes the file.
func (f *OpenFile) Close() { hangUp(f.from) }

// Open opens a file of this machine, to be copied under a name. The caller closes it.
func Open(path, name string) (*OpenFile, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &OpenFile{File: File{Name: name, Mode: 0o644, Size: info.Size(), Content: f}, from: f}, nil
}

// limited keeps the beginning of its input.
type limited struct {
	mu struct {
		sync.Mutex
		kept []byte
	}
}

func (l *limited) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.kept = append(l.mu.kept, data[:min(maxAnswer-len(l.mu.kept), len(data))]...)
	return len(data), nil
}

func (l *limited) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(l.mu.kept), "\uFFFD"))
}
