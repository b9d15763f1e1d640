package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"strconv"
	"strings"
)

//go:embed report.css
var style string

// Policy is the content security policy of an HTML document: its own style and nothing else, no script above all.
func Policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

func escape(s string) string { return html.EscapeString(visible(s)) }

// WriteHTML writes the document as one HTML file that runs nothing and loads nothing.
func (d *Document) WriteHTML(w io.Writer) error {
	p := &printer{w: w}
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="`, html.EscapeString(Policy()), "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
		"<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n",
		"<title>", escape(d.Title), "</title>\n<style>", style, "</style>\n</head>\n<body>\n<main>\n<h1>", escape(d.Title), "</h1>\n")
	for _, line := range d.Lines {
		p.put("<p class=\"of\">", escape(line), "</p>\n")
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		p.put("<section>\n<h2>", escape(s.Title), "</h2>\n")
		if s.Number != "" {
			p.put("<p class=\"number\"><b>", escape(s.Number), "</b> ", escape(s.Of), "</p>\n")
		}
		s.bar(p)
		if len(s.Lines) > 0 {
			p.put("<dl>\n")
			for _, l := range s.Lines {
				p.put("<div><dt>", escape(l.Text), "</dt><dd>", escape(l.Value))
				if l.Note != "" {
					p.put(" <span>", escape(l.Note), "</span>")
				}
				p.put("</dd></div>\n")
			}
			p.put("</dl>\n")
		}
		for _, t := range s.Tables {
			t.html(p)
		}
		for _, note := range s.Notes {
			p.put("<p class=\"note\">", escape(note), "</p>\n")
		}
		p.put("</section>\n")
	}
	p.put("</main>\n</body>\n</html>\n")
	return p.err
}

// bar draws how a whole is split. What it shows stands below it as text.
func (s *Section) bar(p *printer) {
	if len(s.Parts) == 0 {
		return
	}
	p.put("<svg class=\"bar\" width=\"100%\" height=\"12\" viewBox=\"0 0 1000 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">")
	at := 0.0
	for _, part := range s.Parts {
		wide := min(max(part.Part, 0), 1) * 1000
		if wide > 0 {
			p.put(`<rect class="`, class(string(part.Mark)), `" x="`, decimal(at), `" y="0" width="`, decimal(wide), `" height="12"/>`)
		}
		at += wide
	}
	p.put("</svg>\n<p>", escape(strings.Join(s.parts(), " · ")), "</p>\n")
}

// class is a name made of letters alone.
func class(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, s)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func (t *Table) html(p *printer) {
	if len(t.Rows) == 0 {
		if t.Empty != "" {
			p.put("<p class=\"note\">", escape(t.Empty), "</p>\n")
		}
		return
	}
	p.put("<div class=\"scroll\" tabindex=\"0\"><table>\n")
	if t.Title != "" {
		p.put("<caption>", escape(t.Title), "</caption>\n")
	}
	p.put("<thead><tr>")
	for _, c := range t.Columns {
		p.put("<th scope=\"col\"", c.classes(), ">", escape(c.Title), "</th>")
	}
	p.put("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		p.put("<tr>")
		for i, cell := range row {
			p.put("<td", t.Columns[i].classes(), ">", escape(cell), "</td>")
		}
		p.put("</tr>\n")
	}
	p.put("</tbody></table></div>\n")
	if more := t.more(); more != "" {
		p.put("<p class=\"note\">", more, "</p>\n")
	}
}

func (c *Column) classes() string {
	switch {
	case c.Right && c.Mono:
		return ` class="right mono"`
	case c.Right:
		return ` class="right"`
	case c.Mono:
		return ` class="mono"`
	}
	return ""
}
