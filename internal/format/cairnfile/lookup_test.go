// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/glob"
)

func TestLiteralBeginning(t *testing.T) {
	for expression, want := range map[string]string{
		"^net-[0-9]+$": "net-",
		"^net":         "net",
		"net-":         "",
		"^(?i)net":     "",
		"(?m)^net":     "",
		"^net|app":     "",
		"^{0}net":      "",
		"^net?":        "ne",
		"^":            "",
		"(":            "",
		"":             "",
	} {
		if got := literalBeginning(expression); got != want {
			t.Errorf("literalBeginning(%q): got %q, want %q", expression, got, want)
		}
	}
}

// The index finds the same leaves as asking each leaf.
func TestLookupFindsWhatMatches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { return []string{"a", "ab", "a-", "b", "bc", "."}[random.IntN(6)] }
	var leaves []*Leaf
	for i := range 80 {
		block := &Block{
			Name:  fmt.Sprintf("%s%s%d", word(), word(), i%10),
			Type:  StackType,
			Stack: &Stack{Dir: strings.Trim(word()+"/"+word(), "./")},
		}
		if i%9 == 0 {
			block.Stack.Dir = "."
		}
		if i%7 == 0 {
			block = &Block{Name: block.Name, Type: TaskType, Task: &Task{Dir: "."}}
		}
		leaves = append(leaves, &Leaf{Block: block})
	}
	x := newLookup(leaves)
	check := func(what string, got []*Leaf, match func(*Leaf) bool) {
		t.Helper()
		if want := slices.DeleteFunc(slices.Clone(leaves), func(l *Leaf) bool { return !match(l) }); !slices.Equal(got, want) {
			t.Errorf("%s: found %d leaves, want %d", what, len(got), len(want))
		}
	}
	for _, text := range []string{"a*", "*", "a", "ab*1", "?b*", "{a,b}*", "b/*", "**", "a/**", "*/ab", "[a]*/b"} {
		pattern, err := glob.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		check("names "+text, x.byName(pattern.Prefix(), pattern.Match), func(l *Leaf) bool { return pattern.Match(l.Name) })
		check("directories "+text, x.byDir(pattern.Prefix(), pattern.Match), func(l *Leaf) bool {
			return l.Stack != nil && pattern.Match(l.Stack.Dir)
		})
	}
	for _, text := range []string{"^a", "^ab?-", "b", "^a|b", "(?i)^A", "^(?i)A", "1$", "^$"} {
		expr := regexp.MustCompile(text)
		check("expression "+text, x.byName(literalBeginning(text), expr.MatchString), func(l *Leaf) bool { return expr.MatchString(l.Name) })
	}
	for _, dir := range []string{".", "a", "a/b", "ab", "c"} {
		check("within "+dir, x.within(dir), func(l *Leaf) bool { return l.Stack != nil && contains(dir, l.Stack.Dir) })
	}
}

// Ten times as many stacks take about ten times the work, also where groups have to do with groups.
func TestWorkIsInProportionToStacks(t *testing.T) {
	everything := func(m *Model) map[*Leaf]Cause {
		causes := map[*Leaf]Cause{}
		for _, leaf := range m.Leaves {
			causes[leaf] = Cause{}
		}
		return causes
	}
	groups := func(rules string) func(stacks int) string {
		return func(stacks int) string {
			var text strings.Builder
			for i := range stacks / 2 {
				fmt.Fprintf(&text, "stack \"a%d\" {}\nstack \"b%d\" {}\n", i, i)
			}
			return text.String() + "group \"a\" { members = [\"a*\"] }\ngroup \"b\" {\n  members = [\"b*\"]\n" + rules + "}\n"
		}
	}
	for _, test := range []struct {
		name string
		text func(stacks int) string
		work func(m *Model) int
	}{
		{"modified groups", groups("modified_by = [\"a\"]\n"), func(m *Model) int { return len(m.modified(everything(m))) }},
		{"wanted groups", groups("wants = [\"a\"]\n"), func(m *Model) int {
			selected := map[*Leaf]bool{}
			for _, leaf := range m.LeavesOf(m.Block("b")) {
				selected[leaf] = true
			}
			m.along(selected, func(*Leaf) bool { return true })
			return len(selected)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			allocated := func(stacks int) uint64 {
				text := test.text(stacks)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if got := test.work(resolve(t, text)); got != stacks {
					t.Fatalf("%d of %d stacks", got, stacks)
				}
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			if few, many := allocated(200), allocated(2000); many > 15*few {
				t.Errorf("%d bytes are allocated for 2000 stacks, %d for 200", many, few)
			}
		})
	}
}
