// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/damage"
)

// Whatever is damaged, a plan file that is read at all is the plan that was written.
func TestRandomDamage(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	want, wantFile := examplePlan(t)
	incompressible := make([]byte, 50_000)
	random := rand.NewChaCha8([32]byte{})
	random.Read(incompressible) //nolint:errcheck // never fails
	want.Components[0].EnginePlan = incompressible
	raw := encode(t, want, wantFile)
	path := filepath.Join(t.TempDir(), "stack.plan")
	var number, refused int
	damage.Each(t, 300, func(i int, random *rand.Rand) {
		damaged, what := damage.Alter(random, raw, damage.Pages{Size: []int{64, 512, 4096}[random.IntN(3)]})
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, gotFile, err := ReadFile(path)
		number++
		switch {
		case err != nil:
			refused++
			if got != nil || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotPlan) {
				t.Errorf("damage %d: %s: got %v and error %v, want ErrDamaged or ErrNotPlan", i, what, got, err)
			}
		case !cmp.Equal(gotFile, wantFile, ignoreIdentity):
			t.Errorf("damage %d: %s: got context %+v", i, what, gotFile)
		case !bytes.Equal(encode(t, got, gotFile), raw): // much faster than to compare the plans
			t.Errorf("damage %d: %s: read without an error as another plan:\n%s", i, what, cmp.Diff(want, got, comparePlans))
		}
	})
	if refused < number/2 {
		t.Errorf("only %d of %d damages were refused", refused, number)
	}
	t.Logf("%d of %d damages were refused", refused, number)
}
