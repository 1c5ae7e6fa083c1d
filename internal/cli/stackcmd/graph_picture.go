// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"html/template"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/show/stackpicture"
)

// requirements returns the requirements of each component.
func requirements(edges []graphEdge) map[string][]string {
	requires := map[string][]string{}
	for _, edge := range edges {
		requires[edge.From] = append(requires[edge.From], edge.To)
	}
	return requires
}

func writeSVG(s *session.Session, g *componentGraph) error {
	s.Print("%s", stackpicture.Of(g.of, nil).SVG())
	return nil
}

var graphPage = template.Must(template.New("graph").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>
:root{color-scheme:light dark}
body{font:15px system-ui,sans-serif;margin:2em}
.picture{overflow:auto}
table{border-collapse:collapse;margin-top:2em}
th,td{text-align:left;vertical-align:top;padding:.3em 1.5em .3em 0;border-bottom:1px solid #8888}
td{font-family:ui-monospace,monospace;font-size:13px}
</style>
</head>
<body>
<div class="picture">
{{.Picture}}</div>
<table>
<tr><th>Component</th>{{if .Planned}}<th>Planned</th>{{end}}<th>Requires</th></tr>
{{- range .Rows}}
<tr><td>{{.Address}}</td>{{if $.Planned}}<td>{{.Planned}}</td>{{end}}<td>{{range $i, $name := .Requires}}{{if $i}}<br>{{end}}{{$name}}{{end}}</td></tr>
{{- end}}
</table>
</body>
</html>
`))

type graphPageRow struct {
	Address, Planned string
	Requires         []string
}

func writeHTML(s *session.Session, g *componentGraph) error {
	p, requires := stackpicture.Of(g.of, nil), requirements(g.Edges)
	page := struct {
		Title   string
		Picture template.HTML
		Planned bool
		Rows    []graphPageRow
	}{Title: p.Title, Picture: template.HTML(p.SVG())} //nolint:gosec // the picture escapes its texts
	for _, node := range g.Components {
		row := graphPageRow{node.Address, node.planned, requires[node.Address]}
		page.Planned = page.Planned || row.Planned != ""
		page.Rows = append(page.Rows, row)
	}
	var b strings.Builder
	if err := graphPage.Execute(&b, page); err != nil {
		return err
	}
	s.Print("%s", b.String())
	return nil
}
