// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// A plan file is a zip archive with these members, in this order:
//
//   - index.pb: a cairn.plan.v1.Plan;
//   - engine/N: the engine's plan of a component, if it is an archive, named by the index;
//   - index.sha256: the SHA-256 of index.pb, in hexadecimal.
//
// The index has the size and the SHA-256 of each of these, and all other engine plans. All times
// are zero, so that equal plans are equal files.
const (
	indexMember    = "index.pb"
	checksumMember = "index.sha256"
	enginePrefix   = "engine/"
)

// FormatVersion is the version of the files that this package writes.
const FormatVersion = 4

// maxIndexSize bounds the memory that reading an index may need.
const maxIndexSize = 4 << 30

// FileContext is the context of a plan: the program, configuration, state and deployment that it
// was made with and for. A program that applies a plan compares it with the present one.
type FileContext struct {
	CairnVersion string
	ConfigHash   string // of ConfigFiles
	ConfigFiles  ConfigFiles
	StateLineage string
	StateSerial  uint64
	StateFile    string // absolute path of the file that had the state, or would; "" if that is not known
	Deployment   string
	Stack        string // identity of the stack, in the terms of the caller

	// Prior is the state that the plan was made with, of a plan that has it with it and not in a
	// store, from which it would be known by lineage and serial. It is not in plan files.
	Prior *stackstate.State

	// Identity tells the plan from all others. Reading a file sets it; writing one does not look at
	// it, and returns it.
	Identity string
}

// ShortIdentity returns the part of a plan's identity by which people know it: its first 12
// hexadecimal digits, and "" of "".
func ShortIdentity(identity string) string {
	const digits = 12
	return identity[:min(digits, len(identity))]
}

// The reasons for which a file is refused, besides [*VersionError].
var (
	// ErrNotPlan means that a file is something else than a plan file.
	ErrNotPlan = errors.New("not a plan file of cairn")

	// ErrDamaged means that a plan file was cut short or altered.
	ErrDamaged = errors.New("the plan file is damaged")
)

// VersionError is the error for a plan file in a format that this version does
// not know.
type VersionError struct{ FormatVersion uint32 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the plan file has format version %d, and this version of cairn reads format version %d only",
		e.FormatVersion, FormatVersion)
}

// Write writes a plan file, and returns the identity that the plan has when it is read again. Equal
// arguments give equal bytes.
func Write(w io.Writer, p *Plan, file FileContext) (identity string, err error) {
	index, enginePlans, err := encodePlan(p, file)
	if err != nil {
		return "", fmt.Errorf("writing plan: %w", err)
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(index)
	if err != nil {
		return "", fmt.Errorf("writing plan: %w", err)
	}
	archive, err := newArchive(w)
	if err != nil {
		return "", fmt.Errorf("writing plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	identity = hex.EncodeToString(sum[:])
	members := []member{{indexMember, zip.Deflate, raw}}
	members = append(members, enginePlans...)
	members = append(members, member{checksumMember, zip.Store, []byte(identity)})
	for _, m := range members {
		if err := m.write(archive); err != nil {
			return "", fmt.Errorf("writing plan: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return "", fmt.Errorf("writing plan: %w", err)
	}
	return identity, nil
}

// newArchive returns a writer of an archive whose members share one compressor:
// each is closed before the next begins, and making one costs more than
// compressing an ordinary engine plan.
func newArchive(w io.Writer) (*zip.Writer, error) {
	compressor, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		compressor.Reset(w)
		return compressor, nil
	})
	return archive, nil
}

type member struct {
	name    string
	method  uint16
	content []byte
}

func (m member) write(archive *zip.Writer) error {
	w, err := archive.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
	if err != nil {
		return err
	}
	_, err = w.Write(m.content)
	return err
}

// ReadFile is [ReadFrom] for the file at a path.
func ReadFile(path string) (*Plan, FileContext, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, FileContext{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, FileContext{}, err
	}
	if info.IsDir() {
		return nil, FileContext{}, fmt.Errorf("%s: %w: it is a directory", path, ErrNotPlan)
	}
	p, file, err := ReadFrom(f, info.Size())
	if err != nil {
		return nil, FileContext{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, file, nil
}

// ReadFrom reads a plan file and checks all of it, engine plans included.
//
// Whether the plan still fits the present situation is for the caller to say: the plan's engine,
// and the context.
//
// Errors:
//   - [ErrNotPlan]: this is not a plan file.
//   - [*VersionError]: the file was made by a newer version.
//   - [ErrDamaged]: the file was cut short or altered.
func ReadFrom(r io.ReaderAt, size int64) (*Plan, FileContext, error) {
	archive, err := openArchive(r, size)
	if err != nil {
		return nil, FileContext{}, err
	}
	raw, checksum, err := archive.index()
	if err != nil {
		return nil, FileContext{}, err
	}
	var version planv1.FormatVersion
	if err := proto.Unmarshal(raw, &version); err != nil {
		return nil, FileContext{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if version.GetFormatVersion() != FormatVersion {
		return nil, FileContext{}, &VersionError{version.GetFormatVersion()}
	}
	var index planv1.Plan
	if err := proto.Unmarshal(raw, &index); err != nil {
		return nil, FileContext{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	p, file, err := decodePlan(&index, archive.enginePlan)
	if err != nil {
		return nil, FileContext{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	file.Identity = checksum
	if len(archive.members) > 0 {
		return nil, FileContext{}, fmt.Errorf("%w: it has members that its index does not name", ErrDamaged)
	}
	return p, file, nil
}

// archive is a plan file that is being read.
type archive struct {
	members map[string]*zip.File // those not read yet
}

func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	isPlan := startsLikePlan(io.NewSectionReader(r, 0, size))
	reader, err := zip.NewReader(r, size)
	if err != nil && isPlan {
		return nil, fmt.Errorf("%w: it was cut short or altered", ErrDamaged)
	}
	if err != nil {
		return nil, ErrNotPlan
	}
	a := &archive{map[string]*zip.File{}}
	for _, f := range reader.File {
		if _, ok := a.members[f.Name]; ok && isPlan {
			return nil, fmt.Errorf("%w: the member %q occurs twice", ErrDamaged, f.Name)
		}
		a.members[f.Name] = f
	}
	switch {
	case isPlan && !endsLikePlan(r, size):
		return nil, fmt.Errorf("%w: something was added at its end", ErrDamaged)
	case isPlan:
		return a, nil
	case a.members["tfplan"] != nil:
		return nil, fmt.Errorf("%w: it is a plan of one Terraform configuration, not of a stack", ErrNotPlan)
	case a.members[indexMember] != nil && a.members[checksumMember] != nil:
		return nil, fmt.Errorf("%w: its start was altered", ErrDamaged)
	default:
		return nil, ErrNotPlan
	}
}

// startsLikePlan reports whether the first member of a zip archive is an index.
func startsLikePlan(r io.Reader) bool {
	const headerSize = 30
	start := make([]byte, headerSize+len(indexMember))
	if _, err := io.ReadFull(r, start); err != nil {
		return false
	}
	return bytes.HasPrefix(start, []byte("PK\x03\x04")) && string(start[headerSize:]) == indexMember
}

// endsLikePlan reports whether a zip archive ends with its directory, as the ones written here do:
// readers of zip archives overlook any bytes behind it.
func endsLikePlan(r io.ReaderAt, size int64) bool {
	const endSize = 22 // the end of the directory, without a comment
	end := make([]byte, endSize)
	if _, err := r.ReadAt(end, size-endSize); err != nil {
		return false
	}
	return bytes.HasPrefix(end, []byte("PK\x05\x06")) && bytes.HasSuffix(end, []byte{0, 0})
}

// index returns the index after checking it against its checksum, which it returns, too.
func (a *archive) index() (raw []byte, checksum string, err error) {
	want, err := a.read(checksumMember, sha256.Size*2)
	if err != nil {
		return nil, "", err
	}
	raw, err = a.read(indexMember, maxIndexSize)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(raw)
	checksum = hex.EncodeToString(sum[:])
	if checksum != string(want) {
		return nil, "", fmt.Errorf("%w: the index was altered", ErrDamaged)
	}
	return raw, checksum, nil
}

// enginePlan returns a member after checking it against the index.
func (a *archive) enginePlan(m *planv1.Member) ([]byte, error) {
	if !strings.HasPrefix(m.GetName(), enginePrefix) {
		return nil, fmt.Errorf("the index names the member %q", m.GetName())
	}
	raw, err := a.read(m.GetName(), m.GetSize())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	if int64(len(raw)) != m.GetSize() || !bytes.Equal(sum[:], m.GetSha256()) {
		return nil, fmt.Errorf("the member %q was altered", m.GetName())
	}
	return raw, nil
}

// read returns the content of a member, which must not be larger than the limit.
func (a *archive) read(name string, limit int64) ([]byte, error) {
	f, ok := a.members[name]
	if !ok {
		return nil, fmt.Errorf("%w: the member %q is missing", ErrDamaged, name)
	}
	delete(a.members, name)
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: the member %q: %w", ErrDamaged, name, err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	var content bytes.Buffer
	const believed = 32 << 20                                             // of a size that a damaged file may have made up
	content.Grow(int(min(f.UncompressedSize64, uint64(limit), believed))) //nolint:gosec // a limit is never negative
	if n, err := io.Copy(&content, io.LimitReader(r, limit+1)); err != nil || n > limit {
		return nil, fmt.Errorf("%w: the member %q cannot be read", ErrDamaged, name)
	}
	return content.Bytes(), nil
}
