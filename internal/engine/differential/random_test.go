// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"cmp"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

const (
	// timeVariable is the environment variable that says for how long random modules are compared with
	// terraform.
	timeVariable = "CAIRN_DIFFERENTIAL_TIME"

	// seedVariable is the environment variable with the only seed to try.
	seedVariable = "CAIRN_DIFFERENTIAL_SEED"
)

// TestRandomModulesAgreeWithTerraform compares the results of random modules, some of whose objects
// fail, with terraform's.
func TestRandomModulesAgreeWithTerraform(t *testing.T) {
	agreeWithTerraform(t, func(seed uint64) *Case { return Generate(seed, true) }, withoutMeant)
}

// TestRandomMovesAgreeWithTerraform compares the plans for random trees of modules whose blocks
// move.
func TestRandomMovesAgreeWithTerraform(t *testing.T) {
	agreeWithTerraform(t, GenerateMoves, mistakenMoves)
}

// TestRandomReplacementsAgreeWithTerraform compares the plans for random graphs whose objects are
// replaced and removed.
func TestRandomReplacementsAgreeWithTerraform(t *testing.T) {
	agreeWithTerraform(t, GenerateReplacements, withoutMeant)
}

// agreeWithTerraform compares the results of random cases, without intended differences.
func agreeWithTerraform(t *testing.T, generate func(seed uint64) *Case, without func(text string) string) {
	t.Helper()
	if os.Getenv(testenv.OracleVariable) == "" {
		t.Skip("asks terraform for each module: run make differential")
	}
	native, terraform := NewNative(t), NewTerraform(t)
	limit, err := time.ParseDuration(cmp.Or(os.Getenv(timeVariable), "10m"))
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(limit)
	tried, cycles, failed := 0, 0, 0
	for each := range seeds(t) {
		if time.Now().After(end) && tried > 0 {
			break
		}
		tried++
		c := generate(each)
		want, got := terraform.Run(t, c), native.Run(t, c)
		if strings.Contains(want, "\nerror: Cycle\n") && !strings.Contains(got, "Circular dependency") {
			cycles++
			continue // for which there is an order, which terraform does not find
		}
		want, got = without(want), without(got)
		if diff := differences(want, InWordsOf(want, got)); diff != "" {
			t.Errorf("%s=%d: the native engine differs (-terraform +native):\n%s\n%s", seedVariable, each, diff, c.Format())
			if failed++; failed == 3 {
				break
			}
		}
		if os.Getenv(seedVariable) != "" {
			break
		}
	}
	t.Logf("%d modules, %d of them with cycles of terraform only", tried, cycles)
}

// mistakenMoves omits all but the errors of a step whose moves are wrong: an engine may find one
// mistake, or all of them.
func mistakenMoves(text string) string {
	steps := strings.Split(text, "\n# ")
	for i, step := range steps {
		if strings.Contains(step, "\nerror") {
			steps[i], _, _ = strings.Cut(step, "\n")
			steps[i] += "\nerror: refused\n"
			return strings.Join(steps[:i+1], "\n# ")
		}
	}
	return text
}

// unplaced is an error without a place. Of objects that nothing declares, terraform has the same
// error for all.
var unplaced = regexp.MustCompile(`(?m)^error[^:]*: .*\n`)

// applied are the outputs that an apply returns besides those that it stores.
var applied = regexp.MustCompile(`(?m)^output .*\n`)

// withoutMeant omits intended differences: errors without places, outputs after an apply that has
// failed, of which nobody can tell with terraform whether they have their old values or the same
// new ones, and the last step where nothing is left to be destroyed, for which the native engine
// plans nothing.
func withoutMeant(text string) string {
	text = unplaced.ReplaceAllStringFunc(text, func(line string) string {
		if m, ok := parseMessage(strings.TrimSpace(line)); ok && located.FindStringSubmatch(m.place)[2] == "" {
			return ""
		}
		return line
	})
	parts := strings.Split(text, "\napplied\n")
	for i := 1; i < len(parts); i++ {
		result, rest, next := strings.Cut(parts[i], "\n# ")
		if parts[i] = applied.ReplaceAllString(result, ""); next {
			parts[i] += "\n# " + rest
		}
	}
	text = strings.Join(parts, "\napplied\n")
	before, destruction, _ := strings.Cut(text, "\n# 4: ")
	if !strings.Contains(destruction, "\ndelete ") {
		return before
	}
	return text
}

// TestRandomModulesAreStable checks that there is nothing to do once a random module has been
// applied.
func TestRandomModulesAreStable(t *testing.T) {
	native := NewNative(t)
	const modules = 6
	tried := 0
	for each := range seeds(t) {
		if tried == modules {
			break
		}
		c := Generate(each, false)
		text := native.Run(t, c)
		tried++
		_, planned, _ := strings.Cut(text, "\n# 3: plan\n")
		planned, destroyed, _ := strings.Cut(planned, "\n# 4: ")
		if !strings.Contains(planned, "complete true, applyable false") ||
			strings.Contains(text, "error") || strings.Contains(destroyed, "stored") {
			t.Errorf("%s=%d:\n%s\n%s", seedVariable, each, text, c.Format())
		}
	}
}

// seeds returns the seed that the environment names, or those from [testenv.Seed] on.
func seeds(t *testing.T) func(func(uint64) bool) {
	t.Helper()
	if text := os.Getenv(seedVariable); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return func(yield func(uint64) bool) { yield(n) }
	}
	first := testenv.Seed(t)
	return func(yield func(uint64) bool) {
		for n := first; yield(n); n++ {
		}
	}
}
