// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package damage damages files at random, for tests of their readers.
//
// Damages are numbered, and each is made from the seed and its number alone, so
// that one can be made again without those before it.
package damage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// The environment variables that say how many damages there are to be, and
// from which seed.
const (
	numberVariable = "CAIRN_DAMAGES"
	seedVariable   = "CAIRN_DAMAGE_SEED"
)

// Each calls try for as many damages as are asked for, usually for a few. Tests that
// fail say which seed made them.
func Each(t *testing.T, usual int, try func(number int, random *rand.Rand)) {
	t.Helper()
	number := variable(t, numberVariable, uint64(usual)) //nolint:gosec // never negative
	seed := variable(t, seedVariable, testenv.Seed(t))
	t.Logf("%d damages with %s=%d", number, seedVariable, seed)
	for i := range int(number) { //nolint:gosec // as above
		try(i, rand.New(rand.NewPCG(seed, uint64(i)))) //nolint:gosec // to be made again
	}
}

func variable(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return number
}

// Pages are the parts of a file that disks and programs treat as one.
type Pages struct {
	Start int // of the first
	Size  int
}

// Alter returns a copy of content with one damage, and a description of it. The content has one
// page at least. The copy may be the same by chance.
func Alter(random *rand.Rand, content []byte, pages Pages) (altered []byte, what string) {
	content = bytes.Clone(content)
	start, size := pages.Start, pages.Size
	number := (len(content) - start) / size
	page := func(i int) []byte { return content[start+i*size : start+(i+1)*size] }
	at := random.IntN(len(content))
	one, other := random.IntN(number), random.IntN(number)

	switch kind := random.IntN(10); kind {
	case 0, 1, 2: // most of all, as single bits are found least easily
		content[at] ^= 1 << random.IntN(8)
		what = fmt.Sprintf("bit in byte %d", at)
	case 3: // where pages have their headers
		at := random.IntN(min(size, 120))
		page(one)[at] ^= 1 << random.IntN(8)
		what = fmt.Sprintf("bit in byte %d of page %d", at, one+1)
	case 4:
		n := min(1+random.IntN(200), len(content)-at)
		for i := range n {
			content[at+i] = byte(random.Uint32())
		}
		what = fmt.Sprintf("%d bytes from %d", n, at)
	case 5:
		clear(page(one))
		what = fmt.Sprintf("page %d zeroed", one+1)
	case 6:
		if random.IntN(2) == 0 {
			at = start + one*size
		}
		content = content[:at]
		what = fmt.Sprintf("cut at %d", at)
	case 7:
		swapped := bytes.Clone(page(one))
		copy(page(one), page(other))
		copy(page(other), swapped)
		what = fmt.Sprintf("pages %d and %d swapped", one+1, other+1)
	case 8:
		copy(page(one), page(other))
		what = fmt.Sprintf("page %d copied over page %d", other+1, one+1)
	case 9:
		more := make([]byte, 1+random.IntN(2*size))
		for i := range more {
			more[i] = byte(random.Uint32())
		}
		if random.IntN(2) == 0 {
			more = bytes.Clone(page(one))
		}
		content = append(content, more...)
		what = fmt.Sprintf("%d bytes appended", len(more))
	}
	return content, what
}
