// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// measureListing measures commands in repositories of many stack directories.
func (r *report) measureListing(ctx context.Context, opts options, dir string) error {
	table := newTable("command", "stacks", "CPU seconds", "seconds", "peak MB")
	for _, stacks := range readingSizes {
		repository := filepath.Join(dir, fmt.Sprintf("stacks-%d", stacks))
		progress("ordering: a repository of %d stacks", stacks)
		if err := makeRepository(ctx, repository, stacks); err != nil {
			return err
		}
		for _, args := range [][]string{
			{"list"}, {"order"}, {"list", "-changed", "-base=HEAD^"}, {"list", "-changed", "-base=HEAD^^"}, {"run", "-dry-run", "--", "true"},
		} {
			var processor, elapsed []float64
			var peak int64
			for range opts.rounds {
				cmd := command(ctx, opts.cairn, args...)
				cmd.Dir = repository
				wall, cpu, err := timed(cmd)
				if err != nil {
					return err
				}
				processor, elapsed = append(processor, cpu.Seconds()), append(elapsed, wall.Seconds())
				peak = max(peak, peakMemory(cmd.ProcessState))
			}
			name := strings.Replace(strings.Join(args, " "), "-base=HEAD^^", "(all)", 1)
			table.row("cairn "+strings.Replace(name, "-base=HEAD^", "(one module)", 1), stacks, seconds(median(processor)), seconds(median(elapsed)),
				megabytes(peak))
		}
	}
	r.section("Commands in large repositories",
		fmt.Sprintf("Medians of %d rounds. Each stack comes after three others and uses one of 100 local modules, of which one, "+
			"used by all others, has changed; then a file of each stack, too. Git is included.", opts.rounds), table)
	return nil
}

// makeRepository makes a repository whose last commit has changed one module, and the one before a
// file of each stack.
func makeRepository(ctx context.Context, root string, stacks int) error {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same at every run
	for i := range 100 {
		text := "variable \"x\" {}\n"
		if i > 0 {
			text += fmt.Sprintf("module \"below\" {\n  source = \"../m%d\"\n  x      = var.x\n}\n", i/2)
		}
		if err := writeIn(root, fmt.Sprintf("modules/m%d/main.tf", i), text+"output \"y\" {\n  value = var.x\n}\n"); err != nil {
			return err
		}
	}
	stackDir := func(i int) string { return fmt.Sprintf("live/d%03d/s%02d", i/100, i%100) }
	for i := range stacks {
		var after []string
		for range min(i, 3) {
			after = append(after, fmt.Sprintf("%q", "/"+stackDir(random.IntN(i))))
		}
		stack := fmt.Sprintf("stack {\n  tags  = [\"t%d\"]\n  after = [%s]\n}\n", i/100, strings.Join(after, ", "))
		module := fmt.Sprintf("module \"m\" {\n  source = \"../../../modules/m%d\"\n  x      = %d\n}\n\n"+
			"resource \"terraform_data\" \"a\" {\n  input = module.m.y\n}\n", i%100, i)
		if err := writeIn(root, stackDir(i)+"/stack.tm.hcl", stack); err != nil {
			return err
		}
		if err := writeIn(root, stackDir(i)+"/main.tf", module); err != nil {
			return err
		}
	}
	if err := git(ctx, root, "init", "-q"); err != nil {
		return err
	}
	if err := commit(ctx, root); err != nil {
		return err
	}
	for i := range stacks {
		if err := writeIn(root, stackDir(i)+"/outputs.tf", "output \"y\" {\n  value = module.m.y\n}\n"); err != nil {
			return err
		}
	}
	if err := commit(ctx, root); err != nil {
		return err
	}
	if err := writeIn(root, "modules/m0/outputs.tf", "output \"z\" {\n  value = var.x\n}\n"); err != nil {
		return err
	}
	return commit(ctx, root)
}

func writeIn(root, name, text string) error {
	return writeFile(filepath.Join(root, filepath.FromSlash(name)), text)
}

func commit(ctx context.Context, root string) error {
	if err := git(ctx, root, "add", "-A"); err != nil {
		return err
	}
	return git(ctx, root, "-c", "user.name=bench", "-c", "user.email=bench@example.test", "-c", "commit.gpgSign=false",
		"commit", "-q", "-m", "x")
}

func git(ctx context.Context, root string, args ...string) error {
	cmd := command(ctx, "git", append([]string{"-C", root}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
