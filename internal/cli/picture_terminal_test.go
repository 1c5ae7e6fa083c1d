// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package cli

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// The recording in the README shows screens of the program: a plan, the page, and an apply.
// UPDATE_GOLDEN=1 draws it anew.
func TestRecordingIsWhatIsShown(t *testing.T) {
	testenv.Engine(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/quickstart")); err != nil {
		t.Fatal(err)
	}
	show := func(args ...string) vt10x.Terminal {
		term := startOnTerminal(t, pty.Winsize{Rows: 100, Cols: 80}, nil, append([]string{"-chdir=" + dir}, args...)...)
		if code := term.end(); code != cmdline.ExitOK {
			t.Fatalf("exit code %d:\n%s", code, term.text())
		}
		return term.screen
	}
	const planCommand, applyCommand = "$ cairn plan -out=demo.plan -var 'pools={}'", "$ cairn apply demo.plan"
	plan, apply := show("plan", "-out=demo.plan", "-var", "pools={}"), show("apply", "demo.plan")
	page, err := os.ReadFile(filepath.FromSlash("../../docs/images/page-plan.png")) // which the tests of the page draw
	if err != nil {
		t.Fatal(err)
	}
	// The outputs are left out, which have ids that are others each time.
	applied := shownLines(apply)
	applied = applied[:slices.Index(applied, "Outputs:")-1]
	got := recordingSVG([]scene{
		{draw: screenTexts(plan, planCommand, shownLines(plan)), lines: len(shownLines(plan)) + 1, seconds: 9},
		{draw: pageScene(page), lines: 0, seconds: 5},
		{draw: screenTexts(apply, applyCommand, applied), lines: len(applied) + 1, seconds: 5},
	})
	got = madePlan.ReplaceAllString(got, "Plan 489b02b700e2 is saved")
	path := filepath.FromSlash("../../docs/images/recording.svg")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the program shows; UPDATE_GOLDEN=1 draws it", path)
	}
}

// madePlan names a plan by its ID, which is another one each time.
var madePlan = regexp.MustCompile(`Plan [0-9a-f]{12} is saved`)

// Sizes of pictures of a terminal.
const (
	letterWidth, lineHeight, pictureBorder = 8.43, 18, 20
	recordingHeight                        = 560
)

// scene is a part of a recording.
type scene struct {
	draw    string
	lines   int // of a terminal, which is scrolled if it has too many
	seconds int
}

// recordingSVG shows scenes one after the other, forever. It has no script: renderers that do not
// move anything, and people who want nothing to move, see the first scene.
func recordingSVG(scenes []scene) string {
	const width = 80*letterWidth + 2*pictureBorder
	total := 0
	for _, s := range scenes {
		total += s.seconds
	}
	var style, body strings.Builder
	begin := 0
	for i, s := range scenes {
		percent := func(seconds float64) float64 { return 100 * (float64(begin) + seconds) / float64(total) }
		first, last := percent(0), percent(float64(s.seconds))
		fmt.Fprintf(&style, "@keyframes show%d{0%%,%.2f%%{opacity:0}%.2f%%,%.2f%%{opacity:1}%.2f%%,100%%{opacity:0}}\n",
			i, max(first-0.01, 0), first, last-0.01, last)
		fmt.Fprintf(&style, ".scene%d{opacity:%d;animation:show%[1]d %[3]ds infinite}\n", i, max(1-i, 0), total)
		if beyond := s.lines*lineHeight + 2*pictureBorder - recordingHeight; beyond > 0 {
			fmt.Fprintf(&style, "@keyframes scroll%d{0%%,%.2f%%{transform:translateY(0)}%.2f%%,100%%{transform:translateY(-%dpx)}}\n",
				i, percent(2), percent(float64(s.seconds)-2), beyond)
			fmt.Fprintf(&style, ".scroll%d{animation:scroll%[1]d %ds linear infinite}\n", i, total)
		}
		fmt.Fprintf(&body, "<g class=\"scene%d\"><g class=\"scroll%[1]d\">\n%s</g></g>\n", i, s.draw)
		begin += s.seconds
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %[1]g %[2]d">`+"\n", math.Round(width), recordingHeight) +
		"<title>cairn plans three components, shows a plan on a page, and applies the three</title>\n<style>\n" + style.String() +
		"@media(prefers-reduced-motion:reduce){[class]{animation:none!important}}\n</style>\n" +
		fmt.Sprintf(`<clipPath id="frame"><rect width="%.0f" height="%d" rx="10"/></clipPath>`+"\n", width, recordingHeight) +
		fmt.Sprintf(`<g clip-path="url(#frame)"><rect width="%.0f" height="%d" fill="#111827"/>`+"\n", width, recordingHeight) +
		body.String() + "</g>\n</svg>\n"
}

// pageScene shows a picture of the page.
func pageScene(png []byte) string {
	const width = 80 * letterWidth
	var b strings.Builder
	writeText(&b, 0, 0, "$ cairn ui", lookOf(vt10x.Glyph{FG: vt10x.DefaultFG}))
	fmt.Fprintf(&b, `<image x="%d" y="%d" width="%.0f" height="%.0f" href="data:image/png;base64,%s"/>`+"\n",
		pictureBorder, pictureBorder+2*lineHeight, width, width*577/1180, base64.StdEncoding.EncodeToString(png))
	return b.String()
}

// shownLines returns the lines of a screen.
func shownLines(screen vt10x.Terminal) []string {
	lines := strings.Split(strings.TrimRight(screen.String(), " \n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// tookLong is the duration at the end of a line, which slow machines add.
var tookLong = regexp.MustCompile(` \((\d+m)?\d+s\)$`)

// screenTexts draws the first lines of a screen with plain texts, each at its own place: no style
// sheets, scripts, classes or preserved spaces, which renderers treat differently.
func screenTexts(screen vt10x.Terminal, command string, lines []string) string {
	var b strings.Builder
	writeText(&b, 0, 0, command, lookOf(vt10x.Glyph{FG: vt10x.DefaultFG}))
	for y, text := range lines {
		end := len([]rune(tookLong.ReplaceAllString(text, "")))
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
				writeText(&b, y+1, start, trimmed, lookOf(first))
			}
		}
	}
	return b.String()
}

func writeText(b *strings.Builder, row, column int, text, look string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14"%s>`,
		pictureBorder+letterWidth*float64(column), pictureBorder+14+row*lineHeight, look)
	_ = xml.EscapeText(b, []byte(text))
	b.WriteString("</text>\n")
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
