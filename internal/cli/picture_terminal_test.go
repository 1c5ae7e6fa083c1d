// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package cli

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// The picture in the README is a screenshot of the program. UPDATE_GOLDEN=1 draws it anew.
func TestPictureOfPlanIsWhatIsShown(t *testing.T) {
	testenv.Engine(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/quickstart")); err != nil {
		t.Fatal(err)
	}
	args := []string{"plan", "-out=demo.plan", "-var", "pools={}"}
	term := startOnTerminal(t, pty.Winsize{Rows: 100, Cols: 80}, nil, append([]string{"-chdir=" + dir}, args...)...)
	if code := term.end(); code != cmdline.ExitOK {
		t.Fatalf("exit code %d:\n%s", code, term.text())
	}
	got := screenSVG(term.screen, "$ cairn "+strings.Replace(strings.Join(args, " "), "pools={}", "'pools={}'", 1))

	const path = "../../docs/images/plan.svg"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(filepath.FromSlash(path), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the program shows, which is\n%s\nUPDATE_GOLDEN=1 draws it", path, term.text())
	}
}

// tookLong is the duration at the end of a line, which slow machines add.
var tookLong = regexp.MustCompile(` \((\d+m)?\d+s\)$`)

// screenSVG draws a screen with plain texts, each at its own place: no style sheets, scripts,
// classes or preserved spaces, which renderers treat differently.
func screenSVG(screen vt10x.Terminal, command string) string {
	const letter, line, border = 8.43, 18, 20
	lines := strings.Split(strings.TrimRight(screen.String(), " \n"), "\n")
	columns, _ := screen.Size()
	width, height := int(letter*float64(columns))+2*border, (len(lines)+1)*line+2*border
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>cairn plan of three components</title>\n")
	fmt.Fprintf(&b, `<rect x="0" y="0" width="%d" height="%d" rx="10" fill="#111827"/>`+"\n", width, height)
	write := func(row, column int, text string, look string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14"%s>`,
			border+letter*float64(column), border+14+row*line, look)
		_ = xml.EscapeText(&b, []byte(text))
		b.WriteString("</text>\n")
	}
	write(0, 0, command, lookOf(vt10x.Glyph{FG: vt10x.DefaultFG}))
	for y, text := range lines {
		end := len([]rune(tookLong.ReplaceAllString(strings.TrimRight(text, " "), "")))
		for x := 0; x < end; {
			first := screen.Cell(x, y)
			run := ""
			for from := x; x < end && !strings.HasSuffix(run, "  "); x++ {
				cell := screen.Cell(x, y)
				if x > from && lookOf(cell) != lookOf(first) {
					break
				}
				run += string(cell.Char)
			}
			start := x - len([]rune(run))
			trimmed := strings.TrimLeft(run, " ")
			start += len([]rune(run)) - len([]rune(trimmed))
			if trimmed = strings.TrimRight(trimmed, " "); trimmed != "" {
				write(y+1, start, trimmed, lookOf(first))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// lookOf returns the attributes of a text.
func lookOf(cell vt10x.Glyph) string {
	const bold = 1 << 2 // as vt10x has it
	colors := map[vt10x.Color]string{1: "#f87171", 2: "#4ade80", 3: "#facc15", 6: "#22d3ee", 8: "#9ca3af"}
	color, ok := colors[cell.FG]
	if !ok {
		color = "#e5e7eb"
	}
	look := fmt.Sprintf(` fill="%s" stroke="none"`, color) // ImageMagick outlines texts otherwise
	if cell.Mode&bold != 0 {
		look += ` font-weight="bold"`
	}
	return look
}
