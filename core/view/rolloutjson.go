package view

import (
	"sort"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// A jsonPane is JSON that is laid out: of the open row, or of a model call in it.
type jsonPane struct {
	what    string // what it is of: "" for the row, or a spot with its side
	outline *Outline
	at      int64 // place of its text in the row; −1 where it is not a part of it as written
	note    string
	finding string // text of search
	search  *jsonSearch
}

// paneOf lays out what a State looks at, once.
func (d *Desk) paneOf(s State, t *talk) *jsonPane {
	what := ""
	if s.Part == "calls" {
		what = s.At
	}
	p := d.opened.pane
	if p == nil || p.what != what {
		p = &jsonPane{what: what}
		value := d.opened.row.Value
		if what != "" {
			value = t.callValue(what)
		}
		p.layOut(value)
		d.opened.pane = p
	}
	if p.search == nil || p.finding != s.Find {
		p.search, p.finding = p.outline.Search(s.Find), s.Find
	}
	return p
}

// callValue is the JSON of a model call, or of its request or response.
func (t *talk) callValue(at string) jsonscan.Value {
	p, side, ok := spotOf(at)
	if !ok || p.kind != 'c' || p.n >= len(t.Calls) {
		return jsonscan.Value{}
	}
	c := t.Calls[p.n].At
	switch side {
	case "request":
		return c.Request
	case "response":
		return c.Response
	}
	return c.At
}

// layOut lays a value out: JSON as JSON, also where it stands in a text, and any other text by its lines.
func (p *jsonPane) layOut(v jsonscan.Value) {
	switch {
	case !v.Exists():
		p.outline, p.at, p.note = NewTextOutline(nil), -1, "nothing was saved"
	case v.IsString():
		text := v.AppendText(nil)
		p.at = -1
		if inner, err := new(jsonscan.Scanner).Scan(text); err == nil && (inner.IsObject() || inner.IsArray()) {
			p.outline, p.note = NewOutline(inner), "a text that holds JSON, laid out"
			return
		}
		p.outline, p.note = NewTextOutline(text), "a text"
	default:
		p.outline, p.at, p.note = NewOutline(v), int64(v.Offset()), "laid out; values as written"
	}
}

// json is a window into the JSON that a State looks at. With from −1 it begins near the place the State stands at, or
// where the window was.
func (d *Desk) json(i *item, s State, from, n int, windows map[string]int) *Raw {
	t := d.talk(i, s)
	p := d.paneOf(s, t)
	look := lookAt{search: p.search, hit: -1, line: -1}
	r := &Raw{Note: count(p.outline.Len(), "line", "lines") + ", " + p.note, Total: p.outline.Len(), Find: s.Find, Line: -1, Places: []Link{}}
	spotted, _, named := spotOf(s.At)
	if p.at >= 0 {
		for k := range t.findings {
			f := &t.findings[k]
			from := f.Place.Offset - d.opened.row.Lead - p.at
			if f.Place.Length <= 0 || from < 0 || from >= int64(len(p.outline.text)) {
				continue
			}
			look.marks = append(look.marks, Span{from, from + f.Place.Length})
			at := p.outline.LineAt(int(from))
			if named && spotted.kind == 'f' && spotted.n == k {
				look.line = at
			}
			if s.Part == "raw" && len(r.Places) < mostPlaces {
				r.Places = append(r.Places, Link{Text: f.Check + " line " + Group(at+1), Href: toJSON(s, k)})
			}
		}
	}
	place := -1 // in the text, of a byte that a State names
	if named && spotted.kind == 'b' && p.at >= 0 && s.Part == "raw" {
		if place = spotted.n - int(p.at); place >= 0 && place < len(p.outline.text) {
			look.line = p.outline.LineAt(place)
		}
	}
	if hits := p.search.at; s.Find != "" {
		r.Found = "not found"
		if len(hits) > 0 {
			look.hit = min(max(s.Hit, 1), len(hits)) - 1
			if s.Hit == 0 && place >= 0 {
				look.hit = min(sort.SearchInts(hits, place), len(hits)-1)
			}
			look.line = p.outline.LineAt(hits[look.hit])
			r.Found = Group(look.hit+1) + " of " + Group(len(hits))
			if p.search.more {
				r.Found += " or more"
			}
			to := func(hit int) string {
				return s.With(func(s *State) { s.Hit = (hit+len(hits))%len(hits) + 1 }).Href()
			}
			r.Prev, r.Next = to(look.hit-1), to(look.hit+1)
		}
	}
	r.Line = look.line
	if from < 0 {
		if from = windows["raw"]; look.line >= 0 && (look.line < from || look.line >= from+n) {
			from = look.line - n/2
		}
	}
	r.From = min(max(from, 0), max(r.Total-1, 0))
	r.Lines = p.outline.Window(r.From, n, look)
	r.Copy = "json"
	return r
}

// mostPlaces is how many places of findings are linked above the JSON.
const mostPlaces = 40

// jsonText is the JSON that a State looks at, as it is copied: as written.
func (d *Desk) jsonText(i *item, s State) string {
	return string(d.paneOf(s, d.talk(i, s)).outline.text)
}
