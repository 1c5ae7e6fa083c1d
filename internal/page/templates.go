// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

import (
	"html/template"
	"strings"
)

// parseTemplates returns the templates of all pages, each with the layout.
func parseTemplates() (map[string]*template.Template, error) {
	layout, err := template.New("layout").Funcs(template.FuncMap{
		"inc":  func(n int) int { return n + 1 },
		"plus": func(first, shown int) int { return first + shown - 1 }, // the number of the last one
	}).ParseFS(assets, "assets/layout.html")
	if err != nil {
		return nil, err
	}
	entries, err := assets.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	templates := map[string]*template.Template{}
	for _, entry := range entries {
		name, isTemplate := strings.CutSuffix(entry.Name(), ".html")
		if !isTemplate || name == "layout" {
			continue
		}
		own, err := layout.Clone()
		if err == nil {
			templates[name], err = own.ParseFS(assets, "assets/"+entry.Name())
		}
		if err != nil {
			return nil, err
		}
	}
	return templates, nil
}
