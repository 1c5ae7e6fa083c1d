// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/fleet"
)

// newLargeStack makes a stack of so many components with an object each.
func newLargeStack(t testing.TB, components int) *fleet.Unit {
	t.Helper()
	records := map[string][]byte{}
	var config strings.Builder
	for i := range components {
		name := fmt.Sprintf("c%05d", i)
		records["CMPTcomponent."+name] = []byte{}
		records["RSRCcomponent."+name+",terraform_data.x,cur"] = object("x", fmt.Sprintf(`{"id":"%d","input":null,"output":null,"triggers_replace":null}`, i))
		fmt.Fprintf(&config, "component %q {\n  source = \"./module\"\n}\n", name)
	}
	unit := newStack(t, "large", records)
	files := map[string]string{"main.tfcomponent.hcl": config.String(), "module/main.tf": "resource \"terraform_data\" \"x\" {}\n"}
	for name, text := range files {
		name = filepath.Join(unit.Dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return unit
}

// Pages of a large stack have a part of it, and links to the others.
func TestLargeStack(t *testing.T) {
	s := newSite(t, nil, newLargeStack(t, 1000)).enter()
	for path, want := range map[string]string{
		"/": ">1000<", "/stack": "1000 found, 1 to 100 shown", "/objects": "2000 found, 1 to 100 shown", "/progress": "And 800 more components.",
	} {
		body := s.get(path + "?unit=large").Body.String()
		if !strings.Contains(body, want) || len(body) > 60_000 {
			t.Errorf("%s has %d bytes, and %q among them: %t", path, len(body), want, strings.Contains(body, want))
		}
	}
	if body := s.get("/stack?unit=large&page=10").Body.String(); !strings.Contains(body, "c00999") || strings.Contains(body, "Next") {
		t.Errorf("the last page of components is\n%s", body)
	}
	if body := s.get("/objects?unit=large&q=C00512").Body.String(); strings.Count(body, "c00512") != 4 || !strings.Contains(body, "2 found") {
		t.Errorf("the search for one component finds\n%s", body)
	}
	if got := s.get("/graph.svg?unit=large"); got.Code != http.StatusNotFound {
		t.Errorf("there is a picture of 1000 components: %d", got.Code)
	}
}

// What the first view of each page of a stack of 10 000 components costs, after the memory that all
// of them have needed.
func BenchmarkPages(b *testing.B) {
	unit := newLargeStack(b, 10_000)
	for _, path := range []string{"/", "/stack", "/objects", "/history", "/progress", "/blame"} {
		b.Run(strings.Trim(path, "/")+"_", func(b *testing.B) {
			for b.Loop() {
				s := newSite(b, nil, unit).enter()
				if got := s.get(path + "?unit=large&address=component.c00001.terraform_data.x"); got.Code != http.StatusOK {
					b.Fatal(path, got.Code, got.Body)
				}
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.Sys)/(1<<20), "MB-of-process")
		})
	}
}
