// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
)

// modelStack is a stack of a random tree.
type modelStack struct{ before, after, tags []string }

// randomTree makes stacks in directories at several depths, with entries of all kinds. Some are
// meant not to be a cycle.
func randomTree(random *rand.Rand) map[string]*modelStack {
	dirs := []string{"a", "a/x", "a/x/y", "a/z", "ab", "b", "b/c/d", "c", "c/a", "d/e", "e"}
	random.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
	dirs = dirs[:2+random.IntN(len(dirs)-2)]
	stacks := map[string]*modelStack{}
	ranks := slices.Sorted(slices.Values(dirs)) // those above first
	for _, dir := range dirs {
		s := &modelStack{}
		for _, tag := range []string{"t", "u", "v"} {
			if random.IntN(4) == 0 {
				s.tags = append(s.tags, tag)
			}
		}
		for range random.IntN(3) {
			other := ranks[random.IntN(len(ranks))]
			entry := "/" + other
			switch random.IntN(8) {
			case 0:
				entry = "/" + path.Dir(other)
			case 1, 2, 3:
				entry = strings.Repeat("../", strings.Count(dir, "/")+1) + other
			case 4:
				entry = "tag:" + []string{"t", "u:v", "t:u,v", "v,w"}[random.IntN(4)]
			case 5:
				entry += "/./"
			}
			if slices.Index(ranks, other) < slices.Index(ranks, dir) {
				s.after = append(s.after, entry)
			} else {
				s.before = append(s.before, entry)
			}
		}
		stacks[dir] = s
	}
	return stacks
}

// meaning are the stacks that an entry of one in dir stands for, by lines,
//
func meaning(stacks map[string]*modelStack, dir, attribute, entry string) []string {
	var found []string
	if query, ok := strings.CutPrefix(entry, "tag:"); ok {
		for name, s := range stacks {
			for alternative := range strings.SplitSeq(query, ",") {
				all := true
				for tag := range strings.SplitSeq(alternative, ":") {
					all = all && slices.Contains(s.tags, tag)
				}
				if all && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
		return found
	}
	at := func(from, entry string) string {
		if strings.HasPrefix(entry, "/") {
			return path.Clean(entry)
		}
		return path.Join("/", from, entry)
	}
	within := func(name, dir string) bool {
		return dir == "/" || "/"+name == dir || strings.HasPrefix("/"+name, dir+"/")
	}
	means := at(dir, entry)
	for name := range stacks {
		// A stack below the directory is not meant itself, with those below it, and neither are others
		// that have the same entry.
		left := false
		for other, s := range stacks {
			entries := map[string][]string{"before": s.before, "after": s.after}[attribute]
			says := slices.ContainsFunc(entries, func(e string) bool { return !strings.HasPrefix(e, "tag:") && at(other, e) == means })
			left = left || says && "/"+other != means && within(other, means) && within(name, "/"+other)
		}
		if within(name, means) && (!left || "/"+dir == means || !within(dir, means)) {
			found = append(found, name)
		}
	}
	return found
}

// Section 3.3, word for word, on random trees: the sequence of all, and of some.
func TestOrderA31A37A39A40A44A61RandomTrees(t *testing.T) {
	ordered := 0
	const seeds = 150
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 3))
		stacks := randomTree(random)
		before := map[string]map[string]bool{} // by the successor
		for dir := range stacks {
			before[dir] = map[string]bool{}
		}
		for dir, s := range stacks {
			for _, entry := range s.after {
				for _, other := range meaning(stacks, dir, "after", entry) {
					before[dir][other] = true
				}
			}
			for _, entry := range s.before {
				for _, other := range meaning(stacks, dir, "before", entry) {
					before[other][dir] = true
				}
			}
			for above := path.Dir(dir); above != "."; above = path.Dir(above) {
				if _, ok := stacks[above]; ok {
					before[dir][above] = true
				}
			}
		}
		want := queueOf(before)
		var lines []string
		for dir, s := range stacks {
			lines = append(lines, fmt.Sprintf("%s tags = [%s]; before = [%s]; after = [%s]", dir, quoted(s.tags), quoted(s.before), quoted(s.after)))
		}
		tree, g, diags := load(t, writeTree(t, lines...))
		if len(want) < len(stacks) {
			if !diags.HasErrors() {
				t.Fatalf("seed %d: a sequence, and not everything can be in one\n%s", seed, strings.Join(lines, "\n"))
			}
			continue
		}
		if diags.HasErrors() {
			t.Fatalf("seed %d: %v\n%s", seed, diags, strings.Join(lines, "\n"))
		}
		ordered++
		if got := sequence(g, nil); got != strings.Join(want, ", ") {
			t.Fatalf("seed %d: sequence %s, want %s\n%s", seed, got, strings.Join(want, ", "), strings.Join(lines, "\n"))
		}
		some := slices.DeleteFunc(slices.Clone(want), func(string) bool { return random.IntN(2) == 0 })
		if got := sequence(g, selectionOf(t, tree, strings.Join(some, " "))); got != strings.Join(some, ", ") {
			t.Fatalf("seed %d: sequence of some %s, want %s\n%s", seed, got, strings.Join(some, ", "), strings.Join(lines, "\n"))
		}
	}
	if ordered < seeds/4 {
		t.Errorf("only %d of %d trees can be put in order", ordered, seeds)
	}
}

// queueOf is the algorithm of section 3.3. Stacks in a cycle, or behind one, are missing.
func queueOf(before map[string]map[string]bool) []string {
	left := map[string]map[string]bool{}
	var queue []string
	for name, all := range before {
		if left[name] = maps.Clone(all); len(all) == 0 {
			queue = append(queue, name)
		}
	}
	slices.Sort(queue)
	for i := 0; i < len(queue); i++ {
		var ready []string
		for name, all := range left {
			if all[queue[i]] {
				if delete(all, queue[i]); len(all) == 0 {
					ready = append(ready, name)
				}
			}
		}
		slices.Sort(ready)
		queue = append(queue, ready...)
	}
	return queue
}

func quoted(texts []string) string {
	var list []string
	for _, text := range texts {
		list = append(list, fmt.Sprintf("%q", text))
	}
	return strings.Join(list, ", ")
}

// Functions in a stack block are evaluated where their arguments are known.
func TestFunctionsOfStackBlocks(t *testing.T) {
	for src, want := range map[string]string{
		`name = tm_title(tm_join(" ", ["a", "b"]))`:                         "A B||",
		`name = tm_upper(tm_file("x"))`:                                     "||",
		`name = tm_upper(global.x)`:                                         "||",
		`tags = [tm_lower("ONE"), tm_format("%s-%d", "x", 2)]`:              "|one x-2|",
		`tags = tm_concat(["a"], tm_split(",", "b,a"))`:                     "|a b|",
		`tags = tm_sort(tm_toset(["b", "a"]))`:                              "|a b|",
		`after = ["../${tm_replace("x_y", "_", "-")}"]`:                     "||../x-y",
		`after = tm_distinct(["/a", tm_trimsuffix("/a/", "/")])`:            "||/a",
		`after = [tm_reverse(["/a"])[0]]`:                                   "error",
		`tags = [tm_uuid()]`:                                                "error",
		`tags = [global.x]`:                                                 "error",
		`tags = [lower("ONE")]`:                                             "error",
		`tags = tm_concat([1], ["a"])`:                                      "error",
		`tags = [tm_format("%0100000000d", 1)]`:                             "error",
		`tags = [tm_replace("aaa", "/a+/", "b")]`:                           "error",
		`tags = [tm_join("` + strings.Repeat("x", 2000) + `", ["a", "b"])]`: "error",
		`tags = [tm_lower(tm_join("", [for x in ["a"] : x]))]`:              "error",
		`id = tm_lower("ID")`:                                               "||",
		`description = tm_trimspace(" x ")`:                                 "||",
		`wants = tm_compact(["/a", ""])`:                                    "||",
	} {
		root := t.TempDir()
		for _, dir := range []string{"a", "x-y"} {
			writeFile(t, root, dir+"/stack.tm.hcl", "stack {}\n")
		}
		writeFile(t, root, "s/stack.tm.hcl", "stack {\n  "+src+"\n}\n")
		tree, diags := Load(root)
		got := "error"
		if !diags.HasErrors() {
			i, _ := tree.Index("/s")
			s := tree.Stacks[i]
			var after []string
			for _, entry := range s.After {
				after = append(after, entry.Text)
			}
			got = s.Name + "|" + strings.Join(s.Tags, " ") + "|" + strings.Join(after, " ")
		}
		if got != want {
			t.Errorf("%s: got %s, want %s (%v)", src, got, want, diags)
		}
	}
}
